// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.verbena.transport.queue.SendSlot;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.AtomicEth;
import io.verbena.wire.ib.FlushEth;
import io.verbena.wire.ib.Ieth;
import io.verbena.wire.ib.ImmDt;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.ib.Reth;
import io.verbena.wire.ib.XrcEth;
import java.lang.foreign.MemorySegment;

/**
 * Makes request packets of the send queue of a reliable connection (IBTA volume 1, 9.7.1 to 9.7.3). Each call makes one
 * packet, at the cursor; a retransmission is the cursor set back, gathered again from memory.
 */
final class Requester {
    /** An acknowledgement is asked for at least this often within a message, so that the window moves. */
    private static final int PACKETS_PER_ACK_REQUEST_MAX = 32;

    private final RcQueuePair qp;
    private final SendState send;
    private final LocalOperations local;
    /** How many packets of the path MTU may be sent before an acknowledgement is asked for. */
    private int packetsPerAckRequest = 1;
    /**
     * A READ is asked for in parts of so many packets from its start on. Parts never move: a responder remembers what
     * it was asked and answers a repetition only when it lies inside (rxe and this project's own).
     */
    private int packetsPerRead = 1;

    Requester(RcQueuePair qp, SendState send) {
        this.qp = qp;
        this.send = send;
        this.local = new LocalOperations(qp);
    }

    /** Takes in a new path MTU and READ depth. */
    void pathChanged() {
        long quarter = PathWindow.REQUEST_LIMIT_MAX / PathWindow.cost(qp.mtu) / 4;
        packetsPerAckRequest = (int) Math.max(1, Math.min(PACKETS_PER_ACK_REQUEST_MAX, quarter));
        long parts = Math.min(2, Math.max(1, qp.maxRdAtomic));
        packetsPerRead = (int) Math.max(1, PathWindow.READ_LIMIT_MAX / PathWindow.cost(qp.mtu) / parts);
    }

    /** Writes the next request packet; false when there is none to send now. */
    boolean emit(long now, Frame frame) {
        if (!qp.sends() || send.rnrWaiting || send.localError != null) {
            return false;
        }
        // In SQD what is under way goes on, and nothing begins (IBTA volume 1, 10.3.1.5).
        while (send.cursorWqe == send.started) {
            if (qp.state == QueuePairState.SQD || !start()) {
                return false;
            }
        }
        long slot = send.slot(send.cursorWqe);
        SendOpcode opcode = SendOpcode.ofOrdinal(SendSlot.opcode(send.ring, slot));
        return switch (opcode) {
            case SEND, SEND_WITH_IMM, SEND_WITH_INV, RDMA_WRITE, RDMA_WRITE_WITH_IMM ->
                emitData(now, frame, slot, opcode);
            case RDMA_READ -> emitRead(now, frame, slot);
            case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> emitAtomic(now, frame, slot, opcode);
            case FLUSH -> emitFlush(now, frame, slot);
            case ATOMIC_WRITE -> emitAtomicWrite(now, frame, slot);
            case LOCAL_INV, BIND_MW -> throw new AssertionError("begun and done at once");
        };
    }

    /** Gives PSNs to the request at the cursor, or carries it out when it needs none; false when it may not begin. */
    private boolean start() {
        if (send.cursorWqe == send.queue.tail()) {
            return false;
        }
        long slot = send.slot(send.cursorWqe);
        SendOpcode opcode = SendOpcode.ofOrdinal(SendSlot.opcode(send.ring, slot));
        if ((SendSlot.flags(send.ring, slot) & SendFlags.FENCE) != 0 && send.readsOutstanding() > 0) {
            return false;
        }
        if (opcode.isLocal()) {
            return startLocal(slot, opcode);
        }
        if (opcode.isAnswered() && qp.maxRdAtomic == 0) {
            return localError(WorkCompletionStatus.LOC_QP_OP_ERR);
        }
        if (!checkLocal(slot, opcode)) {
            return localError(WorkCompletionStatus.LOC_PROT_ERR);
        }
        boolean single = opcode.isAnswered() && opcode != SendOpcode.RDMA_READ;
        int packets = single ? 1 : OutboundData.packets(SendSlot.length(send.ring, slot), qp.mtu);
        if (Psn.add(send.nextPsn, -send.unackedPsn) + (long) packets > Psn.WINDOW_MAX && send.oldest < send.started) {
            return false;
        }
        SendSlot.psns(send.ring, slot, send.nextPsn, packets);
        send.nextPsn = Psn.add(send.nextPsn, packets);
        send.started++;
        return true;
    }

