// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.demo;

import io.verbena.tools.cli.ByteSize;
import io.verbena.tools.cli.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What a number of equal operations took.
 *
 * @param size bytes of one
 * @param nanos from the first post to the last completion
 * @param latency of each in nanoseconds, from its post to its completion
 */
record Measurement(String operation, long size, long count, long nanos, Histogram latency) {
    private static final List<String> HEADINGS = List.of("operation", "size", "count", "bandwidth", "median", "p99");

    private double megabytesPerSecond() {
        return size * count / (nanos / 1e9) / (1 << 20);
    }

    private String bandwidth() {
        double value = megabytesPerSecond();
        return value < 1
                ? String.format(Locale.ROOT, "%.1f KiB/s", value * 1024)
                : String.format(Locale.ROOT, "%.1f MiB/s", value);
    }

    private double micros(double percentile) {
        return latency.getValueAtPercentile(percentile) / 1e3;
    }

    Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("operation", operation);
        json.put("size", size);
        json.put("count", count);
        json.put("mb_per_sec", Json.rounded(megabytesPerSecond(), 3));
        json.put("median_usec", Json.rounded(micros(50), 3));
        json.put("p99_usec", Json.rounded(micros(99), 3));
        return json;
    }

    private List<String> row() {
        return List.of(
                operation,
                ByteSize.format(size),
                Long.toString(count),
                bandwidth(),
                String.format(Locale.ROOT, "%.1f us", micros(50)),
                String.format(Locale.ROOT, "%.1f us", micros(99)));
    }

    static String table(List<Measurement> measurements) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(HEADINGS);
        measurements.forEach(measurement -> rows.add(measurement.row()));
        int[] widths = new int[HEADINGS.size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            text.append("  ")
                    .append(row.getFirst())
                    .append(" ".repeat(widths[0] - row.getFirst().length()));
            for (int i = 1; i < widths.length; i++) {
                // Numbers stand under each other by their last digit.
                text.append("  ")
                        .append(" ".repeat(widths[i] - row.get(i).length()))
                        .append(row.get(i));
            }
            text.append(System.lineSeparator());
        }
        return text.toString();
    }
}
