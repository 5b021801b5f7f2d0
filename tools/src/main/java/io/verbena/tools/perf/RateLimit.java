// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/**
 * How fast a bandwidth test may send.
 *
 * @param rate in {@code unit}; 0 for as fast as possible
 */
record RateLimit(double rate, Unit unit) {
    private static final double NANOS_PER_SECOND = 1e9;

    /** Units by perftest's letters. */
    enum Unit {
        /** Mebibytes a second. */
        M,
        /** Gigabits a second. */
        G,
        /** Messages a second. */
        P
    }

    /** From one message of a size to the next; 0 without a limit. */
    long gapNanos(int size) {
        if (rate == 0) {
            return 0;
        }
        double messagesPerSecond = switch (unit) {
            case M -> rate * BandwidthReport.MEGABYTE / size;
            case G -> rate * 1e9 / 8 / size;
            case P -> rate;
        };
        return (long) (NANOS_PER_SECOND / messagesPerSecond);
    }
}
