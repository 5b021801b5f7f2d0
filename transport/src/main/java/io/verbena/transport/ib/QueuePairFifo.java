// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import org.jspecify.annotations.Nullable;

/**
 * A first-in first-out list of queue pairs without allocation in steady state. A queue pair is at most once in one
 * list.
 */
final class QueuePairFifo {
    private @Nullable IbQueuePair[] slots = new IbQueuePair[4];
    private int head;
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    void add(IbQueuePair queuePair) {
        if (size == slots.length) {
            @Nullable IbQueuePair[] larger = new IbQueuePair[size * 2];
            for (int i = 0; i < size; i++) {
                larger[i] = slots[(head + i) & (size - 1)];
            }
            slots = larger;
            head = 0;
        }
        slots[(head + size++) & (slots.length - 1)] = queuePair;
    }

    @Nullable
    IbQueuePair peek() {
        return size == 0 ? null : slots[head];
    }

    @Nullable
    IbQueuePair poll() {
        if (size == 0) {
            return null;
        }
        IbQueuePair first = slots[head];
        slots[head] = null;
        head = (head + 1) & (slots.length - 1);
        size--;
        return first;
    }
}
