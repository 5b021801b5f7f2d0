// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.queue.SendSlot;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.wire.Frame;
import java.lang.foreign.MemorySegment;

/**
 * Carries out the send queue of a service without acknowledgements: a request is complete when its last packet is on
 * its way (IBTA volume 1, 9.8.2 and 9.8.3). What a packet looks like is the subclasses' business.
 */
abstract class UnreliableRequester {
    private final IbQueuePair qp;
    final WorkQueue queue;
    final MemorySegment ring;
    private final LocalOperations local;

    /** The PSN of the next packet. */
    int nextPsn;

    /** The request at the cursor, and how far it is: packets sent, packets in all (0: not begun). */
    private long oldest;

    private int sent;
    private int packets;

    UnreliableRequester(IbQueuePair qp) {
        this.qp = qp;
        this.queue = qp.sendQueue;
        this.ring = queue.ring();
        this.local = new LocalOperations(qp);
    }

    /** How many packets the request takes. */
    abstract int packets(long slot);

    /** Writes packet {@code index} of {@code count}; anything but SUCCESS ends the request. */
    abstract WorkCompletionStatus write(Frame frame, long slot, SendOpcode operation, int index, int count);

    final boolean idle() {
        return packets == 0;
    }

    final void reset() {
        oldest = queue.tail();
        queue.release(oldest);
        sent = 0;
        packets = 0;
        nextPsn = 0;
    }

    /** Writes the next packet; false when there is none to send now. */
    final boolean emit(Frame frame) {
        while (packets == 0) {
            if (!qp.sends() || !begin()) {
                return false;
            }
        }
        if (!qp.sends()) {
            return false;
        }
        long slot = queue.offset(oldest);
        SendOpcode operation = SendOpcode.ofOrdinal(SendSlot.opcode(ring, slot));
        WorkCompletionStatus status = write(frame, slot, operation, sent, packets);
        if (status != WorkCompletionStatus.SUCCESS) {
            fail(slot, status);
            return false;
        }
        nextPsn = Psn.add(nextPsn, 1);
        if (++sent == packets) {
            complete(slot, operation);
        }
        return true;
    }

    /** Puts the next request under way, or carries it out when it has no packets; false when none may begin. */
    private boolean begin() {
        // In SQD what is under way goes on, and nothing begins (IBTA volume 1, 10.3.1.5).
        if (qp.state == QueuePairState.SQD || oldest == queue.tail()) {
            return false;
        }
        long slot = queue.offset(oldest);
        SendOpcode operation = SendOpcode.ofOrdinal(SendSlot.opcode(ring, slot));
        if (operation.isLocal() && operation.isPossibleOn(qp.type)) {
            return carryOut(slot, operation);
        }
        int count = SendSlot.sgeCount(ring, slot);
        if (!SendSlot.inline(ring, slot) && !qp.scatterGather.check(ring, slot + SendSlot.HEADER_BYTES, count, 0)) {
            fail(slot, WorkCompletionStatus.LOC_PROT_ERR);
            return false;
        }
        sent = 0;
        packets = packets(slot);
        return true;
    }

    private boolean carryOut(long slot, SendOpcode operation) {
        WorkCompletionStatus status = local.carryOut(slot, operation);
        if (status != WorkCompletionStatus.SUCCESS) {
            fail(slot, status);
            return false;
        }
        complete(slot, operation);
        return true;
    }

    private void complete(long slot, SendOpcode operation) {
        packets = 0;
        if (qp.signalAll || (SendSlot.flags(ring, slot) & SendFlags.SIGNALED) != 0) {
            long bytes = SendSlot.length(ring, slot);
            push(slot, WorkCompletionStatus.SUCCESS, OutboundData.completionOpcode(operation), bytes);
        }
        oldest++;
        qp.reportDrained();
    }

    private void fail(long slot, WorkCompletionStatus status) {
        packets = 0;
        push(slot, status, WorkCompletionOpcode.SEND, 0);
        oldest++;
        qp.enterSendQueueError();
    }

    /** Everything still in the send queue comes back as flushed. */
    final void flush() {
        packets = 0;
        for (long tail = queue.tail(); oldest < tail; oldest++) {
            push(queue.offset(oldest), WorkCompletionStatus.WR_FLUSH_ERR, WorkCompletionOpcode.SEND, 0);
        }
    }

    private void push(long slot, WorkCompletionStatus status, WorkCompletionOpcode opcode, long bytes) {
        long wrId = SendSlot.wrId(ring, slot);
        qp.port.complete(qp.sendRing, qp, wrId, status, opcode, 0, false, 0, bytes, 0, 0, oldest);
    }
}
