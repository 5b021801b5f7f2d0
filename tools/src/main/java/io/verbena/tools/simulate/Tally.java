// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.simulate;

import io.verbena.sim.FabricCounters;
import io.verbena.sim.workload.Verdict;
import io.verbena.sim.workload.Workload;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** What all runs of one workload came to. */
final class Tally {
    private final Workload workload;
    private final Map<FabricCounters.Kind, Long> frames = new EnumMap<>(FabricCounters.Kind.class);
    private long runs;
    private long failed;
    private long broken;
    private long virtualNs;
    private long realNs;

    Tally(Workload workload) {
        this.workload = workload;
        for (FabricCounters.Kind kind : FabricCounters.Kind.values()) {
            frames.put(kind, 0L);
        }
    }

    void add(Verdict verdict, long tookNs) {
        runs++;
        failed += verdict.passed() ? 0 : 1;
        broken += verdict.broken();
        virtualNs += verdict.virtualNs();
        realNs += tookNs;
        frames.replaceAll((kind, sum) -> sum + verdict.counters().get(kind));
    }

    String name() {
        return workload.name().toLowerCase(Locale.ROOT);
    }

    long runs() {
        return runs;
    }

    long failed() {
        return failed;
    }

    /** Queue pairs that ended in the error state, as they may. */
    long broken() {
        return broken;
    }

    double virtualSeconds() {
        return virtualNs / 1e9;
    }

    long frames(FabricCounters.Kind kind) {
        return frames.getOrDefault(kind, 0L);
    }

    /** Per second of real time. */
    double packetsPerSecond() {
        return realNs == 0 ? 0 : frames(FabricCounters.Kind.SENT) * 1e9 / realNs;
    }
}
