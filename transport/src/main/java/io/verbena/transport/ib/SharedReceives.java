// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.queue.CompletionRing;
import io.verbena.transport.queue.WorkQueue;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A shared receive queue in the engine. A queue pair that takes a receive copies it, so that its slot is free at once
 * and receives can be completed in any order (IBTA volume 1, 10.2.9). Belongs to the port's owner; posting threads
 * write the ring.
 */
public final class SharedReceives {
    private final IbPort port;
    private final ScatterGather scatterGather;
    private final int slotBytes;
    private final int number;
    private final int xrcDomain;
    private final @Nullable CompletionRing completions;
    private volatile WorkQueue queue;
    private long head;
    private int limit;
    private @Nullable Object owner;

    SharedReceives(
            IbPort port,
            int protectionDomain,
            WorkQueue queue,
            int number,
            int xrcDomain,
            @Nullable CompletionRing completions) {
        this.port = port;
        this.scatterGather = new ScatterGather(port.keys(), protectionDomain);
        this.queue = queue;
        this.slotBytes = queue.slotBytes();
        this.number = number;
        this.xrcDomain = xrcDomain;
        this.completions = completions;
    }

    /** The number that XRC requests name it by. */
    public int number() {
        return number;
    }

    int xrcDomain() {
        return xrcDomain;
    }

    /** Where receives of an XRC queue are reported; null when the queue pair decides. */
    @Nullable
    CompletionRing completions() {
        return completions;
    }

    ScatterGather scatterGather() {
        return scatterGather;
    }

    int slotBytes() {
        return slotBytes;
    }

    /** The ring to post to. A producer that holds its lock sees the newest. */
    public WorkQueue queue() {
        return queue;
    }

    public @Nullable Object owner() {
        return owner;
    }

    public void owner(Object owner) {
        this.owner = owner;
    }

    /** Receives that are posted and not taken. */
    public int posted() {
        return (int) (queue.tail() - head);
    }

    /** Moves what is posted into another ring, which takes the place of this one. No producer may be at work. */
    public void resize(WorkQueue other) {
        WorkQueue old = queue;
        long tail = old.tail();
        int moved = 0;
        for (long at = head; at < tail; at++, moved++) {
            MemorySegment.copy(old.ring(), old.offset(at), other.ring(), other.offset(moved), slotBytes);
        }
        other.publish(moved);
        head = 0;
        queue = other;
    }

    public int limit() {
        return limit;
    }

    /** Asks to be told once when fewer than {@code receives} are left. */
    public void armLimit(int receives) {
        limit = receives;
        fireLimit();
    }

    private void fireLimit() {
        if (limit > 0 && posted() < limit) {
            limit = 0;
            port.events().sharedReceiveQueueLimit(this);
        }
    }

    /** Copies the oldest receive and frees its slot; false when there is none. */
    boolean take(MemorySegment into) {
        WorkQueue from = queue;
        if (head == from.tail()) {
            return false;
        }
        MemorySegment.copy(from.ring(), from.offset(head), into, 0, slotBytes);
        from.release(++head);
        fireLimit();
        return true;
    }
}
