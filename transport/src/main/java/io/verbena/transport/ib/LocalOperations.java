// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.memory.KeyTable;
import io.verbena.transport.queue.SendSlot;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.MemorySegment;

/**
 * Carries out what a send queue holds for this side alone: binding and invalidating memory windows (IBTA volume 1,
 * 10.6.7.2 and 10.8.2.5). No packet belongs to it.
 */
final class LocalOperations {
    private final IbQueuePair qp;
    private final MemorySegment ring;

    LocalOperations(IbQueuePair qp) {
        this.qp = qp;
        this.ring = qp.sendQueue.ring();
    }

    /** Anything but SUCCESS has changed nothing. */
    WorkCompletionStatus carryOut(long slot, SendOpcode operation) {
        KeyTable keys = qp.port.keys();
        int rkey = SendSlot.rkey(ring, slot);
        if (operation == SendOpcode.LOCAL_INV) {
            return keys.invalidate(rkey, qp.protectionDomain, qp)
                    ? WorkCompletionStatus.SUCCESS
                    : WorkCompletionStatus.LOC_QP_OP_ERR;
        }
        return keys.bind(
                        rkey,
                        SendSlot.lkey(ring, slot),
                        SendSlot.remoteAddress(ring, slot),
                        SendSlot.bindLength(ring, slot),
                        SendSlot.access(ring, slot),
                        qp.protectionDomain,
                        qp)
                ? WorkCompletionStatus.SUCCESS
                : WorkCompletionStatus.MW_BIND_ERR;
    }
}
