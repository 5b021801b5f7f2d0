// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.simulate;

import io.verbena.sim.FabricCounters;
import io.verbena.sim.workload.Verdict;
import io.verbena.sim.workload.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Simulates seed after seed. The progress may be read by another thread. */
final class SimulateRun {
    /** Simulates one seed. */
    interface Simulator {
        Verdict simulate(Workload workload, long seed);
    }

    /** A run that a checker objected to. */
    record Failure(Workload workload, Verdict verdict) {}

    private final SimulateOptions options;
    private final Simulator simulator;
    private final List<Tally> tallies = new ArrayList<>();
    private final List<Failure> failures = new ArrayList<>();
    private final long total;
    private volatile String progress;
    private volatile boolean ending;

    SimulateRun(SimulateOptions options, Simulator simulator) {
        this.options = options;
        this.simulator = simulator;
        total = (long) options.seeds() * options.workloads().size();
        progress = "0 of " + total + " runs";
    }

    /** Any thread: lets the run end after the present seed. */
    void end() {
        ending = true;
    }

    /** Whether it ended before all seeds had their turn. */
    boolean endedEarly() {
        return ending && tallies.stream().mapToLong(Tally::runs).sum() < total;
    }

    void run() {
        long done = 0;
        long packets = 0;
        long start = System.nanoTime();
        for (Workload workload : options.workloads()) {
            Tally tally = new Tally(workload);
            tallies.add(tally);
            for (int i = 0; i < options.seeds() && !ending; i++) {
                long before = System.nanoTime();
                Verdict verdict = simulator.simulate(workload, options.firstSeed() + i);
                long now = System.nanoTime();
                tally.add(verdict, now - before);
                if (!verdict.passed()) {
                    failures.add(new Failure(workload, verdict));
                }
                packets += verdict.counters().get(FabricCounters.Kind.SENT);
                progress = String.format(
                        Locale.ROOT,
                        "%d of %d runs, %,d packets, %,.0f packets/s, %d failed",
                        ++done,
                        total,
                        packets,
                        packets * 1e9 / Math.max(1, now - start),
                        failures.size());
            }
        }
    }

    /** How far it is, in a line. */
    String progress() {
        return progress;
    }

    List<Tally> tallies() {
        return tallies;
    }

    List<Failure> failures() {
        return failures;
    }
}
