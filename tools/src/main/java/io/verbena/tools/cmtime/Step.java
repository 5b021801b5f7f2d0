// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cmtime;

import java.util.Locale;

/** What is done to each connection id, in this order; each step to all of them before the next one starts. */
enum Step {
    CREATE_ID,
    /** Only when the user named a source address. */
    BIND_ADDR,
    RESOLVE_ADDR,
    RESOLVE_ROUTE,
    CREATE_QP,
    CONNECT,
    DISCONNECT,
    DESTROY;

    /** As the real program prints it. */
    String title() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
