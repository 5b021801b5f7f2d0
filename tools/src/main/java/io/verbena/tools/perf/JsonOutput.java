// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.Json;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One JSON object, printed at the end. */
final class JsonOutput implements PerfOutput {
    private static final double[] PERCENTILES = {50, 90, 95, 99, 99.9, 99.99};

    private final PrintWriter out;
    private boolean loses;
    private final Map<String, Object> json = new LinkedHashMap<>();
    private final List<Map<String, Object>> results = new ArrayList<>();

    JsonOutput(PrintWriter out) {
        this.out = out;
    }

    @Override
    public void begin(PerfContext context, String device, String peer) {
        PerfParameters p = context.parameters();
        loses = p.connection().loses();
        json.put("test", p.test().commandName());
        json.put("connection", p.connection().name());
        json.put("role", p.client() ? "client" : "server");
        json.put("device", device);
        json.put("peer", peer);
        json.put("gid", context.gid().gid().toString());
        json.put("mtu", context.mtu().bytes());
        json.put("queue_pairs", p.queuePairs());
        json.put("tx_depth", p.sendDepth());
        json.put("rx_depth", p.receiveDepth());
        json.put("cq_moderation", p.completionModeration());
        json.put("outstanding_reads", context.outstandingReads());
        json.put("inline_bytes", p.inlineBytes());
        json.put("bidirectional", p.bidirectional());
        json.put("events", p.events());
        json.put("rdma_cm", p.managed());
        if (p.isDuration()) {
            json.put("duration_seconds", p.durationSeconds());
        }
        if (p.verb() == PerfTest.Verb.ATOMIC) {
            json.put("atomic_type", p.compareAndSwap() ? "CMP_AND_SWAP" : "FETCH_AND_ADD");
        }
    }

    @Override
    public void endpoint(boolean local, PerfDestination endpoint) {
        // Numbers of queue pairs mean nothing after the run.
    }

    @Override
    public void header() {
        // Each result names its fields.
    }

    @Override
    public void bandwidth(BandwidthReport report) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("size", report.size());
        result.put("iterations", report.iterations());
        result.put("bw_peak_mb_per_sec", Json.rounded(report.peak(), 2));
        result.put("bw_average_mb_per_sec", Json.rounded(report.average(), 2));
        result.put("message_rate_mpps", Json.rounded(report.messageRate(), 6));
        if (loses) {
            result.put("lost", report.lost());
        }
        results.add(result);
    }

    @Override
    public void latency(LatencyReport report) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("size", report.size());
        result.put("iterations", report.iterations());
        result.put("t_min_usec", Json.rounded(report.minMicros(), 3));
        result.put("t_max_usec", Json.rounded(report.maxMicros(), 3));
        result.put("t_typical_usec", Json.rounded(report.percentileMicros(50), 3));
        result.put("t_avg_usec", Json.rounded(report.meanMicros(), 3));
        result.put("t_stdev_usec", Json.rounded(report.deviationMicros(), 3));
        Map<String, Object> percentiles = new LinkedHashMap<>();
        for (double percentile : PERCENTILES) {
            percentiles.put(
                    Double.toString(percentile).replaceAll("\\.0$", ""),
                    Json.rounded(report.percentileMicros(percentile), 3));
        }
        result.put("percentiles_usec", percentiles);
        if (report.messagesPerSecond() > 0) {
            result.put("messages_per_sec", Json.rounded(report.messagesPerSecond(), 1));
        }
        results.add(result);
    }

    @Override
    public void end() {
        json.put("results", results);
        Json.print(out, json);
    }
}
