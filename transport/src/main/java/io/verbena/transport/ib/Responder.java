// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.memory.AccessVerdict;
import io.verbena.transport.memory.KeyTable;
import io.verbena.transport.memory.Placement;
import io.verbena.transport.memory.Region;
import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.SgeList;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Aeth;
import io.verbena.wire.ib.AtomicEth;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.ImmDt;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.ib.Reth;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Carries out the requests that arrive at a reliable connection: a pipeline of checks, each of which returns a verdict,
 * and one place that acts on verdicts (IBTA volume 1, 9.7.4 and figure "Responder packet validation"). Answers are made
 * by {@link ResponderOutput}.
 */
final class Responder {
    /** The largest message: 2^31 bytes (IBTA volume 1, 9.7.4.1.6). */
    private static final long MESSAGE_MAX = 1L << 31;

    private final RcQueuePair qp;
    private final ResponderOutput output;
    final ResponderResources resources = new ResponderResources();
    private final WorkQueue receives;
    private final MemorySegment ring;

    /** The PSN of the next request packet. */
    int expectedPsn;
    /** Requests completed, modulo 2^24. */
    int msn;
    /** A NAK for {@link #expectedPsn} is out; the rest of that flight is dropped without another. */
    private boolean nakSent;

    /** The operation of the message under way, null between messages. */
    private Opcode.@Nullable Operation message;

    /** Bytes of the message placed so far. */
    private long placed;

    private long writeAddress;
    private long writeLength;
    private int writeKey;

    /** The next receive to take; the one at {@code receiveHead - 1} is in use while {@link #receiveTaken}. */
    private long receiveHead;

    private boolean receiveTaken;

    Responder(RcQueuePair qp, WorkQueue receives) {
        this.qp = qp;
        this.receives = receives;
        this.ring = receives.ring();
        this.output = new ResponderOutput(qp, this);
    }

    ResponderOutput output() {
        return output;
    }

    void reset() {
        receiveHead = receives.tail();
        receives.release(receiveHead);
        receiveTaken = false;
        message = null;
        nakSent = false;
        msn = 0;
        resources.clear();
        output.reset();
    }

    /** A request packet whose outer parts are good. */
    void onRequest(Frame frame, long bth, Opcode opcode, int psn, int payload) {
        if (qp.state == QueuePairState.RTR) {
            qp.communicationEstablished();
        }
        RequestVerdict verdict = checkPsn(frame, bth, opcode, psn, payload);
        if (verdict == RequestVerdict.OK) {
            verdict = checkOrder(opcode);
        }
        if (verdict == RequestVerdict.OK) {
            verdict = checkEnabled(opcode);
        }
        if (verdict == RequestVerdict.OK) {
            verdict = switch (opcode.operation()) {
                case SEND -> onSend(frame, bth, opcode, payload);
                case WRITE -> onWrite(frame, bth, opcode, payload);
                case READ_REQUEST -> onRead(frame, bth, opcode, psn);
                case COMPARE_SWAP, FETCH_ADD -> onAtomic(frame, bth, opcode, psn);
                default -> RequestVerdict.OPERATION_NOT_ENABLED;
            };
        }
        act(verdict, frame, bth, opcode, psn);
    }

    /** The one place where verdicts turn into acknowledgements, NAKs, completions and the error state. */
    private void act(RequestVerdict verdict, Frame frame, long bth, Opcode opcode, int psn) {
        switch (verdict) {
            case DONE -> {}
            case OK -> {
                nakSent = false;
                if (opcode.operation() != Opcode.Operation.READ_REQUEST) {
                    expectedPsn = Psn.add(expectedPsn, 1);
                }
                boolean answeredAnyway =
                        opcode.operation() != Opcode.Operation.SEND && opcode.operation() != Opcode.Operation.WRITE;
                if (!answeredAnyway && Bth.ackRequest(frame.buffer(), bth)) {
                    output.acknowledge(psn);
                }
            }
            case OUT_OF_SEQUENCE -> {
                if (nakSent) {
                    qp.port.count(Counter.DROP_OUT_OF_SEQUENCE);
                } else {
                    nakSent = true;
                    qp.port.count(Counter.SEQUENCE_NAKS_SENT);
                    output.negative(expectedPsn, verdict.syndrome());
                }
            }
            case RECEIVER_NOT_READY -> {
                nakSent = true;
                qp.port.count(Counter.RNR_NAKS_SENT);
                output.negative(psn, verdict.syndrome() | qp.minRnrTimer);
            }
            case WRONG_ORDER,
                    OPERATION_NOT_ENABLED,
                    WRONG_LENGTH,
                    UNALIGNED_ATOMIC,
                    TOO_MANY_READS,
                    REMOTE_ACCESS,
                    RECEIVE_TOO_SHORT,
                    RECEIVE_NOT_WRITABLE -> fatal(verdict, psn);
        }
    }

