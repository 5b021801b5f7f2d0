// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.verbs.QueuePairAttribute;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Opcode;

/** An unreliable connection. */
final class UcQueuePair extends IbQueuePair {
    private final UcRequester requester;
    private final UcResponder responder;

    UcQueuePair(IbPort port, int handle, int qpNumber, QueuePairSetup setup) {
        super(port, handle, qpNumber, setup);
        this.requester = new UcRequester(this);
        this.responder = new UcResponder(this);
    }

    @Override
    Opcode.Service service() {
        return Opcode.Service.UC;
    }

    @Override
    void onPacket(long now, Frame frame, long bth, Opcode opcode, int payload) {
        responder.onRequest(frame, bth, opcode, payload);
    }

    @Override
    boolean emit(long now, Frame frame) {
        return requester.emit(frame);
    }

    @Override
    void apply(QueuePairChange change) {
        change.applyTo(this);
        if (change.attributes().has(QueuePairAttribute.RQ_PSN)) {
            responder.expectedPsn = change.attributes().rqPsn();
        }
        if (change.attributes().has(QueuePairAttribute.SQ_PSN)) {
            requester.nextPsn = change.attributes().sqPsn();
        }
    }

    @Override
    void resetService() {
        requester.reset();
        responder.reset();
    }

    @Override
    void flushSends() {
        requester.flush();
    }

    @Override
    void flushService() {
        responder.abandon();
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
        return responder.expectedPsn;
    }
}
