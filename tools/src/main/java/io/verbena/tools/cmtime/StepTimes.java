// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cmtime;

import java.util.EnumMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** How long each step took: for all connections together, and for each of them. */
final class StepTimes {
    private static final int DIGITS = 3;

    private final Map<Step, Times> steps = new EnumMap<>(Step.class);

    /** @param totalNanos from the start of the first to the end of the last, 0 while the step is under way */
    record Times(long totalNanos, Histogram nanos) {
        double totalMillis() {
            return totalNanos / 1e6;
        }

        double microsPerConnection() {
            long count = nanos.getTotalCount();
            return count == 0 ? 0 : totalNanos / 1e3 / count;
        }

        double minMicros() {
            return nanos.getTotalCount() == 0 ? 0 : nanos.getMinValue() / 1e3;
        }

        double percentileMicros(double percentile) {
            return nanos.getValueAtPercentile(percentile) / 1e3;
        }

        double maxMicros() {
            return nanos.getMaxValue() / 1e3;
        }
    }

    void record(Step step, long nanos) {
        of(step).nanos().recordValue(Math.max(0, nanos));
    }

    void total(Step step, long nanos) {
        steps.put(step, new Times(nanos, of(step).nanos()));
    }

    Times of(Step step) {
        return steps.computeIfAbsent(step, any -> new Times(0, new Histogram(DIGITS)));
    }

    /** Whether the step was taken at all. */
    boolean has(Step step) {
        return steps.containsKey(step);
    }

    /** Connections that were made in a second of the time in which they were made. */
    double connectsPerSecond() {
        Times connect = of(Step.CONNECT);
        return connect.totalNanos() == 0 ? 0 : connect.nanos().getTotalCount() * 1e9 / connect.totalNanos();
    }
}
