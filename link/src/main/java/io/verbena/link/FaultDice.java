// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import java.util.SplittableRandom;

/** Draws the fate of one frame after another. Each frame takes the same number of draws, whatever its fate. */
final class FaultDice {
    private final SplittableRandom random;
    private final FaultOptions options;
    private boolean lost;
    private boolean duplicated;
    private boolean corrupted;
    private int reorderDistance;
    private long bitChoice;

    FaultDice(FaultOptions options, long stream) {
        this.options = options;
        random = new SplittableRandom(options.seed() * 0x9e3779b97f4a7c15L + stream);
    }

    void roll() {
        lost = random.nextDouble() < options.loss();
        duplicated = random.nextDouble() < options.duplicate();
        corrupted = random.nextDouble() < options.corrupt();
        boolean reordered = random.nextDouble() < options.reorder();
        long choice = random.nextLong();
        bitChoice = choice >>> 8;
        reorderDistance = reordered ? 1 + (int) (choice & 0xff) % FaultOptions.REORDER_DISTANCE_MAX : 0;
    }

    boolean lost() {
        return lost;
    }

    boolean duplicated() {
        return duplicated;
    }

    boolean corrupted() {
        return corrupted;
    }

    /** How many later frames go first; 0 if the frame keeps its place. */
    int reorderDistance() {
        return reorderDistance;
    }

    long bit(int frameBytes) {
        return bitChoice % (frameBytes * 8L);
    }
}
