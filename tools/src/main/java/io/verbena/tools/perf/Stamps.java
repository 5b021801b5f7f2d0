// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/** When messages were posted and completed, to find the fastest stretch of a run. Long runs are not stamped. */
final class Stamps {
    private static final int MOST = 1 << 21;
    /** The search looks at pairs of stamps; this many on each side are enough. */
    private static final int SEARCHED = 2000;

    private final long[] posted;
    private final long[] completed;

    /** @param messages 0 for a run whose number of messages is not known */
    Stamps(long messages) {
        int length = messages > 0 && messages <= MOST ? (int) messages : 0;
        posted = new long[length];
        completed = new long[length];
    }

    boolean isOn() {
        return posted.length > 0;
    }

    void posted(long index, long now) {
        if (index < posted.length) {
            posted[(int) index] = now;
        }
    }

    void completed(long index, long now) {
        if (index < completed.length) {
            completed[(int) index] = now;
        }
    }

    /**
     * The least average time of a message over any stretch that starts with a post and ends with a completion, 0
     * without stamps.
     */
    double leastNanosPerMessage() {
        int step = Math.max(1, posted.length / SEARCHED);
        double least = Double.POSITIVE_INFINITY;
        for (int i = 0; i < posted.length; i += step) {
            for (int j = i; j < completed.length; j += step) {
                int end = Math.min(j + step - 1, completed.length - 1);
                // Messages that completed silently, with a later one, have no stamp.
                if (completed[end] != 0) {
                    least = Math.min(least, (completed[end] - posted[i]) / (double) (end - i + 1));
                }
            }
        }
        return Double.isFinite(least) ? Math.max(least, 1e-3) : 0;
    }
}
