// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.memory.Placement;
import io.verbena.transport.memory.Region;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Ieth;
import io.verbena.wire.ib.ImmDt;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.ib.Reth;
import io.verbena.wire.ib.XrcEth;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The SEND or WRITE that arrives at a connected queue pair, placed packet by packet. The checks say what is wrong; what
 * follows from that is the service's business.
 */
final class InboundMessage {
    /** The largest message: 2^31 bytes (IBTA volume 1, 9.7.4.1.6). */
    static final long MESSAGE_MAX = 1L << 31;

    private final IbQueuePair qp;
    private final int xrcDomain;
    private final Receives receives;
    private final RemoteMemory memory;

    /** The operation of the message under way, null between messages. */
    private Opcode.@Nullable Operation operation;

    /** Bytes of the message placed so far. */
    private long placed;

    private long writeAddress;
    private long writeLength;
    private int writeKey;

    InboundMessage(IbQueuePair qp, int xrcDomain) {
        this.qp = qp;
        this.xrcDomain = xrcDomain;
        this.receives = qp.receives;
        this.memory = new RemoteMemory(qp);
    }

    /** Nothing is under way any more. A receive that was taken stays taken. */
    void abandon() {
        operation = null;
    }

    boolean underWay() {
        return operation != null;
    }

    /** Every packet but the last of a message is as long as the path MTU. */
    RequestVerdict checkLength(Opcode opcode, int payload) {
        boolean wrong = opcode.position() == Opcode.Position.ONLY
                ? payload > qp.mtu
                : opcode.ends() ? payload == 0 || payload > qp.mtu : payload != qp.mtu;
        return wrong ? RequestVerdict.WRONG_LENGTH : RequestVerdict.OK;
    }

    RequestVerdict checkOrder(Opcode opcode) {
        boolean fits = opcode.starts() ? operation == null : operation == opcode.operation();
        return fits ? RequestVerdict.OK : RequestVerdict.WRONG_ORDER;
    }

    RequestVerdict onSend(Frame frame, long bth, Opcode opcode, int payload) {
        if (opcode.starts()) {
            RequestVerdict verdict = takeReceive(frame, bth, opcode);
            if (verdict != RequestVerdict.OK) {
                return verdict;
            }
            placed = 0;
        }
        if (payload > 0) {
            if (placed + payload > receives.room()) {
                return RequestVerdict.RECEIVE_TOO_SHORT;
            }
            if (!receives.scatter(placed, frame.buffer(), bth + opcode.headerBytes(), payload)) {
                return RequestVerdict.RECEIVE_NOT_WRITABLE;
            }
            placed += payload;
        }
        if (opcode.hasIeth() && !memory.invalidate(Ieth.rkey(frame.buffer(), bth + opcode.iethOffset()))) {
            return RequestVerdict.NOT_INVALIDATED;
        }
        operation = opcode.ends() ? null : Opcode.Operation.SEND;
        if (opcode.ends()) {
            completeReceive(frame, bth, opcode, WorkCompletionOpcode.RECV, placed);
        }
        return RequestVerdict.OK;
    }

    RequestVerdict onWrite(Frame frame, long bth, Opcode opcode, int payload) {
        MemorySegment in = frame.buffer();
        if (opcode.starts()) {
            RequestVerdict verdict = beginWrite(in, bth + opcode.rethOffset());
            if (verdict != RequestVerdict.OK) {
                return verdict;
            }
        }
        long rest = writeLength - placed;
        if (opcode.ends() ? payload != rest : payload >= rest) {
            return RequestVerdict.WRONG_LENGTH;
        }
        if (opcode.hasImmediate()) {
            RequestVerdict verdict = takeReceive(frame, bth, opcode);
            if (verdict != RequestVerdict.OK) {
                return verdict;
            }
        }
        if (payload > 0 && !placeWrite(in, bth + opcode.headerBytes(), payload)) {
            return RequestVerdict.REMOTE_ACCESS;
        }
        placed += payload;
        operation = opcode.ends() ? null : Opcode.Operation.WRITE;
        if (opcode.hasImmediate()) {
            completeReceive(frame, bth, opcode, WorkCompletionOpcode.RECV_RDMA_WITH_IMM, writeLength);
        }
        return RequestVerdict.OK;
    }

    private RequestVerdict beginWrite(MemorySegment in, long reth) {
        long bytes = Reth.length(in, reth);
        long address = Reth.virtualAddress(in, reth);
        int key = Reth.rkey(in, reth);
        if (bytes > MESSAGE_MAX) {
            return RequestVerdict.WRONG_LENGTH;
        }
        // A WRITE of nothing names no memory (IBTA volume 1, 9.7.4.1.5).
        if (bytes > 0 && memory.find(key, AccessFlag.REMOTE_WRITE.code(), address, bytes) == null) {
            return RequestVerdict.REMOTE_ACCESS;
        }
        writeAddress = address;
        writeLength = bytes;
        writeKey = key;
        placed = 0;
        return RequestVerdict.OK;
    }

    private boolean placeWrite(MemorySegment in, long body, int payload) {
        long address = writeAddress + placed;
        Region region = memory.find(writeKey, AccessFlag.REMOTE_WRITE.code(), address, payload);
        return region != null && (Placement.place(in, body, region, address, payload) || memory.vanished());
    }

    private RequestVerdict takeReceive(Frame frame, long bth, Opcode opcode) {
        if (opcode.hasXrcEth()) {
            int number = XrcEth.sharedReceiveQueue(frame.buffer(), bth + opcode.xrcEthOffset());
            SharedReceives queue = qp.port.sharedReceives(number);
            if (queue == null || queue.xrcDomain() != xrcDomain) {
                return RequestVerdict.OPERATION_NOT_ENABLED;
            }
            receives.from(queue);
        }
        return receives.take() ? RequestVerdict.OK : RequestVerdict.RECEIVER_NOT_READY;
    }

    private void completeReceive(Frame frame, long bth, Opcode opcode, WorkCompletionOpcode what, long bytes) {
        int flags = 0;
        int immediate = 0;
        if (opcode.hasImmediate()) {
            flags = WorkCompletion.WITH_IMMEDIATE;
            immediate = ImmDt.value(frame.buffer(), bth + opcode.immediateOffset());
        } else if (opcode.hasIeth()) {
            flags = WorkCompletion.WITH_INVALIDATE;
            immediate = Ieth.rkey(frame.buffer(), bth + opcode.iethOffset());
        }
        receives.complete(what, flags, Bth.solicited(frame.buffer(), bth), immediate, bytes, 0);
    }
}
