// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

/**
 * What a {@link FaultyLink} does to frames. Each rate is the probability that it happens to a frame, from 0 to 1.
 *
 * @param seed the same seed does the same to the same sequence of frames
 * @param loss frame vanishes
 * @param duplicate frame comes twice
 * @param reorder frame comes after one to {@value #REORDER_DISTANCE_MAX} later ones, or when the link has nothing else
 *     to do
 * @param corrupt one bit of the frame is flipped
 * @param onTransmit whether this happens to frames sent
 * @param onReceive whether this happens to frames received
 */
public record FaultOptions(
        long seed,
        double loss,
        double duplicate,
        double reorder,
        double corrupt,
        boolean onTransmit,
        boolean onReceive) {
    static final int REORDER_DISTANCE_MAX = 3;

    public FaultOptions {
        check("loss", loss);
        check("duplicate", duplicate);
        check("reorder", reorder);
        check("corrupt", corrupt);
    }

    /** No fault yet, in both directions. */
    public static FaultOptions seed(long seed) {
        return new FaultOptions(seed, 0, 0, 0, 0, true, true);
    }

    public FaultOptions withLoss(double rate) {
        return new FaultOptions(seed, rate, duplicate, reorder, corrupt, onTransmit, onReceive);
    }

    public FaultOptions withDuplicate(double rate) {
        return new FaultOptions(seed, loss, rate, reorder, corrupt, onTransmit, onReceive);
    }

    public FaultOptions withReorder(double rate) {
        return new FaultOptions(seed, loss, duplicate, rate, corrupt, onTransmit, onReceive);
    }

    public FaultOptions withCorrupt(double rate) {
        return new FaultOptions(seed, loss, duplicate, reorder, rate, onTransmit, onReceive);
    }

    public FaultOptions transmitOnly() {
        return new FaultOptions(seed, loss, duplicate, reorder, corrupt, true, false);
    }

    public FaultOptions receiveOnly() {
        return new FaultOptions(seed, loss, duplicate, reorder, corrupt, false, true);
    }

    private static void check(String name, double rate) {
        if (!(rate >= 0 && rate <= 1)) {
            throw new IllegalArgumentException(name + " is a rate from 0 to 1, not " + rate);
        }
    }
}
