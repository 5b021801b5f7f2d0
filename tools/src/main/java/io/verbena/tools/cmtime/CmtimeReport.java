// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cmtime;

import io.verbena.tools.cli.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a client measured.
 *
 * @param failures how many connections failed, by why
 */
record CmtimeReport(int connections, StepTimes times, Map<String, Integer> failures) {
    private static final double[] PERCENTILES = {50, 90, 99};

    private int failed() {
        return failures.values().stream().mapToInt(Integer::intValue).sum();
    }

    boolean isComplete() {
        return failures.isEmpty();
    }

    /** The first columns are the real program's. */
    String text() {
        StringBuilder text = new StringBuilder(
                "step              total ms     max ms     min us  us / conn     p50 us     p90 us     p99 us\n");
        for (Step step : Step.values()) {
            if (times.has(step)) {
                StepTimes.Times t = times.of(step);
                text.append(format(
                        "%-13s: %11.2f%11.2f%11.2f%11.2f",
                        step.title(), t.totalMillis(), t.maxMicros() / 1e3, t.minMicros(), t.microsPerConnection()));
                for (double percentile : PERCENTILES) {
                    text.append(format("%11.2f", t.percentileMicros(percentile)));
                }
                text.append('\n');
            }
        }
        text.append(format(
                "%d of %d connected, %.0f connects per second",
                connections - failed(), connections, times.connectsPerSecond()));
        failures.forEach((why, count) ->
                text.append('\n').append(count).append(" failed: ").append(why));
        return text.toString();
    }

    Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("connections", connections);
        json.put("failed", failed());
        json.put("failures", failures);
        json.put("connects_per_second", Json.rounded(times.connectsPerSecond(), 1));
        List<Map<String, Object>> steps = new ArrayList<>();
        for (Step step : Step.values()) {
            if (times.has(step)) {
                steps.add(json(step, times.of(step)));
            }
        }
        json.put("steps", steps);
        return json;
    }

    private static Map<String, Object> json(Step step, StepTimes.Times t) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("step", step.title());
        json.put("count", t.nanos().getTotalCount());
        json.put("total_ms", Json.rounded(t.totalMillis(), 3));
        json.put("us_per_connection", Json.rounded(t.microsPerConnection(), 3));
        json.put("min_us", Json.rounded(t.minMicros(), 3));
        for (double percentile : PERCENTILES) {
            json.put("p" + (int) percentile + "_us", Json.rounded(t.percentileMicros(percentile), 3));
        }
        json.put("max_us", Json.rounded(t.maxMicros(), 3));
        return json;
    }

    @SuppressWarnings("AnnotateFormatMethod") // Its annotation would be a dependency.
    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
