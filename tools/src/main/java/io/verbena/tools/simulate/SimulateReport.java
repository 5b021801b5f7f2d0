// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.simulate;

import io.verbena.sim.FabricCounters;
import io.verbena.tools.cli.Json;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The summary of all runs. */
final class SimulateReport {
    private SimulateReport() {}

    static void print(PrintWriter out, List<Tally> tallies) {
        out.println(String.format(
                Locale.ROOT,
                "%-8s %7s %7s %13s %11s %11s %11s %11s %9s %11s %11s",
                "workload",
                "runs",
                "failed",
                "packets",
                "lost",
                "duplicated",
                "reordered",
                "damaged",
                "QP errors",
                "virtual s",
                "packets/s"));
        for (Tally tally : tallies) {
            out.println(String.format(
                    Locale.ROOT,
                    "%-8s %7d %7d %13d %11d %11d %11d %11d %9d %11.1f %11.0f",
                    tally.name(),
                    tally.runs(),
                    tally.failed(),
                    tally.frames(FabricCounters.Kind.SENT),
                    lost(tally),
                    tally.frames(FabricCounters.Kind.DUPLICATED),
                    tally.frames(FabricCounters.Kind.REORDERED),
                    tally.frames(FabricCounters.Kind.CORRUPTED) + tally.frames(FabricCounters.Kind.TRUNCATED),
                    tally.broken(),
                    tally.virtualSeconds(),
                    tally.packetsPerSecond()));
        }
        out.flush();
    }

    private static long lost(Tally tally) {
        return tally.frames(FabricCounters.Kind.LOST)
                + tally.frames(FabricCounters.Kind.PARTITIONED)
                + tally.frames(FabricCounters.Kind.LINK_DOWN)
                + tally.frames(FabricCounters.Kind.BLACK_HOLED)
                + tally.frames(FabricCounters.Kind.OVERFLOWED);
    }

    static Map<String, Object> json(Tally tally) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("workload", tally.name());
        json.put("runs", tally.runs());
        json.put("failed", tally.failed());
        Map<String, Object> frames = new LinkedHashMap<>();
        for (FabricCounters.Kind kind : FabricCounters.Kind.values()) {
            frames.put(kind.key(), tally.frames(kind));
        }
        json.put("frames", frames);
        json.put("queue_pair_errors", tally.broken());
        json.put("virtual_seconds", Json.rounded(tally.virtualSeconds(), 3));
        json.put("packets_per_second", Json.rounded(tally.packetsPerSecond(), 0));
        return json;
    }
}
