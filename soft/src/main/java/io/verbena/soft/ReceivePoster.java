// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.SgeList;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.ReceiveRequest;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantLock;

/** Writes receive work requests into the ring of a queue pair. */
final class ReceivePoster {
    private final SoftQueuePair qp;
    private final WorkQueue queue;
    private final MemorySegment ring;
    private final int maxSge;
    private final ReentrantLock producer = new ReentrantLock();

    ReceivePoster(SoftQueuePair qp) {
        this.qp = qp;
        this.queue = qp.engine().receiveQueue();
        this.ring = queue.ring();
        this.maxSge = qp.capabilities().maxReceiveSge();
    }

    void post(long wrId, long address, int length, int lkey) {
        checkEntries(1);
        producer.lock();
        try {
            long slot = claim();
            ReceiveSlot.header(ring, slot, wrId, 1);
            SgeList.set(ring, slot + ReceiveSlot.HEADER_BYTES, 0, address, checkLength(length), lkey);
            queue.publish(1);
        } finally {
            producer.unlock();
        }
        flushIfInError();
    }

    void post(ReceiveRequest request) {
        int count = request.sgeCount();
        checkEntries(count);
        producer.lock();
        try {
            long slot = claim();
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
        flushIfInError();
    }

    /** The engine looks at receives when a message comes; in ERR none does, so it must be told to flush. */
    private void flushIfInError() {
        VarHandle.fullFence();
        if (qp.engine().state() == QueuePairState.ERR) {
            qp.engine().requestService();
            qp.agent().service();
        }
    }

    private long claim() {
        qp.requireOpen();
        if (qp.engine().state() == QueuePairState.RESET) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_STATE,
                    "a receive cannot be posted in RESET; move queue pair 0x" + Integer.toHexString(qp.qpNumber())
                            + " to INIT first");
        }
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
                    count + " scatter/gather entries; this queue pair was created for " + maxSge);
        }
    }

    private static int checkLength(int length) {
        if (length < 0) {
            throw new IllegalArgumentException("a negative length: " + length);
        }
        return length;
    }
}
