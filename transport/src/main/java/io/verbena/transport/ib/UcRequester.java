// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.queue.SendSlot;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.ImmDt;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.ib.Reth;
import java.lang.foreign.MemorySegment;

/** Makes the packets of an unreliable connection: SENDs and WRITEs, numbered, never repeated. */
final class UcRequester extends UnreliableRequester {
    /** The opcodes of UC are those of RC with this bit (IBTA volume 1, table 38). */
    private static final int UC_BITS = 0x20;

    private final IbQueuePair qp;

    UcRequester(IbQueuePair qp) {
        super(qp);
        this.qp = qp;
    }

    @Override
    int packets(long slot) {
        return OutboundData.packets(SendSlot.length(ring, slot), qp.mtu);
    }

    @Override
    WorkCompletionStatus write(Frame frame, long slot, SendOpcode operation, int index, int count) {
        boolean last = index == count - 1;
        Opcode opcode =
                Opcode.of(OutboundData.opcode(operation, index == 0, last).code() | UC_BITS);
        if (opcode == null || !(operation.isSend() || operation.isWrite())) {
            return WorkCompletionStatus.LOC_QP_OP_ERR;
        }
        long length = SendSlot.length(ring, slot);
        long at = (long) index * qp.mtu;
        int payload = (int) Math.min(qp.mtu, length - at);
        MemorySegment out = frame.buffer();
        long bth = frame.offset() + qp.port.encapsulation().headroom();
        if (opcode.hasReth()) {
            long remote = SendSlot.remoteAddress(ring, slot);
            Reth.write(out, bth + opcode.rethOffset(), remote, SendSlot.rkey(ring, slot), length);
        }
        if (opcode.hasImmediate()) {
            ImmDt.write(out, bth + opcode.immediateOffset(), SendSlot.immediate(ring, slot));
        }
        long body = bth + opcode.headerBytes();
        if (payload > 0 && !OutboundData.gather(qp, ring, slot, at, out, body, payload)) {
            return WorkCompletionStatus.LOC_PROT_ERR;
        }
        boolean solicited =
                last && (SendSlot.flags(ring, slot) & SendFlags.SOLICITED) != 0 && operation != SendOpcode.RDMA_WRITE;
        qp.writeFrame(frame, bth, opcode, solicited, false, nextPsn, opcode.headerBytes() + payload);
        return WorkCompletionStatus.SUCCESS;
    }
}