    private void fatal(RequestVerdict verdict, int psn) {
        output.negative(psn, verdict.syndrome());
        WorkCompletionStatus status = verdict.receiveStatus();
        if (receiveTaken && status != null) {
            receiveTaken = false;
            pushReceive(receiveHead - 1, status, WorkCompletionOpcode.RECV, 0, false, 0, 0, verdict.syndrome());
        } else {
            qp.accessError(verdict);
        }
        qp.enterError();
    }

    private RequestVerdict checkPsn(Frame frame, long bth, Opcode opcode, int psn, int payload) {
        int ahead = Psn.diff(psn, expectedPsn);
        if (ahead > 0) {
            return RequestVerdict.OUT_OF_SEQUENCE;
        }
        if (ahead < 0) {
            onDuplicate(frame, bth, opcode, psn);
            return RequestVerdict.DONE;
        }
        boolean wrong = opcode.position() == Opcode.Position.ONLY
                ? payload > qp.mtu
                : opcode.ends() ? payload == 0 || payload > qp.mtu : payload != qp.mtu;
        return wrong ? RequestVerdict.WRONG_LENGTH : RequestVerdict.OK;
    }

    private RequestVerdict checkOrder(Opcode opcode) {
        boolean fits = opcode.starts() ? message == null : message == opcode.operation();
        return fits ? RequestVerdict.OK : RequestVerdict.WRONG_ORDER;
    }

    private RequestVerdict checkEnabled(Opcode opcode) {
        int needed = switch (opcode.operation()) {
            case WRITE -> AccessFlag.REMOTE_WRITE.code();
            case READ_REQUEST -> AccessFlag.REMOTE_READ.code();
            case COMPARE_SWAP, FETCH_ADD -> AccessFlag.REMOTE_ATOMIC.code();
            default -> 0;
        };
        return (qp.accessFlags & needed) == needed ? RequestVerdict.OK : RequestVerdict.OPERATION_NOT_ENABLED;
    }

    private RequestVerdict onSend(Frame frame, long bth, Opcode opcode, int payload) {
        if (opcode.hasIeth()) {
            // No key can be invalidated by a peer yet: that takes memory windows.
            return RequestVerdict.OPERATION_NOT_ENABLED;
        }
        if (opcode.starts()) {
            if (!takeReceive()) {
                return RequestVerdict.RECEIVER_NOT_READY;
            }
            placed = 0;
        }
        if (payload > 0) {
            long slot = receives.offset(receiveHead - 1);
            long list = slot + ReceiveSlot.HEADER_BYTES;
            int entries = ReceiveSlot.sgeCount(ring, slot);
            if (placed + payload > SgeList.total(ring, list, entries)) {
                return RequestVerdict.RECEIVE_TOO_SHORT;
            }
            long body = bth + opcode.headerBytes();
            if (!qp.scatterGather.scatter(ring, list, entries, placed, frame.buffer(), body, payload)) {
                return RequestVerdict.RECEIVE_NOT_WRITABLE;
            }
            placed += payload;
        }
        message = opcode.ends() ? null : Opcode.Operation.SEND;
        if (opcode.ends()) {
            msn = Psn.add(msn, 1);
            completeReceive(frame, bth, opcode, WorkCompletionOpcode.RECV, placed);
        }
        return RequestVerdict.OK;
    }

