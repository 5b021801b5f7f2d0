// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.verbena.transport.queue.SendSlot;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Aeth;
import io.verbena.wire.ib.AtomicAckEth;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.MemorySegment;

/**
 * Takes the answers to the requests of a reliable connection, retires work, and decides when to send again (IBTA volume
 * 1, 9.7.5.2 and 9.7.6).
 */
final class Completer {
    /** rnr_retry of 7: for ever. */
    private static final int ENDLESS = 7;

    private final RcQueuePair qp;
    private final SendState send;

    Completer(RcQueuePair qp, SendState send) {
        this.qp = qp;
        this.send = send;
    }

    /** A response packet whose outer parts are good. */
    void onResponse(long now, Frame frame, long bth, Opcode opcode, int psn, int payload) {
        if (!qp.sends()) {
            qp.port.count(Counter.DROP_WRONG_STATE);
            return;
        }
        if (!send.outstanding() || Psn.diff(psn, send.highPsn) >= 0 || Psn.diff(psn, send.unackedPsn) < 0) {
            // Older: a repetition. Newer than all that was sent: a ghost (IBTA volume 1, 9.7.5.1.1). Neither changes
            // anything.
            qp.port.count(Counter.DROP_UNEXPECTED_RESPONSE);
            return;
        }
        switch (opcode.operation()) {
            case ACKNOWLEDGE -> onAcknowledge(now, Aeth.syndrome(frame.buffer(), bth + opcode.aethOffset()), psn);
            case READ_RESPONSE -> onReadResponse(now, frame, bth, opcode, psn, payload);
            case ATOMIC_ACKNOWLEDGE -> onAtomicAcknowledge(now, frame, bth, opcode, psn);
            default -> qp.port.count(Counter.DROP_UNEXPECTED_RESPONSE);
        }
    }

    private void onAcknowledge(long now, int syndrome, int psn) {
        if (Aeth.isAck(syndrome)) {
            acknowledge(now, Psn.add(psn, 1));
            return;
        }
        acknowledge(now, psn);
        if (send.unackedPsn != psn || !qp.sends()) {
            return;
        }
        if (Aeth.isRnrNak(syndrome)) {
            receiverNotReady(now, Aeth.rnrTimer(syndrome));
        } else if (syndrome == Aeth.NAK_PSN_SEQUENCE_ERROR) {
            qp.port.count(Counter.SEQUENCE_NAKS_RECEIVED);
            // A peer that just said "receiver not ready" also reports the rest of that message as out of sequence.
            if (!send.rnrWaiting) {
                retry(WorkCompletionStatus.RETRY_EXC_ERR);
            }
        } else if (Aeth.isNak(syndrome)) {
            fail(statusOf(syndrome), syndrome);
        }
    }

    private static WorkCompletionStatus statusOf(int syndrome) {
        return switch (syndrome) {
            case Aeth.NAK_INVALID_REQUEST -> WorkCompletionStatus.REM_INV_REQ_ERR;
            case Aeth.NAK_REMOTE_ACCESS_ERROR -> WorkCompletionStatus.REM_ACCESS_ERR;
            case Aeth.NAK_REMOTE_OPERATIONAL_ERROR -> WorkCompletionStatus.REM_OP_ERR;
            case Aeth.NAK_INVALID_RD_REQUEST -> WorkCompletionStatus.REM_INV_RD_REQ_ERR;
            default -> WorkCompletionStatus.BAD_RESP_ERR;
        };
    }

    /**
     * Everything before {@code end} is acknowledged. Stops at what only its own answer completes, as a READ: an
     * acknowledgement beyond it says that the answer was lost (implied NAK, IBTA volume 1, 9.7.5.1.2).
     */
    private void acknowledge(long now, int end) {
        boolean progress = false;
        boolean impliedNak = false;
        while (send.oldest < send.started && Psn.diff(end, send.unackedPsn) > 0) {
            long slot = send.slot(send.oldest);
            SendOpcode opcode = SendOpcode.ofOrdinal(SendSlot.opcode(send.ring, slot));
            if (opcode.isAnswered()) {
                impliedNak = true;
                break;
            }
            int wqeEnd = Psn.add(SendSlot.firstPsn(send.ring, slot), SendSlot.packets(send.ring, slot));
            int upTo = Psn.diff(end, wqeEnd) < 0 ? end : wqeEnd;
            releaseRequests(slot, upTo, wqeEnd);
            send.unackedPsn = upTo;
            progress = true;
            if (upTo == wqeEnd) {
                complete(slot);
            }
        }
        if (progress) {
            progressed(now);
        }
        if (impliedNak) {
            qp.port.count(Counter.IMPLIED_NAKS);
            retryOnce();
        }
    }

