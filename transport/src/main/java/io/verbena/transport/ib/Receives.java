// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.queue.CompletionRing;
import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.SgeList;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Where the messages of a queue pair go: its own receive queue or a shared one, and the receive that the message under
 * way has taken.
 */
final class Receives {
    private final IbQueuePair qp;
    private final @Nullable WorkQueue own;
    private final CompletionRing ownRing;
    private final boolean shared;
    /** What the next receive is taken from, in place of the own queue. */
    private @Nullable SharedReceives source;

    /** The receive in use: a slot of the own queue, or the copy of a shared one. */
    private MemorySegment ring = MemorySegment.NULL;

    private long slot;
    private boolean taken;
    private MemorySegment copy = MemorySegment.NULL;
    /** The next receive of the own queue. */
    private long head;

    Receives(IbQueuePair qp, QueuePairSetup setup) {
        this.qp = qp;
        this.own = setup.receiveQueue();
        this.ownRing = setup.receiveRing();
        this.source = setup.sharedReceives();
        this.shared = source != null;
    }

    /** Whether completions of the queue pair's receives go to this ring. */
    boolean reportsTo(CompletionRing completions) {
        SharedReceives from = source;
        return ownRing == completions || (from != null && from.completions() == completions);
    }

    /** Whether the queue pair was created with a shared receive queue. */
    boolean isShared() {
        return shared;
    }

    /** XRC: the next receive comes from here. */
    void from(SharedReceives queue) {
        source = queue;
    }

    /** Takes a receive for a message, unless one that an abandoned message had taken is there; false when none is. */
    boolean take() {
        if (taken) {
            return true;
        }
        SharedReceives from = source;
        if (from != null) {
            taken = takeShared(from);
        } else if (own != null && head != own.tail()) {
            ring = own.ring();
            slot = own.offset(head++);
            taken = true;
        }
        return taken;
    }

    private boolean takeShared(SharedReceives from) {
        if (copy.byteSize() < from.slotBytes()) {
            copy = Arena.ofAuto().allocate(from.slotBytes(), Long.BYTES);
        }
        ring = copy;
        slot = 0;
        return from.take(copy);
    }

    boolean isTaken() {
        return taken;
    }

    /** Bytes that the taken receive has room for. */
    long room() {
        return SgeList.total(ring, slot + ReceiveSlot.HEADER_BYTES, ReceiveSlot.sgeCount(ring, slot));
    }

    /** Copies bytes to position {@code to} of the taken receive; false when a key, range or right is wrong. */
    boolean scatter(long to, MemorySegment in, long inOffset, int bytes) {
        SharedReceives from = source;
        ScatterGather target = from == null ? qp.scatterGather : from.scatterGather();
        long list = slot + ReceiveSlot.HEADER_BYTES;
        return target.scatter(ring, list, ReceiveSlot.sgeCount(ring, slot), to, in, inOffset, bytes);
    }

    void complete(WorkCompletionOpcode opcode, int flags, boolean solicited, int immediate, long bytes, int sourceQp) {
        push(WorkCompletionStatus.SUCCESS, opcode, flags, solicited, immediate, bytes, sourceQp, 0);
    }

    void fail(WorkCompletionStatus status, int vendorError) {
        push(status, WorkCompletionOpcode.RECV, 0, false, 0, 0, 0, vendorError);
    }

    private void push(
            WorkCompletionStatus status,
            WorkCompletionOpcode opcode,
            int flags,
            boolean solicited,
            int immediate,
            long bytes,
            int sourceQp,
            int vendorError) {
        taken = false;
        long wrId = ReceiveSlot.wrId(ring, slot);
        if (own != null) {
            own.release(head);
        }
        SharedReceives from = source;
        CompletionRing ofSource = from == null ? null : from.completions();
        qp.port.complete(
                ofSource == null ? ownRing : ofSource,
                qp,
                wrId,
                status,
                opcode,
                flags,
                solicited,
                immediate,
                bytes,
                sourceQp,
                vendorError,
                -1);
    }

    /**
     * The message that had taken a receive is dropped. A receive of the own queue serves the next message; a shared one
     * is reported, because a queue pair that kept it would keep it from all others (IBTA volume 1, 9.9.3.2, classes D
     * and E).
     */
    void drop(WorkCompletionStatus status) {
        if (taken && shared) {
            fail(status, 0);
        }
    }

    /** The shared queue is gone; true when a message under way had a receive of it. */
    boolean lose(SharedReceives queue) {
        if (source != queue) {
            return false;
        }
        boolean lost = taken;
        taken = false;
        source = null;
        return lost;
    }

    /** The receive under way, then everything in the own queue, comes back as flushed. */
    void flush() {
        if (taken) {
            fail(WorkCompletionStatus.WR_FLUSH_ERR, 0);
        }
        if (own != null) {
            while (take()) {
                fail(WorkCompletionStatus.WR_FLUSH_ERR, 0);
            }
        }
    }

    /** Forgets all receives, as RESET does. */
    void reset() {
        taken = false;
        if (own != null) {
            head = own.tail();
            own.release(head);
        }
    }
}