    private RequestVerdict onWrite(Frame frame, long bth, Opcode opcode, int payload) {
        MemorySegment in = frame.buffer();
        if (opcode.starts()) {
            long reth = bth + opcode.rethOffset();
            long bytes = Reth.length(in, reth);
            long address = Reth.virtualAddress(in, reth);
            int key = Reth.rkey(in, reth);
            if (bytes > MESSAGE_MAX) {
                return RequestVerdict.WRONG_LENGTH;
            }
            // A WRITE of nothing names no memory (IBTA volume 1, 9.7.4.1.5).
            if (bytes > 0 && checkRemote(key, AccessFlag.REMOTE_WRITE, address, bytes) != AccessVerdict.OK) {
                return RequestVerdict.REMOTE_ACCESS;
            }
            writeAddress = address;
            writeLength = bytes;
            writeKey = key;
            placed = 0;
        }
        long rest = writeLength - placed;
        if (opcode.ends() ? payload != rest : payload >= rest) {
            return RequestVerdict.WRONG_LENGTH;
        }
        if (opcode.hasImmediate() && !takeReceive()) {
            return RequestVerdict.RECEIVER_NOT_READY;
        }
        if (payload > 0 && !placeWrite(in, bth + opcode.headerBytes(), payload)) {
            return RequestVerdict.REMOTE_ACCESS;
        }
        placed += payload;
        message = opcode.ends() ? null : Opcode.Operation.WRITE;
        if (opcode.ends()) {
            msn = Psn.add(msn, 1);
            if (opcode.hasImmediate()) {
                completeReceive(frame, bth, opcode, WorkCompletionOpcode.RECV_RDMA_WITH_IMM, writeLength);
            }
        }
        return RequestVerdict.OK;
    }

    /**
     * The region is looked up for each packet: one that is deregistered in the middle of a message is not written any
     * more.
     */
    private boolean placeWrite(MemorySegment in, long body, int payload) {
        Region region = qp.port.keys().remote(writeKey);
        long address = writeAddress + placed;
        return KeyTable.check(region, qp.protectionDomain, AccessFlag.REMOTE_WRITE.code(), address, payload)
                        == AccessVerdict.OK
                && region != null
                && (Placement.place(in, body, region, address, payload)
                        || qp.port.keys().vanished());
    }

    private RequestVerdict onRead(Frame frame, long bth, Opcode opcode, int psn) {
        if (resources.full()) {
            return RequestVerdict.TOO_MANY_READS;
        }
        MemorySegment in = frame.buffer();
        long reth = bth + opcode.rethOffset();
        long bytes = Reth.length(in, reth);
        long address = Reth.virtualAddress(in, reth);
        int key = Reth.rkey(in, reth);
        if (bytes > MESSAGE_MAX) {
            return RequestVerdict.WRONG_LENGTH;
        }
        if (bytes > 0 && checkRemote(key, AccessFlag.REMOTE_READ, address, bytes) != AccessVerdict.OK) {
            return RequestVerdict.REMOTE_ACCESS;
        }
        int packets = packetsOf(bytes);
        resources.addRead(psn, packets, address, bytes, key);
        expectedPsn = Psn.add(expectedPsn, packets);
        msn = Psn.add(msn, 1);
        output.queueAnswer();
        return RequestVerdict.OK;
    }

    private RequestVerdict onAtomic(Frame frame, long bth, Opcode opcode, int psn) {
        if (resources.full()) {
            return RequestVerdict.TOO_MANY_READS;
        }
        MemorySegment in = frame.buffer();
        long eth = bth + opcode.atomicEthOffset();
        long address = AtomicEth.virtualAddress(in, eth);
        int key = AtomicEth.rkey(in, eth);
        if ((address & 7) != 0) {
            return RequestVerdict.UNALIGNED_ATOMIC;
        }
        Region region = qp.port.keys().remote(key);
        AccessVerdict access = checkRemote(key, AccessFlag.REMOTE_ATOMIC, address, Long.BYTES);
        if (access != AccessVerdict.OK || region == null) {
            return RequestVerdict.REMOTE_ACCESS;
        }
        long operand = AtomicEth.swapOrAdd(in, eth);
        long old;
        try {
            old = opcode.operation() == Opcode.Operation.FETCH_ADD
                    ? Placement.fetchAndAdd(region, address, operand)
                    : Placement.compareAndSwap(region, address, AtomicEth.compare(in, eth), operand);
        } catch (IllegalStateException | InternalError gone) {
            qp.port.keys().vanished();
            // Its arena was closed, or the file behind it shrank.
            return RequestVerdict.REMOTE_ACCESS;
        }
        msn = Psn.add(msn, 1);
        resources.addAtomic(psn, address, key, old);
        output.queueAnswer();
        return RequestVerdict.OK;
    }

