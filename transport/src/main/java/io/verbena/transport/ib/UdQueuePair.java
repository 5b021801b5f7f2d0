// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.QueuePairAttribute;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Deth;
import io.verbena.wire.ib.ImmDt;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair for datagrams: takes those that name its Q_Key, from anybody (IBTA volume 1, 9.8.3). One that does not
 * fit the receive is dropped.
 */
final class UdQueuePair extends IbQueuePair {
    private final UdRequester requester;

    UdQueuePair(IbPort port, int handle, int qpNumber, QueuePairSetup setup) {
        super(port, handle, qpNumber, setup);
        this.requester = new UdRequester(this);
    }

    @Override
    Opcode.Service service() {
        return Opcode.Service.UD;
    }

    @Override
    @Nullable
    Counter refuses(Frame frame, long bth, Opcode opcode) {
        return Deth.queueKey(frame.buffer(), bth + opcode.dethOffset()) == qkey ? null : Counter.DROP_WRONG_QKEY;
    }

    @Override
    void onPacket(long now, Frame frame, long bth, Opcode opcode, int payload) {
        communicationEstablished();
        if (!receives.take()) {
            port.count(Counter.DROP_NO_RECEIVE);
            return;
        }
        int bytes = GlobalRouteHeader.BYTES + payload;
        if (receives.room() < bytes) {
            port.count(Counter.DROP_RECEIVE_TOO_SHORT);
            receives.drop(WorkCompletionStatus.LOC_LEN_ERR);
            return;
        }
        MemorySegment in = frame.buffer();
        port.encapsulation().globalRouteHeader(frame, port.scratch(), 0);
        if (!receives.scatter(0, port.scratch(), 0, GlobalRouteHeader.BYTES)
                || !receives.scatter(GlobalRouteHeader.BYTES, in, bth + opcode.headerBytes(), payload)) {
            receives.fail(WorkCompletionStatus.LOC_PROT_ERR, 0);
            enterError();
            return;
        }
        int flags = WorkCompletion.WITH_GRH;
        int immediate = 0;
        if (opcode.hasImmediate()) {
            flags |= WorkCompletion.WITH_IMMEDIATE;
            immediate = ImmDt.value(in, bth + opcode.immediateOffset());
        }
        int sourceQp = Deth.sourceQp(in, bth + opcode.dethOffset());
        boolean solicited = Bth.solicited(in, bth);
        receives.complete(WorkCompletionOpcode.RECV, flags, solicited, immediate, bytes, sourceQp);
    }

    @Override
    boolean emit(long now, Frame frame) {
        return requester.emit(frame);
    }

    @Override
    void apply(QueuePairChange change) {
        change.applyTo(this);
        if (change.attributes().has(QueuePairAttribute.SQ_PSN)) {
            requester.nextPsn = change.attributes().sqPsn();
        }
    }

    @Override
    void resetService() {
        requester.reset();
    }

    @Override
    void flushSends() {
        requester.flush();
    }

    @Override
    boolean idle() {
        return requester.idle();
    }

    @Override
    public int nextPsn() {
        return requester.nextPsn;
    }

    @Override
    public int expectedPsn() {
        return 0;
    }
}
