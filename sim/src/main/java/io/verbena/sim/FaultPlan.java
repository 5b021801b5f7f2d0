// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import io.verbena.transport.queue.SeededRandom;
import java.util.ArrayList;
import java.util.List;

/**
 * What the fabric does to frames: probabilities for each frame, faults that last for a while, and scripted ones.
 *
 * @param loss the frame is lost
 * @param duplicate a copy arrives too, within the reorder window or 20 microseconds
 * @param reorder the frame arrives late by up to the window, behind others
 * @param corrupt one to three bits flip
 * @param truncate the end of the frame is cut off
 */
public record FaultPlan(
        double loss,
        double duplicate,
        double reorder,
        long reorderWindowNs,
        double corrupt,
        double truncate,
        Delay delay,
        List<FaultWindow> windows,
        List<ScriptedFault> script) {

    public static final long DEFAULT_REORDER_WINDOW_NS = 50_000;

    public FaultPlan {
        probability("loss", loss);
        probability("duplicate", duplicate);
        probability("reorder", reorder);
        probability("corrupt", corrupt);
        probability("truncate", truncate);
        windows = List.copyOf(windows);
        script = List.copyOf(script);
    }

    private static void probability(String name, double value) {
        if (!(value >= 0 && value <= 1)) {
            throw new IllegalArgumentException(name + " is " + value + "; a probability from 0 to 1 is possible");
        }
    }

    /** A perfect fabric with a delay of 5 microseconds. */
    public static FaultPlan none() {
        return builder().build();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** The same fabric without any fault. */
    FaultPlan healed() {
        return builder().delay(delay).build();
    }

    /**
     * A plan out of a seed: a bit of everything in different strength; about one in four has a partition, a link that
     * goes down, a black hole, a slow receiver or a clock jump, between two hosts named {@code a} and {@code b}.
     */
    public static FaultPlan random(long seed) {
        SeededRandom random = new SeededRandom(seed);
        double scale = Dice.unit(random);
        Builder builder = builder()
                .loss(scale * 0.07)
                .duplicate(scale * 0.1)
                .reorder(scale * 0.1, Dice.below(random, 200_000))
                .corrupt(scale * 0.02)
                .truncate(scale * 0.01);
        long least = 1_000 + Dice.below(random, 10_000);
        builder.delay(new Delay(least, least + Dice.below(random, 10_000), Dice.below(random, 5_000)));
        if (random.nextInt(4) == 0) {
            FaultWindow.Kind[] kinds = FaultWindow.Kind.values();
            FaultWindow.Kind kind = kinds[random.nextInt(kinds.length)];
            long from = Dice.below(random, 10_000_000);
            // Most are short against the timeouts, some outlast all retries.
            long length = Dice.below(random, random.nextInt(4) == 0 ? 2_000_000_000 : 5_000_000);
            long to = kind == FaultWindow.Kind.CLOCK_JUMP ? from : from + length;
            long value = switch (kind) {
                case BLACK_HOLE -> 600 + random.nextInt(3_600);
                case SLOW -> 1_000 + random.nextInt(20_000);
                case CLOCK_JUMP -> 1_000_000 + random.nextInt(100_000_000);
                default -> 0;
            };
            String host = random.nextInt(2) == 0 ? "a" : "b";
            builder.window(new FaultWindow(kind, from, to, host, "*", random.nextInt(2) == 0, value));
        }
        return builder.build();
    }

    /** Starts from a perfect fabric. */
    public static final class Builder {
        private double loss;
        private double duplicate;
        private double reorder;
        private long reorderWindowNs = DEFAULT_REORDER_WINDOW_NS;
        private double corrupt;
        private double truncate;
        private Delay delay = Delay.DEFAULT;
        private final List<FaultWindow> windows = new ArrayList<>();
        private final List<ScriptedFault> script = new ArrayList<>();

        private Builder() {}

        public Builder loss(double probability) {
            loss = probability;
            return this;
        }

        public Builder duplicate(double probability) {
            duplicate = probability;
            return this;
        }

        public Builder reorder(double probability, long windowNs) {
            reorder = probability;
            reorderWindowNs = windowNs;
            return this;
        }

        public Builder corrupt(double probability) {
            corrupt = probability;
            return this;
        }

        public Builder truncate(double probability) {
            truncate = probability;
            return this;
        }

        public Builder delay(Delay value) {
            delay = value;
            return this;
        }

        public Builder window(FaultWindow window) {
            windows.add(window);
            return this;
        }

        public Builder script(ScriptedFault fault) {
            script.add(fault);
            return this;
        }

        public FaultPlan build() {
            return new FaultPlan(loss, duplicate, reorder, reorderWindowNs, corrupt, truncate, delay, windows, script);
        }
    }
}
