// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import io.verbena.tools.cli.Json;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** What a run took; printed as the original prints it. */
record PingpongResult(PingpongOptions options, long nanos) {
    private double seconds() {
        return nanos / 1e9;
    }

    private long bytes() {
        return 2L * options.size() * options.iterations();
    }

    private double megabitsPerSecond() {
        return bytes() * 8.0 / (nanos / 1e3);
    }

    private double microsPerIteration() {
        return nanos / 1e3 / options.iterations();
    }

    void print(PrintWriter out) {
        out.println(String.format(
                Locale.ROOT, "%d bytes in %.2f seconds = %.2f Mbit/sec", bytes(), seconds(), megabitsPerSecond()));
        out.println(String.format(
                Locale.ROOT,
                "%d iters in %.2f seconds = %.2f usec/iter",
                options.iterations(),
                seconds(),
                microsPerIteration()));
        out.flush();
    }

    Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("type", options.type().name());
        json.put("role", options.client() ? "client" : "server");
        json.put("size", options.size());
        if (options.type() != PingpongType.UD) {
            json.put("mtu", options.mtu().bytes());
        }
        if (options.type() == PingpongType.SRQ) {
            json.put("queue_pairs", options.queuePairs());
        }
        json.put("iterations", options.iterations());
        json.put("bytes", bytes());
        json.put("seconds", Json.rounded(seconds(), 6));
        json.put("mbit_per_sec", Json.rounded(megabitsPerSecond(), 2));
        json.put("usec_per_iteration", Json.rounded(microsPerIteration(), 3));
        json.put("checked", options.check());
        return json;
    }
}