    private AccessVerdict checkRemote(int rkey, AccessFlag right, long address, long bytes) {
        return KeyTable.check(qp.port.keys().remote(rkey), qp.protectionDomain, right.code(), address, bytes);
    }

    int packetsOf(long bytes) {
        return (int) Math.max(1, (bytes + qp.mtu - 1) / qp.mtu);
    }

    /**
     * A request that was carried out before: it is answered again and has no other effect (IBTA volume 1, 9.7.5.1.3).
     */
    private void onDuplicate(Frame frame, long bth, Opcode opcode, int psn) {
        qp.port.count(Counter.DUPLICATE_REQUESTS);
        switch (opcode.operation()) {
            case SEND, WRITE -> output.acknowledge(Psn.add(expectedPsn, -1));
            case READ_REQUEST -> repeatRead(frame, bth, opcode, psn);
            default -> {
                int at = resources.find(psn);
                if (at < 0 || !resources.isAtomic(at)) {
                    qp.port.count(Counter.DROP_STALE_DUPLICATE);
                    return;
                }
                resources.repeat(at, 0, 1, 0);
                output.queueAnswer();
            }
        }
    }

    private void repeatRead(Frame frame, long bth, Opcode opcode, int psn) {
        MemorySegment in = frame.buffer();
        long reth = bth + opcode.rethOffset();
        long bytes = Reth.length(in, reth);
        int at = resources.find(psn);
        if (at < 0 || resources.isAtomic(at) || resources.rkey(at) != Reth.rkey(in, reth)) {
            qp.port.count(Counter.DROP_STALE_DUPLICATE);
            return;
        }
        int packet = Psn.diff(psn, resources.firstPsn(at));
        long skipped = (long) packet * qp.mtu;
        boolean inside = Reth.virtualAddress(in, reth) == resources.address(at) + skipped
                && bytes <= resources.length(at) - skipped
                && packetsOf(bytes) <= resources.packets(at) - packet;
        if (!inside) {
            qp.port.count(Counter.DROP_STALE_DUPLICATE);
            return;
        }
        resources.repeat(at, packet, packetsOf(bytes), skipped + bytes);
        output.queueAnswer();
    }

    private boolean takeReceive() {
        if (receiveHead == receives.tail()) {
            return false;
        }
        receiveHead++;
        receiveTaken = true;
        return true;
    }

    private void completeReceive(Frame frame, long bth, Opcode opcode, WorkCompletionOpcode what, long bytes) {
        int flags = 0;
        int immediate = 0;
        if (opcode.hasImmediate()) {
            flags = WorkCompletion.WITH_IMMEDIATE;
            immediate = ImmDt.value(frame.buffer(), bth + opcode.immediateOffset());
        }
        receiveTaken = false;
        boolean solicited = Bth.solicited(frame.buffer(), bth);
        pushReceive(receiveHead - 1, WorkCompletionStatus.SUCCESS, what, flags, solicited, immediate, bytes, 0);
    }

    private void pushReceive(
            long index,
            WorkCompletionStatus status,
            WorkCompletionOpcode opcode,
            int flags,
            boolean solicited,
            int immediate,
            long bytes,
            int vendorError) {
        long wrId = ReceiveSlot.wrId(ring, receives.offset(index));
        receives.release(index + 1);
        qp.port.complete(qp.receiveRing, qp, wrId, status, opcode, flags, solicited, immediate, bytes, vendorError, -1);
    }

    /** Everything still in the receive queue, the message under way first, comes back as flushed. */
    void flush() {
        if (receiveTaken) {
            receiveTaken = false;
            receiveHead--;
        }
        long tail = receives.tail();
        while (receiveHead < tail) {
            pushReceive(receiveHead++, WorkCompletionStatus.WR_FLUSH_ERR, WorkCompletionOpcode.RECV, 0, false, 0, 0, 0);
        }
        message = null;
    }

    static int acknowledgement() {
        return Aeth.ACK | Aeth.ACK_UNLIMITED_CREDITS;
    }
}
