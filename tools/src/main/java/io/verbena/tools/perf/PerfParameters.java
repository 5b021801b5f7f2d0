// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What a test does, with all defaults filled in.
 *
 * @param sizeChosen whether the user gave the size
 * @param size bytes of a message; of the largest one when {@code allSizes}
 * @param iterations messages of each queue pair, 0 when {@code durationSeconds} counts
 * @param durationSeconds 0 when {@code iterations} counts
 * @param outstandingReads READs and atomics that the user wants outstanding, 0 for what the device can
 * @param completionModeration every how manyth send makes a completion
 * @param mtu null for the active MTU
 * @param gidIndex null for the first suitable one
 * @param inlineBytes messages up to this size are copied at post
 * @param compareAndSwap whether atomics are CMP_SWAP and not FETCH_ADD
 * @param rateLimit of a bandwidth test
 * @param multicast whether messages go to a multicast group
 * @param group the group, or null for the default one
 * @param managed whether the connection manager connects, -R
 * @param client whether this side connects and, unless both do, posts
 */
record PerfParameters(
        PerfTest test,
        Connection connection,
        int size,
        boolean sizeChosen,
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
        RateLimit rateLimit,
        boolean multicast,
        @Nullable Gid group,
        boolean managed,
        boolean client) {
    /** The largest message of a run over all sizes (2^23, as perftest's). */
    static final int LARGEST_SIZE = 1 << 23;

    PerfTest.Verb verb() {
        return test.verb();
    }

    /** With a size that fits: a datagram has one packet. */
    PerfParameters forMtu(Mtu path) {
        if (connection != Connection.UD || size <= path.bytes()) {
            return this;
        }
        if (sizeChosen) {
            throw new CommandFailure(
                    "-s " + size + " is more than a datagram carries: the MTU is " + path.bytes() + " (-c UD)");
        }
        return new PerfParameters(
                test,
                connection,
                path.bytes(),
                false,
                allSizes,
                iterations,
                durationSeconds,
                queuePairs,
                outstandingReads,
                sendDepth,
                receiveDepth,
                completionModeration,
                mtu,
                bidirectional,
                events,
                gidIndex,
                timeout,
                inlineBytes,
                compareAndSwap,
                rateLimit,
                multicast,
                group,
                managed,
                client);
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
        // From 2 to the largest, which is a power of 2.
        return IntStream.range(1, Integer.SIZE - Integer.numberOfLeadingZeros(size))
                .map(exponent -> 1 << exponent)
                .toArray();
    }
}
