// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import io.verbena.transport.queue.SeededRandom;

/** Draws from a seeded stream. */
final class Dice {
    private Dice() {}

    /** From 0 to just below 1. */
    static double unit(SeededRandom random) {
        return (random.nextLong() >>> 11) * 0x1p-53;
    }

    static boolean chance(SeededRandom random, double probability) {
        return probability > 0 && unit(random) < probability;
    }

    /** From 0 to {@code bound - 1}. */
    static long below(SeededRandom random, long bound) {
        return (long) (unit(random) * bound);
    }
}
