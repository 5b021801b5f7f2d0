// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.verbs.Mtu;
import org.jspecify.annotations.Nullable;

/**
 * What a test does, with all defaults filled in.
 *
 * @param size bytes of a message; of the largest one when {@code allSizes}
 * @param iterations messages of each queue pair, 0 when {@code durationSeconds} counts
 * @param durationSeconds 0 when {@code iterations} counts
 * @param outstandingReads READs and atomics that the user wants outstanding, 0 for what the device can
 * @param completionModeration every how manyth send makes a completion
 * @param mtu null for the active MTU
 * @param gidIndex null for the first suitable one
 * @param inlineBytes messages up to this size are copied at post
 * @param compareAndSwap whether atomics are CMP_SWAP and not FETCH_ADD
 * @param client whether this side connects and, unless both do, posts
 */
record PerfParameters(
        PerfTest test,
        int size,
        boolean allSizes,
        long iterations,
        int durationSeconds,
        int queuePairs,
        int outstandingReads,
        int sendDepth,
        int receiveDepth,
        int completionModeration,
        @Nullable Mtu mtu,
        boolean bidirectional,
        boolean events,
        @Nullable Integer gidIndex,
        int timeout,
        int inlineBytes,
        boolean compareAndSwap,
        boolean client) {
    /** The largest message of a run over all sizes (2^23, as perftest's). */
    static final int LARGEST_SIZE = 1 << 23;

    PerfTest.Verb verb() {
        return test.verb();
    }

    boolean isDuration() {
        return durationSeconds > 0;
    }

    /** Whether this side posts the operations of a bandwidth test. */
    boolean posts() {
        return client || bidirectional;
    }

    /** The sizes to run, one after the other. */
    int[] sizes() {
        if (!allSizes) {
            return new int[] {size};
        }
        int[] sizes = new int[23];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = 2 << i;
        }
        return sizes;
    }
}
