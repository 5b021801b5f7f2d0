// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: {@code 500ns}, {@code 20us}, {@code 1.5ms}, {@code 2s}. */
public final class Durations {
    private static final Pattern FORM = Pattern.compile("(\\d+(?:\\.\\d+)?)(ns|us|ms|s)");

    private static final double LONGEST_NS = 86_400e9;

    private Durations() {}

    /**
     * The nanoseconds of a text.
     *
     * @throws IllegalArgumentException with a message that shows the form
     */
    public static long parse(String text) {
        Matcher matcher = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException("\"" + text + "\" is not a duration like 500ns, 20us, 1.5ms or 2s");
        }
        double scale = switch (matcher.group(2)) {
            case "ns" -> 1;
            case "us" -> 1e3;
            case "ms" -> 1e6;
            default -> 1e9;
        };
        double ns = Double.parseDouble(matcher.group(1)) * scale;
        if (ns > LONGEST_NS) {
            throw new IllegalArgumentException("\"" + text + "\" is longer than a day");
        }
        return Math.round(ns);
    }

    /** The shortest text that is exact. */
    public static String format(long ns) {
        if (ns % 1_000_000_000 == 0 && ns != 0) {
            return ns / 1_000_000_000 + "s";
        }
        if (ns % 1_000_000 == 0 && ns != 0) {
            return ns / 1_000_000 + "ms";
        }
        return ns % 1_000 == 0 && ns != 0 ? ns / 1_000 + "us" : ns + "ns";
    }
}
