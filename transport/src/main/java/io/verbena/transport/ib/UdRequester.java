// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.encap.Path;
import io.verbena.transport.queue.SendSlot;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Deth;
import io.verbena.wire.ib.ImmDt;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.MemorySegment;

/** Makes datagrams: one packet each, to the destination that the request names (IBTA volume 1, 9.8.3). */
final class UdRequester extends UnreliableRequester {
    private final IbQueuePair qp;

    UdRequester(IbQueuePair qp) {
        super(qp);
        this.qp = qp;
    }

    @Override
    int packets(long slot) {
        return 1;
    }

    @Override
    WorkCompletionStatus write(Frame frame, long slot, SendOpcode operation, int index, int count) {
        int payload = (int) SendSlot.length(ring, slot);
        Path way = qp.port.addressHandles().find(SendSlot.addressHandle(ring, slot), qp.protectionDomain);
        if (way == null || !operation.isSend()) {
            return WorkCompletionStatus.LOC_QP_OP_ERR;
        }
        Opcode opcode = operation == SendOpcode.SEND_WITH_IMM ? Opcode.UD_SEND_ONLY_IMM : Opcode.UD_SEND_ONLY;
        MemorySegment out = frame.buffer();
        long bth = frame.offset() + qp.port.encapsulation().headroom();
        // The highest bit says: the queue pair's own (IBTA volume 1, 10.2.5).
        int named = SendSlot.qkey(ring, slot);
        Deth.write(out, bth + opcode.dethOffset(), named < 0 ? qp.qkey : named, qp.qpNumber);
        if (opcode.hasImmediate()) {
            ImmDt.write(out, bth + opcode.immediateOffset(), SendSlot.immediate(ring, slot));
        }
        long body = bth + opcode.headerBytes();
        if (payload > 0 && !OutboundData.gather(qp, ring, slot, 0, out, body, payload)) {
            return WorkCompletionStatus.LOC_PROT_ERR;
        }
        boolean solicited = (SendSlot.flags(ring, slot) & SendFlags.SOLICITED) != 0;
        int remoteQp = SendSlot.destinationQp(ring, slot);
        qp.writeFrame(frame, way, remoteQp, bth, opcode, solicited, false, nextPsn, opcode.headerBytes() + payload);
        return WorkCompletionStatus.SUCCESS;
    }
}
