// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import java.io.IOException;

/** Another socket of this host holds the UDP port; the message says whose it is, where known, and what can be done. */
public final class PortInUseException extends IOException {
    private static final long serialVersionUID = 1L;

    public PortInUseException(String message, Throwable cause) {
        super(message, cause);
    }
}
