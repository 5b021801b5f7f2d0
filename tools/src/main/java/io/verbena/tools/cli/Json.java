// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import java.io.PrintWriter;
import tools.jackson.jr.ob.JSON;

/** Prints maps, lists, numbers and strings as JSON. */
public final class Json {
    private static final JSON PRETTY = JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT);

    private Json() {}

    public static void print(PrintWriter out, Object value) {
        out.println(PRETTY.asString(value));
        out.flush();
    }

    /** Rounds so that a reader sees a number and not the noise of its last bits. */
    public static double rounded(double value, int decimals) {
        double scale = Math.pow(10, decimals);
        return Double.isFinite(value) ? Math.rint(value * scale) / scale : 0;
    }
}
