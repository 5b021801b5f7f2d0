// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.queue.SeededRandom;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The shared receive queues of XRC domains by their numbers of 24 bits: the lower 16 are an index, the upper 8 random
 * and never 0, so that an old number is unlikely to find another queue. Looking one up allocates nothing.
 */
final class NumberedSharedReceives {
    private static final int INDEX_BITS = 16;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

    private @Nullable SharedReceives[] queues = new SharedReceives[8];

    /** A number that no queue has. */
    int free(SeededRandom random) {
        int index = 0;
        while (index < queues.length && queues[index] != null) {
            index++;
        }
        return (1 + random.nextInt(0xff)) << INDEX_BITS | index;
    }

    /** Files a queue under its number, which is free. */
    void add(SharedReceives queue) {
        int index = queue.number() & INDEX_MASK;
        if (index >= queues.length) {
            queues = Arrays.copyOf(queues, queues.length * 2);
        }
        queues[index] = queue;
    }

    void remove(SharedReceives queue) {
        queues[queue.number() & INDEX_MASK] = null;
    }

    @Nullable
    SharedReceives find(int number) {
        int index = number & INDEX_MASK;
        SharedReceives queue = index < queues.length ? queues[index] : null;
        return queue != null && queue.number() == number ? queue : null;
    }
}
