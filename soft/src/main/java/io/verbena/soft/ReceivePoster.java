// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.SgeList;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.ReceiveRequest;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

/** Writes receive work requests into the ring of a queue pair or a shared receive queue. */
final class ReceivePoster {
    /** Whose receives they are. */
    interface Target {
        /** The ring; may be another one after each {@link ReceivePoster#exclusively}. */
        WorkQueue queue();

        /** Throws when receives cannot be posted now. */
        void requirePostable();

        /** A receive is in the ring. */
        void posted();
    }

    private final Target target;
    private final int maxSge;
    private final ReentrantLock producer = new ReentrantLock();

    ReceivePoster(Target target, int maxSge) {
        this.target = target;
        this.maxSge = maxSge;
    }

    /** Runs something while nobody posts. */
    void exclusively(Runnable action) {
        producer.lock();
        try {
            action.run();
        } finally {
            producer.unlock();
        }
    }

    void post(long wrId, long address, int length, int lkey) {
        producer.lock();
        try {
            WorkQueue queue = target.queue();
            MemorySegment ring = queue.ring();
            checkEntries(1);
            long slot = claim(queue);
            ReceiveSlot.header(ring, slot, wrId, 1);
            SgeList.set(ring, slot + ReceiveSlot.HEADER_BYTES, 0, address, checkLength(length), lkey);
            queue.publish(1);
        } finally {
            producer.unlock();
        }
        target.posted();
    }

    void post(ReceiveRequest request) {
        int count = request.sgeCount();
        producer.lock();
        try {
            WorkQueue queue = target.queue();
            MemorySegment ring = queue.ring();
            checkEntries(count);
            long slot = claim(queue);
            ReceiveSlot.header(ring, slot, request.wrId(), count);
            for (int i = 0; i < count; i++) {
                SgeList.set(
                        ring,
                        slot + ReceiveSlot.HEADER_BYTES,
                        i,
                        request.sgeAddress(i),
                        checkLength(request.sgeLength(i)),
                        request.sgeLkey(i));
            }
            queue.publish(1);
        } finally {
            producer.unlock();
        }
        target.posted();
    }

    private long claim(WorkQueue queue) {
        target.requirePostable();
        if (!queue.hasRoom(0)) {
            throw new RdmaException(
                    RdmaException.Reason.QUEUE_FULL,
                    "the receive queue holds " + queue.depth() + " requests and is full");
        }
        return queue.offset(queue.producerIndex());
    }

    private void checkEntries(int count) {
        if (count > maxSge) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    count + " scatter/gather entries; this queue was created for " + maxSge);
        }
    }

    private static int checkLength(int length) {
        if (length < 0) {
            throw new IllegalArgumentException("a negative length: " + length);
        }
        return length;
    }
}
