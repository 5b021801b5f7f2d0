// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import org.HdrHistogram.Histogram;

/**
 * The result of a latency run.
 *
 * @param nanos time of one message in nanoseconds: half of a round trip where the message is answered by another one
 * @param messagesPerSecond of a run over a time, 0 otherwise
 */
record LatencyReport(long size, long iterations, Histogram nanos, double messagesPerSecond) {
    private static final double NANOS_PER_MICRO = 1e3;

    double minMicros() {
        return nanos.getTotalCount() == 0 ? 0 : nanos.getMinValue() / NANOS_PER_MICRO;
    }

    double maxMicros() {
        return nanos.getMaxValue() / NANOS_PER_MICRO;
    }

    double meanMicros() {
        return nanos.getTotalCount() == 0 ? 0 : nanos.getMean() / NANOS_PER_MICRO;
    }

    double deviationMicros() {
        return nanos.getTotalCount() == 0 ? 0 : nanos.getStdDeviation() / NANOS_PER_MICRO;
    }

    double percentileMicros(double percentile) {
        return nanos.getValueAtPercentile(percentile) / NANOS_PER_MICRO;
    }
}