    /**
     * Carries a request of this side alone out, once: it has no packets, so a retransmission passes over it. An
     * invalidation waits until all before it is complete, because that may be for the window (rxe does the same).
     */
    private boolean startLocal(long slot, SendOpcode opcode) {
        if (opcode == SendOpcode.LOCAL_INV && send.oldest != send.cursorWqe) {
            return false;
        }
        WorkCompletionStatus status = local.carryOut(slot, opcode);
        if (status != WorkCompletionStatus.SUCCESS) {
            return localError(status);
        }
        SendSlot.psns(send.ring, slot, send.nextPsn, 0);
        send.started++;
        send.cursorWqe++;
        qp.completer.retireLocal();
        return true;
    }

    private boolean localError(WorkCompletionStatus status) {
        send.localError = status;
        qp.completer.reportLocalError();
        return false;
    }

    /** Whether every entry names registered memory that may be used for this. */
    private boolean checkLocal(long slot, SendOpcode opcode) {
        if (SendSlot.inline(send.ring, slot)) {
            return true;
        }
        int right = opcode.writesLocally() ? AccessFlag.LOCAL_WRITE.code() : 0;
        int count = SendSlot.sgeCount(send.ring, slot);
        return qp.scatterGather.check(send.ring, slot + SendSlot.HEADER_BYTES, count, right);
    }

    private boolean emitData(long now, Frame frame, long slot, SendOpcode operation) {
        MemorySegment ring = send.ring;
        long length = SendSlot.length(ring, slot);
        int packets = SendSlot.packets(ring, slot);
        long at = (long) send.cursorPacket * qp.mtu;
        int payload = (int) Math.min(qp.mtu, length - at);
        long cost = PathWindow.cost(payload);
        if (!admit(cost)) {
            return false;
        }
        boolean last = send.cursorPacket == packets - 1;
        Opcode opcode = qp.wire(OutboundData.opcode(operation, send.cursorPacket == 0, last));
        MemorySegment out = frame.buffer();
        long bth = frame.offset() + qp.port.encapsulation().headroom();
        if (opcode.hasReth()) {
            writeReth(out, bth + opcode.rethOffset(), slot);
        }
        if (opcode.hasImmediate()) {
            ImmDt.write(out, bth + opcode.immediateOffset(), SendSlot.immediate(ring, slot));
        }
        if (opcode.hasIeth()) {
            Ieth.write(out, bth + opcode.iethOffset(), SendSlot.rkey(ring, slot));
        }
        long body = bth + opcode.headerBytes();
        if (payload > 0 && !OutboundData.gather(qp, send.ring, slot, at, out, body, payload)) {
            return localError(WorkCompletionStatus.LOC_PROT_ERR);
        }
        boolean solicited =
                last && (SendSlot.flags(ring, slot) & SendFlags.SOLICITED) != 0 && operation != SendOpcode.RDMA_WRITE;
        boolean ackRequest =
                last || ++send.packetsSinceAckRequest >= packetsPerAckRequest || !qp.window.admitsRequest(2 * cost);
        if (ackRequest) {
            send.packetsSinceAckRequest = 0;
        }
        charge(cost);
        finish(now, frame, bth, opcode, solicited, ackRequest, opcode.headerBytes() + payload, 1);
        return true;
    }

    /**
     * Asks for the next part of a READ: answers are not acknowledged, so asking piece by piece is what keeps them from
     * overflowing this side's socket.
     */
    private boolean emitRead(long now, Frame frame, long slot) {
        if (send.readsOutstanding() >= qp.maxRdAtomic) {
            return false;
        }
        MemorySegment ring = send.ring;
        int partEnd = (send.cursorPacket / packetsPerRead + 1) * packetsPerRead;
        int packets = Math.min(partEnd, SendSlot.packets(ring, slot)) - send.cursorPacket;
        long cost = packets * PathWindow.cost(qp.mtu);
        if (!qp.window.admitsRead(cost) || (qp.window.isReadAwaited() && !qp.windowTurn)) {
            return blockOnWindow(true, cost);
        }
        long at = (long) send.cursorPacket * qp.mtu;
        long bytes = Math.min((long) packets * qp.mtu, SendSlot.length(ring, slot) - at);
        MemorySegment out = frame.buffer();
        long bth = frame.offset() + qp.port.encapsulation().headroom();
        Opcode opcode = qp.wire(Opcode.RC_READ_REQUEST);
        Reth.write(
                out,
                bth + opcode.rethOffset(),
                SendSlot.remoteAddress(ring, slot) + at,
                SendSlot.rkey(ring, slot),
                bytes);
        qp.window.chargeRead(cost);
        send.pushRead(Psn.add(send.cursorPsn, packets), cost);
        finish(now, frame, bth, opcode, false, true, opcode.headerBytes(), packets);
        return true;
    }

    /**
     * Whether the packet of a READ's answer that begins at byte {@code at} is the last of the part that was asked for.
     */
    boolean endsRead(long slot, long at) {
        int next = (int) (at / qp.mtu) + 1;
        return next % packetsPerRead == 0 || next == SendSlot.packets(send.ring, slot);
    }