    /** Takes the packets from the first unacknowledged one to {@code upTo} off the path's account. */
    private void releaseRequests(long slot, int upTo, int wqeEnd) {
        long length = SendSlot.length(send.ring, slot);
        int packets = Psn.diff(upTo, send.unackedPsn);
        long full = PathWindow.cost(qp.mtu);
        long cost;
        if (upTo == wqeEnd) {
            int last = (int) (length - (long) (SendSlot.packets(send.ring, slot) - 1) * qp.mtu);
            cost = (packets - 1) * full + PathWindow.cost(last);
        } else {
            cost = packets * full;
        }
        cost = Math.min(cost, send.chargedRequests);
        send.chargedRequests -= cost;
        qp.window.releaseRequests(cost);
    }

    private void onReadResponse(long now, Frame frame, long bth, Opcode opcode, int psn, int payload) {
        acknowledge(now, psn);
        if (send.unackedPsn != psn || !qp.sends()) {
            gap(psn);
            return;
        }
        long slot = send.slot(send.oldest);
        MemorySegment ring = send.ring;
        SendOpcode operation = SendOpcode.ofOrdinal(SendSlot.opcode(ring, slot));
        long at = (long) Psn.diff(psn, SendSlot.firstPsn(ring, slot)) * qp.mtu;
        boolean fits = switch (operation) {
            // A peer may begin a repeated answer with MIDDLE (rxe does) or FIRST; where it ends and how long each
            // packet is are certain all the same.
            case RDMA_READ ->
                payload == Math.min(qp.mtu, SendSlot.length(ring, slot) - at)
                        && opcode.ends() == qp.requester.endsRead(slot, at);
            case FLUSH, ATOMIC_WRITE -> payload == 0 && opcode.position() == Opcode.Position.ONLY;
            default -> false;
        };
        boolean positive = !opcode.hasAeth() || Aeth.isAck(Aeth.syndrome(frame.buffer(), bth + opcode.aethOffset()));
        if (!fits || !positive) {
            fail(WorkCompletionStatus.BAD_RESP_ERR, opcode.code());
            return;
        }
        long body = bth + opcode.headerBytes();
        if (payload > 0 && !scatter(slot, at, frame.buffer(), body, payload)) {
            fail(WorkCompletionStatus.LOC_PROT_ERR, 0);
            return;
        }
        answered(now, slot);
    }

    private void onAtomicAcknowledge(long now, Frame frame, long bth, Opcode opcode, int psn) {
        acknowledge(now, psn);
        if (send.unackedPsn != psn || !qp.sends()) {
            gap(psn);
            return;
        }
        long slot = send.slot(send.oldest);
        SendOpcode operation = SendOpcode.ofOrdinal(SendSlot.opcode(send.ring, slot));
        boolean positive = Aeth.isAck(Aeth.syndrome(frame.buffer(), bth + opcode.aethOffset()));
        if (!operation.isAtomic() || !positive) {
            fail(WorkCompletionStatus.BAD_RESP_ERR, opcode.code());
            return;
        }
        // Big-endian on the wire, host order in memory.
        MemorySegment original = qp.port.scratch();
        original.set(JAVA_LONG_UNALIGNED, 0, AtomicAckEth.original(frame.buffer(), bth + opcode.atomicAckEthOffset()));
        if (!scatter(slot, 0, original, 0, 8)) {
            fail(WorkCompletionStatus.LOC_PROT_ERR, 0);
            return;
        }
        answered(now, slot);
    }

    private boolean scatter(long slot, long at, MemorySegment in, long inOffset, int bytes) {
        long list = slot + SendSlot.HEADER_BYTES;
        int count = SendSlot.sgeCount(send.ring, slot);
        return qp.scatterGather.scatter(send.ring, list, count, at, in, inOffset, bytes);
    }

    /** One packet of a READ, or the one answer of another request, was taken. */
    private void answered(long now, long slot) {
        send.unackedPsn = Psn.add(send.unackedPsn, 1);
        long released = send.popReads();
        if (released > 0) {
            qp.window.releaseRead(released);
        }
        int end = Psn.add(SendSlot.firstPsn(send.ring, slot), SendSlot.packets(send.ring, slot));
        if (send.unackedPsn == end) {
            complete(slot);
        }
        progressed(now);
    }

    /** An answer that is not the next one: some before it are lost. */
    private void gap(int psn) {
        if (qp.sends() && Psn.diff(psn, send.unackedPsn) > 0) {
            qp.port.count(Counter.IMPLIED_NAKS);
            retryOnce();
        }
    }

    /** Retires the oldest request with success, and the requests of this side alone that come after it. */
    private void complete(long slot) {
        retire(slot);
        retireLocal();
    }

    /** Retires what is done and waited only for its turn. */
    void retireLocal() {
        while (send.oldest < send.started && SendSlot.packets(send.ring, send.slot(send.oldest)) == 0) {
            retire(send.slot(send.oldest));
        }
    }

