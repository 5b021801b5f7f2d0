// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/**
 * The result of a bandwidth run.
 *
 * @param iterations messages of all queue pairs that arrived, or were sent where this side cannot know
 * @param peak MB/s (2^20 bytes) of the fastest stretch, 0 when it was not measured
 * @param average MB/s
 * @param messageRate million messages per second
 * @param lost messages that this side waited for in vain
 */
record BandwidthReport(long size, long iterations, double peak, double average, double messageRate, long lost) {
    static final double MEGABYTE = 1 << 20;

    static final BandwidthReport NONE = new BandwidthReport(0, 0, 0, 0, 0, 0);

    static BandwidthReport of(long size, long iterations, long nanos, double peak) {
        double seconds = Math.max(nanos, 1) / 1e9;
        return new BandwidthReport(
                size, iterations, peak, size * iterations / seconds / MEGABYTE, iterations / seconds / 1e6, 0);
    }

    /** Of a run both ways: what the two sides moved together. */
    BandwidthReport plus(BandwidthReport other) {
        return new BandwidthReport(
                size, iterations, peak + other.peak, average + other.average, messageRate + other.messageRate, lost);
    }

    BandwidthReport withLost(long messages) {
        return new BandwidthReport(size, iterations, peak, average, messageRate, messages);
    }
}
