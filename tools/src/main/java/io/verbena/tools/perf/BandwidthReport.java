// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/**
 * The result of a bandwidth run.
 *
 * @param iterations messages of all queue pairs
 * @param peak MB/s (2^20 bytes) of the fastest stretch, 0 when it was not measured
 * @param average MB/s
 * @param messageRate million messages per second
 */
record BandwidthReport(long size, long iterations, double peak, double average, double messageRate) {
    static final double MEGABYTE = 1 << 20;

    static BandwidthReport of(long size, long iterations, long nanos, double peak) {
        double seconds = Math.max(nanos, 1) / 1e9;
        return new BandwidthReport(
                size, iterations, peak, size * iterations / seconds / MEGABYTE, iterations / seconds / 1e6);
    }

    /** Of a run both ways: what the two sides moved together. */
    BandwidthReport plus(BandwidthReport other) {
        return new BandwidthReport(
                size, iterations, peak + other.peak, average + other.average, messageRate + other.messageRate);
    }
}
