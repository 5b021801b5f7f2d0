// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import io.verbena.sim.FabricCounters;
import io.verbena.sim.FaultPlan;
import io.verbena.sim.Interceptor;
import io.verbena.sim.World;
import io.verbena.transport.queue.SeededRandom;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One run of a workload between two hosts, {@code a} and {@code b}, under faults. Checkers look after every step: each
 * request completes once, in order and as what it was; memory is as a model says; the bytes around it are untouched.
 * After {@link #FAULTS_MAX} the faults end, and all work must complete, or its queue pair be in the error state, within
 * {@link #HEALING_MAX}. Not thread-safe.
 */
public final class Simulation {
    /** Virtual time after which the faults end. */
    public static final Duration FAULTS_MAX = Duration.ofSeconds(2);
    /**
     * Virtual time after which all is done once the faults have ended: more than all retries can take. Where all wait,
     * time jumps to the next deadline, and a connection manager remembers a refused request for 8 seconds.
     */
    public static final Duration HEALING_MAX = Duration.ofMinutes(2);

    private static final Duration REST = Duration.ofMillis(20);
    private static final long STEPS_WITHOUT_PROGRESS_MAX = 1_000_000;
    private static final int SOURCE_BYTES = 64 << 10;

    private final long seed;
    private final Workload workload;
    private final FaultPlan faults;
    private final int operations;
    private @Nullable Interceptor interceptor;
    private @Nullable OutputStream capture;

    /**
     * A run that can be repeated.
     *
     * @param operations requests on each queue pair
     */
    public Simulation(long seed, Workload workload, FaultPlan faults, int operations) {
        this.seed = seed;
        this.workload = workload;
        this.faults = faults;
        this.operations = operations;
    }

    /** Lets someone look at all frames, and change their fate. */
    public Simulation intercept(Interceptor looking) {
        interceptor = looking;
        return this;
    }

    /** Writes all frames as pcapng; the run closes the stream. */
    public Simulation capture(OutputStream out) {
        capture = out;
        return this;
    }

    /** Runs to the end or to the first thing that must not be. */
    public Verdict run() {
        World.Builder builder = World.builder().seed(seed).faults(faults);
        if (capture != null) {
            builder.capture(capture);
        }
        try (World world = builder.build()) {
            world.intercept(interceptor);
            world.pollingPassesTime(false);
            Run run = new Run(world);
            String failure = null;
            try {
                run.run();
                run.close();
            } catch (RuntimeException e) {
                failure = "at " + world.now() + " ns: " + (e instanceof Violation ? e.getMessage() : e);
                run.abandon();
            }
            return new Verdict(
                    seed,
                    failure,
                    world.counters().get(FabricCounters.Kind.SENT),
                    run.arrived(),
                    world.now(),
                    run.broken(),
                    world.digest(),
                    world.counters());
        }
    }

    private final class Run {
        private final World world;
        private final SeededRandom random = new SeededRandom(~seed);
        private final Station a;
        private final Station b;
        private final List<Flow> flows = new ArrayList<>();

        Run(World world) {
            this.world = world;
            a = new Station(world, "10.0.0.1", SOURCE_BYTES, random);
            b = new Station(world, "10.0.0.2", SOURCE_BYTES, random);
            for (int i = 0; i < workload.queuePairs(); i++) {
                boolean forth = i % 2 == 0;
                flows.add(flow(i, forth ? a : b, forth ? b : a));
            }
        }

        private Flow flow(int number, Station from, Station to) {
            SeededRandom own = new SeededRandom(random.nextLong());
            return switch (workload) {
                case RC, SMALL -> new RcFlow(number, workload, own, from, to, operations);
                case UC, UD -> new LossyFlow(number, workload, own, from, to, operations);
                case CM -> new ConnectionFlow(number, own, from, to, operations);
            };
        }

        void run() {
            drive(FAULTS_MAX.toNanos());
            world.heal();
            long bound = world.now() + HEALING_MAX.toNanos();
            drive(bound);
            for (Flow flow : flows) {
                if (!flow.finished()) {
                    throw new Violation("not done " + HEALING_MAX + " after the faults ended: " + flow.describe());
                }
            }
            rest();
            for (Flow flow : flows) {
                flow.stop();
            }
            rest();
            for (Flow flow : flows) {
                flow.check();
            }
        }

        /** Lets the world go on until all is done, or the time is over. */
        private void drive(long end) {
            long idle = 0;
            while (world.now() < end && !finished()) {
                boolean posted = false;
                for (int i = 0; i < flows.size(); i++) {
                    posted |= flows.get(i).post();
                }
                boolean stepped = world.step();
                int completed = a.drain(flows) + b.drain(flows);
                idle = completed > 0 ? 0 : idle + 1;
                if (idle > STEPS_WITHOUT_PROGRESS_MAX || (!stepped && !posted && completed == 0 && idle > 1000)) {
                    throw new Violation((stepped ? "it goes on without an end: " : "nothing happens any more: ")
                            + String.join(
                                    "; ", flows.stream().map(Flow::describe).toList()));
                }
            }
        }

        private boolean finished() {
            for (int i = 0; i < flows.size(); i++) {
                if (!flows.get(i).finished()) {
                    return false;
                }
            }
            return true;
        }

        /** Late frames arrive. */
        private void rest() {
            world.run(REST);
            while (a.drain(flows) + b.drain(flows) > 0) {
                world.run(REST);
            }
        }

        long arrived() {
            return flows.stream().mapToLong(Flow::arrived).sum();
        }

        int broken() {
            return (int) flows.stream().filter(Flow::broken).count();
        }

        void close() {
            flows.forEach(Flow::close);
            a.close();
            b.close();
        }

        /** After a failure objects may not let themselves be closed; their memory can go. */
        void abandon() {
            a.abandon();
            b.abandon();
        }
    }
}
