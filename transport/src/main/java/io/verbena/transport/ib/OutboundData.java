// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.queue.SendSlot;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.MemorySegment;

/** What the packets of a SEND or WRITE are made of, on all connected services. */
final class OutboundData {
    private OutboundData() {}

    /** The opcode of RC for a packet of a message. */
    static Opcode opcode(SendOpcode operation, boolean first, boolean last) {
        return operation.isSend() ? ofSend(operation, first, last) : ofWrite(operation, first, last);
    }

    private static Opcode ofSend(SendOpcode operation, boolean first, boolean last) {
        if (!last) {
            return first ? Opcode.RC_SEND_FIRST : Opcode.RC_SEND_MIDDLE;
        }
        return switch (operation) {
            case SEND_WITH_IMM -> first ? Opcode.RC_SEND_ONLY_IMM : Opcode.RC_SEND_LAST_IMM;
            case SEND_WITH_INV -> first ? Opcode.RC_SEND_ONLY_INV : Opcode.RC_SEND_LAST_INV;
            default -> first ? Opcode.RC_SEND_ONLY : Opcode.RC_SEND_LAST;
        };
    }

    private static Opcode ofWrite(SendOpcode operation, boolean first, boolean last) {
        if (!last) {
            return first ? Opcode.RC_WRITE_FIRST : Opcode.RC_WRITE_MIDDLE;
        }
        if (operation == SendOpcode.RDMA_WRITE_WITH_IMM) {
            return first ? Opcode.RC_WRITE_ONLY_IMM : Opcode.RC_WRITE_LAST_IMM;
        }
        return first ? Opcode.RC_WRITE_ONLY : Opcode.RC_WRITE_LAST;
    }

    /** What the completion of an operation says. */
    static WorkCompletionOpcode completionOpcode(SendOpcode opcode) {
        return switch (opcode) {
            case SEND, SEND_WITH_IMM, SEND_WITH_INV -> WorkCompletionOpcode.SEND;
            case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> WorkCompletionOpcode.RDMA_WRITE;
            case RDMA_READ -> WorkCompletionOpcode.RDMA_READ;
            case ATOMIC_CMP_AND_SWP -> WorkCompletionOpcode.COMP_SWAP;
            case ATOMIC_FETCH_AND_ADD -> WorkCompletionOpcode.FETCH_ADD;
            case LOCAL_INV -> WorkCompletionOpcode.LOCAL_INV;
            case BIND_MW -> WorkCompletionOpcode.BIND_MW;
            case FLUSH -> WorkCompletionOpcode.FLUSH;
            case ATOMIC_WRITE -> WorkCompletionOpcode.ATOMIC_WRITE;
        };
    }

    /** Copies a stretch of the message from the entries of the slot, or from the slot itself when inline. */
    static boolean gather(
            IbQueuePair qp, MemorySegment ring, long slot, long from, MemorySegment out, long outOffset, int bytes) {
        long list = slot + SendSlot.HEADER_BYTES;
        if (SendSlot.inline(ring, slot)) {
            MemorySegment.copy(ring, list + from, out, outOffset, bytes);
            return true;
        }
        return qp.scatterGather.gather(ring, list, SendSlot.sgeCount(ring, slot), from, out, outOffset, bytes);
    }

    /** The number of packets of a message. */
    static int packets(long bytes, int mtu) {
        return (int) Math.max(1, (bytes + mtu - 1) / mtu);
    }
}
