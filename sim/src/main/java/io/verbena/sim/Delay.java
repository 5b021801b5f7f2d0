// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import io.verbena.transport.queue.SeededRandom;
import java.util.List;

/**
 * How long frames are under way: evenly distributed from {@code leastNs} to {@code mostNs}, and on top of it a tail
 * with an exponential distribution.
 *
 * @param tailMeanNs the mean of the tail in nanoseconds, 0 for none; the tail ends at twenty times the mean
 */
public record Delay(long leastNs, long mostNs, long tailMeanNs) {
    /** A data centre: 5 microseconds. */
    public static final Delay DEFAULT = new Delay(5_000, 5_000, 0);

    private static final int TAIL_MAX = 20;

    public Delay {
        if (leastNs < 0 || mostNs < leastNs || tailMeanNs < 0) {
            throw new IllegalArgumentException(
                    "a delay from " + Durations.format(leastNs) + " to " + Durations.format(mostNs));
        }
    }

    /** Parses {@code 5us}, {@code 5us..20us}, {@code 5us..20us+10us} (with a tail of that mean). */
    public static Delay parse(String text) {
        List<String> tail = List.of(text.split("\\+", 2));
        List<String> range = List.of(tail.get(0).split("\\.\\.", 2));
        long least = Durations.parse(range.get(0));
        long most = range.size() == 1 ? least : Durations.parse(range.get(1));
        return new Delay(least, most, tail.size() == 1 ? 0 : Durations.parse(tail.get(1)));
    }

    long draw(SeededRandom random) {
        long delay = leastNs;
        if (mostNs > leastNs) {
            delay += Dice.below(random, mostNs - leastNs + 1);
        }
        if (tailMeanNs > 0) {
            double tail = -Math.log(1 - Dice.unit(random)) * tailMeanNs;
            delay += (long) Math.min(tail, (double) TAIL_MAX * tailMeanNs);
        }
        return delay;
    }

    @Override
    public String toString() {
        return Durations.format(leastNs)
                + (mostNs > leastNs ? ".." + Durations.format(mostNs) : "")
                + (tailMeanNs > 0 ? "+" + Durations.format(tailMeanNs) : "");
    }
}