    private boolean emitAtomic(long now, Frame frame, long slot, SendOpcode operation) {
        if (send.readsOutstanding() >= qp.maxRdAtomic) {
            return false;
        }
        boolean swap = operation == SendOpcode.ATOMIC_CMP_AND_SWP;
        Opcode opcode = qp.wire(swap ? Opcode.RC_COMPARE_SWAP : Opcode.RC_FETCH_ADD);
        MemorySegment ring = send.ring;
        long bth = frame.offset() + qp.port.encapsulation().headroom();
        long compareAdd = SendSlot.compareAdd(ring, slot);
        AtomicEth.write(
                frame.buffer(),
                bth + opcode.atomicEthOffset(),
                SendSlot.remoteAddress(ring, slot),
                SendSlot.rkey(ring, slot),
                swap ? SendSlot.swap(ring, slot) : compareAdd,
                swap ? compareAdd : 0);
        chargeAnswer();
        finish(now, frame, bth, opcode, false, true, opcode.headerBytes(), 1);
        return true;
    }

    private boolean emitFlush(long now, Frame frame, long slot) {
        if (send.readsOutstanding() >= qp.maxRdAtomic) {
            return false;
        }
        Opcode opcode = qp.wire(Opcode.RC_FLUSH);
        MemorySegment ring = send.ring;
        MemorySegment out = frame.buffer();
        long bth = frame.offset() + qp.port.encapsulation().headroom();
        FlushEth.write(out, bth + opcode.flushEthOffset(), SendSlot.placement(ring, slot), SendSlot.scope(ring, slot));
        writeReth(out, bth + opcode.rethOffset(), slot);
        chargeAnswer();
        finish(now, frame, bth, opcode, false, true, opcode.headerBytes(), 1);
        return true;
    }

    private boolean emitAtomicWrite(long now, Frame frame, long slot) {
        if (send.readsOutstanding() >= qp.maxRdAtomic) {
            return false;
        }
        Opcode opcode = qp.wire(Opcode.RC_ATOMIC_WRITE);
        MemorySegment out = frame.buffer();
        long bth = frame.offset() + qp.port.encapsulation().headroom();
        writeReth(out, bth + opcode.rethOffset(), slot);
        out.set(JAVA_LONG_UNALIGNED, bth + opcode.headerBytes(), SendSlot.compareAdd(send.ring, slot));
        chargeAnswer();
        finish(now, frame, bth, opcode, false, true, opcode.headerBytes() + Long.BYTES, 1);
        return true;
    }

    /** What the request names at the peer, from its start to its end. */
    private void writeReth(MemorySegment out, long at, long slot) {
        MemorySegment ring = send.ring;
        Reth.write(out, at, SendSlot.remoteAddress(ring, slot), SendSlot.rkey(ring, slot), SendSlot.length(ring, slot));
    }

    /** The request at the cursor will be answered by one packet. */
    private void chargeAnswer() {
        long cost = PathWindow.cost(0);
        qp.window.chargeRead(cost);
        send.pushRead(Psn.add(send.cursorPsn, 1), cost);
    }

    /** Writes the BTH, pads and seals the frame and moves the cursor by {@code psns}. */
    private void finish(
            long now,
            Frame frame,
            long bth,
            Opcode opcode,
            boolean solicited,
            boolean ackRequest,
            int bytes,
            int psns) {
        if (opcode.hasXrcEth()) {
            long slot = send.slot(send.cursorWqe);
            XrcEth.write(frame.buffer(), bth + opcode.xrcEthOffset(), SendSlot.sharedReceiveQueue(send.ring, slot));
        }
        qp.writeFrame(frame, bth, opcode, solicited, ackRequest, send.cursorPsn, bytes);
        if (Psn.diff(send.highPsn, send.cursorPsn) > 0) {
            qp.port.count(Counter.RETRANSMITTED_PACKETS);
        }
        send.cursorPsn = Psn.add(send.cursorPsn, psns);
        if (Psn.diff(send.cursorPsn, send.highPsn) > 0) {
            send.highPsn = send.cursorPsn;
        }
        send.cursorPacket += psns;
        if (send.cursorPacket == SendSlot.packets(send.ring, send.slot(send.cursorWqe))) {
            send.nextRequest();
        }
        qp.armRetransmit(now);
    }

    private boolean admit(long cost) {
        boolean turn = qp.windowTurn || !qp.window.isRequestAwaited();
        return (turn && qp.window.admitsRequest(cost)) || blockOnWindow(false, cost);
    }

    private boolean blockOnWindow(boolean read, long cost) {
        qp.windowBlocked = true;
        qp.windowBlockedRead = read;
        qp.windowBlockedCost = cost;
        return false;
    }

    private void charge(long cost) {
        qp.window.chargeRequest(cost);
        send.chargedRequests += cost;
    }
}
