// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.queue;

/**
 * Numbers from a seed (SplitMix64). The seed of a production port comes from a secure source, so that keys and numbers
 * cannot be guessed from outside; a simulated port's seed makes its run repeatable. Not thread-safe.
 */
public final class SeededRandom {
    private long state;

    public SeededRandom(long seed) {
        state = seed;
    }

    public long nextLong() {
        state += 0x9E3779B97F4A7C15L;
        long z = state;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    public int nextInt() {
        return (int) (nextLong() >>> 32);
    }

    /** A number from 0 to {@code bound - 1}. */
    public int nextInt(int bound) {
        return (int) (((nextLong() >>> 32) * bound) >>> 32);
    }
}