    private void retire(long slot) {
        int flags = SendSlot.flags(send.ring, slot);
        if (qp.signalAll || (flags & SendFlags.SIGNALED) != 0) {
            SendOpcode opcode = SendOpcode.ofOrdinal(SendSlot.opcode(send.ring, slot));
            push(
                    slot,
                    WorkCompletionStatus.SUCCESS,
                    OutboundData.completionOpcode(opcode),
                    SendSlot.length(send.ring, slot),
                    0);
        }
        send.oldest++;
    }

    private void push(
            long slot, WorkCompletionStatus status, WorkCompletionOpcode opcode, long byteLength, int vendorError) {
        qp.port.complete(
                qp.sendRing,
                qp,
                SendSlot.wrId(send.ring, slot),
                status,
                opcode,
                0,
                false,
                0,
                byteLength,
                0,
                vendorError,
                send.oldest);
    }

    private void progressed(long now) {
        send.retriesLeft = qp.retryCount;
        send.rnrRetriesLeft = qp.rnrRetry;
        send.retriedPsn = -1;
        if (send.rnrWaiting) {
            send.rnrWaiting = false;
            qp.disarm(Timer.RNR_WAIT);
        }
        if (Psn.diff(send.cursorPsn, send.unackedPsn) < 0) {
            send.rewind();
        }
        qp.disarm(Timer.RETRANSMIT);
        // Behind the cursor nothing is under way: what is sent next arms the timer.
        if (send.cursorPsn != send.unackedPsn) {
            qp.armRetransmit(now);
        }
        reportLocalError();
        qp.reportDrained();
        qp.port.activate(qp);
    }

    /** Reports an error of the request at the cursor, once all before it is complete. */
    void reportLocalError() {
        WorkCompletionStatus status = send.localError;
        if (status != null && send.oldest == send.cursorWqe) {
            send.localError = null;
            fail(status, 0);
        }
    }

    private void receiverNotReady(long now, int timerCode) {
        if (send.rnrWaiting) {
            return;
        }
        qp.port.count(Counter.RNR_NAKS_RECEIVED);
        if (qp.rnrRetry != ENDLESS && send.rnrRetriesLeft-- == 0) {
            fail(WorkCompletionStatus.RNR_RETRY_EXC_ERR, 0);
            return;
        }
        // The peer is there: what was lost on the way to this answer is over.
        send.retriesLeft = qp.retryCount;
        goBack();
        send.rnrWaiting = true;
        qp.disarm(Timer.RETRANSMIT);
        qp.arm(Timer.RNR_WAIT, now + RnrTimer.nanoseconds(timerCode));
        // Others may use the room on the path meanwhile.
        qp.port.activate(qp);
    }

    void onRnrWaitOver() {
        send.rnrWaiting = false;
        qp.port.activate(qp);
    }

    void onRetransmitTimeout() {
        if (!send.outstanding() || send.rnrWaiting) {
            return;
        }
        qp.port.count(Counter.TIMEOUTS);
        retry(WorkCompletionStatus.RETRY_EXC_ERR);
        send.retriedPsn = -1;
    }

    /** Answers a sign of loss at once, but only the first one at a place; the timer sees to the rest. */
    private void retryOnce() {
        if (send.retriedPsn == send.unackedPsn) {
            return;
        }
        int psn = send.unackedPsn;
        retry(WorkCompletionStatus.RETRY_EXC_ERR);
        send.retriedPsn = psn;
    }

    private void retry(WorkCompletionStatus whenExhausted) {
        if (send.retriesLeft == 0) {
            fail(whenExhausted, 0);
            return;
        }
        send.retriesLeft--;
        qp.window.onLoss();
        goBack();
        // Armed again by the first packet that goes out, which may have to wait for room on the path: time that passes
        // before it says nothing about the peer.
        qp.disarm(Timer.RETRANSMIT);
        qp.port.activate(qp);
    }

    /** Sets the cursor back to the first unanswered packet and takes what was under way off the path's account. */
    private void goBack() {
        releaseAll();
        send.rewind();
    }

    void releaseAll() {
        qp.window.releaseRequests(send.chargedRequests);
        send.chargedRequests = 0;
        qp.window.releaseRead(send.clearReads());
    }

    /** The oldest request fails, and with it the queue pair. */
    void fail(WorkCompletionStatus status, int vendorError) {
        if (send.oldest < send.queue.tail()) {
            push(send.slot(send.oldest), status, WorkCompletionOpcode.SEND, 0, vendorError);
            send.oldest++;
        }
        qp.enterError();
    }

    /** Everything still in the send queue comes back as flushed. */
    void flush() {
        long tail = send.queue.tail();
        while (send.oldest < tail) {
            push(send.slot(send.oldest), WorkCompletionStatus.WR_FLUSH_ERR, WorkCompletionOpcode.SEND, 0, 0);
            send.oldest++;
        }
        send.started = tail;
        send.cursorWqe = tail;
        send.cursorPacket = 0;
        send.unackedPsn = send.highPsn;
    }
}
