// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import java.util.regex.Pattern;

/** Text that may come from a peer, made fit for a line of a terminal. */
final class OneLine {
    private static final Pattern LINE_BREAK = Pattern.compile("\\s*\\R\\s*");
    private static final Pattern CONTROL = Pattern.compile("\\p{Cc}");

    private OneLine() {}

    /** Line breaks become spaces, and other control characters, of which terminals take orders, question marks. */
    static String of(String text) {
        return CONTROL.matcher(LINE_BREAK.matcher(text.strip()).replaceAll(" ")).replaceAll("?");
    }
}
