// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Opcode;

/**
 * Carries out what arrives at an unreliable connection. Nothing is answered: a message with a gap, or one that breaks a
 * rule, is dropped, and the next that begins is taken (IBTA volume 1, 9.8.2.2 and 9.9.4).
 */
final class UcResponder {
    private final IbQueuePair qp;
    private final InboundMessage message;
    /** The PSN of the next packet if none is lost. */
    int expectedPsn;

    UcResponder(IbQueuePair qp) {
        this.qp = qp;
        this.message = new InboundMessage(qp, 0);
    }

    void reset() {
        expectedPsn = 0;
        message.abandon();
    }

    void abandon() {
        message.abandon();
    }

    void onRequest(Frame frame, long bth, Opcode opcode, int payload) {
        qp.communicationEstablished();
        int psn = Bth.psn(frame.buffer(), bth);
        int ahead = Psn.diff(psn, expectedPsn);
        if (ahead < 0) {
            // A copy, or so late that its message was given up.
            qp.port.count(Counter.DUPLICATE_REQUESTS);
            return;
        }
        expectedPsn = Psn.add(psn, 1);
        if (message.underWay() && (ahead > 0 || opcode.starts())) {
            dropMessage();
        }
        if (!message.underWay() && !opcode.starts()) {
            qp.port.count(Counter.DROP_INCOMPLETE_MESSAGE);
            return;
        }
        act(carryOut(frame, bth, opcode, payload));
    }

    private RequestVerdict carryOut(Frame frame, long bth, Opcode opcode, int payload) {
        RequestVerdict verdict = message.checkLength(opcode, payload);
        if (verdict == RequestVerdict.OK) {
            verdict = message.checkOrder(opcode);
        }
        if (verdict != RequestVerdict.OK) {
            return verdict;
        }
        return switch (opcode.operation()) {
            case SEND -> message.onSend(frame, bth, opcode, payload);
            case WRITE ->
                (qp.accessFlags & AccessFlag.REMOTE_WRITE.code()) == 0
                        ? RequestVerdict.OPERATION_NOT_ENABLED
                        : message.onWrite(frame, bth, opcode, payload);
            default -> RequestVerdict.OPERATION_NOT_ENABLED;
        };
    }

    private void act(RequestVerdict verdict) {
        switch (verdict) {
            case OK, DONE -> {}
            case RECEIVE_NOT_WRITABLE -> {
                // This side's own mistake: class E.
                qp.receives.fail(WorkCompletionStatus.LOC_PROT_ERR, 0);
                qp.enterError();
            }
            case RECEIVER_NOT_READY -> {
                message.abandon();
                qp.port.count(Counter.DROP_NO_RECEIVE);
            }
            default -> dropMessage();
        }
    }

    /** The message is as if it had been lost. */
    private void dropMessage() {
        message.abandon();
        qp.receives.drop(WorkCompletionStatus.REM_INV_REQ_ERR);
        qp.port.count(Counter.DROP_INCOMPLETE_MESSAGE);
    }
}
