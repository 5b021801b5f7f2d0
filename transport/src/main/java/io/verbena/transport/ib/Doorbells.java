// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Which queue pairs have new work: any thread rings, the port's owner answers. A bell that rings already stays as it
 * is, so the ring of bells never overflows; nothing is allocated.
 */
final class Doorbells {
    private final int mask;
    private final AtomicIntegerArray ringing;
    /** Handles plus one in order of ringing; 0 is a place whose writer has not come to it yet. */
    private final AtomicIntegerArray order;

    private final AtomicInteger tail = new AtomicInteger();
    private volatile int head;

    /** Room for handles 0 to {@code handles - 1}; a power of two. */
    Doorbells(int handles) {
        mask = handles - 1;
        ringing = new AtomicIntegerArray(handles);
        order = new AtomicIntegerArray(handles);
    }

    void ring(int handle) {
        // The work was published with release only: without a fence the look at the bell could come before it, find the
        // old ring of the bell, and the owner, who silences the bell and then looks for work, would miss it.
        VarHandle.fullFence();
        if (ringing.get(handle) == 0 && ringing.compareAndSet(handle, 0, 1)) {
            order.set(tail.getAndIncrement() & mask, handle + 1);
        }
    }

    boolean pending() {
        return head != tail.get();
    }

    /** Owner: the handle of a queue pair with new work, or -1. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one owner at a time writes it
    int answer() {
        int at = head & mask;
        int entry = order.get(at);
        if (entry == 0) {
            return -1;
        }
        order.set(at, 0);
        head++;
        ringing.set(entry - 1, 0);
        VarHandle.fullFence();
        return entry - 1;
    }
}
