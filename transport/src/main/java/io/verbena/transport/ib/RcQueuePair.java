// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.verbs.QueuePairAttribute;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Opcode;

/**
 * A reliable connection, plain or extended (XRC): its attributes and its three roles, {@link Requester},
 * {@link Completer} and {@link Responder}.
 */
final class RcQueuePair extends IbQueuePair {
    /** 4.096 us, the unit of the local ACK timeout (IBTA volume 1, 9.7.6.1.3). */
    private static final long ACK_TIMEOUT_UNIT_NS = 4_096;
    /** The opcodes of XRC are those of RC with these bits (IBTA volume 1, annex A14). */
    private static final int XRC_BITS = 0xa0;

    final SendState send;
    final Requester requester;
    final Completer completer;
    final Responder responder;
    private final KeepAlive keepAlive = new KeepAlive(this);
    private final boolean extended;

    int maxRdAtomic;
    int minRnrTimer;
    int timeout;
    int retryCount;
    int rnrRetry;

    /** The responder's turn when both roles have something to send. */
    private boolean responderFirst = true;

    RcQueuePair(IbPort port, int handle, int qpNumber, QueuePairSetup setup) {
        super(port, handle, qpNumber, setup);
        this.extended = type != QueuePairType.RC;
        this.send = new SendState(sendQueue);
        this.requester = new Requester(this, send);
        this.completer = new Completer(this, send);
        this.responder = new Responder(this, setup.xrcDomain());
    }

    @Override
    Opcode.Service service() {
        return extended ? Opcode.Service.XRC : Opcode.Service.RC;
    }

    /** The opcode of this service that does what {@code opcode} of RC does. */
    Opcode wire(Opcode opcode) {
        if (!extended) {
            return opcode;
        }
        Opcode counterpart = Opcode.of(opcode.code() | XRC_BITS);
        return counterpart == null ? opcode : counterpart;
    }

    @Override
    void onPacket(long now, Frame frame, long bth, Opcode opcode, int payload) {
        keepAlive.heard(now);
        int psn = Bth.psn(frame.buffer(), bth);
        if (opcode.isRequest()) {
            if (type == QueuePairType.XRC_INI) {
                port.count(Counter.DROP_WRONG_SERVICE);
            } else {
                responder.onRequest(frame, bth, opcode, psn, payload);
            }
        } else {
            completer.onResponse(now, frame, bth, opcode, psn, payload);
        }
    }

    @Override
    public int nextPsn() {
        return send.nextPsn;
    }

    @Override
    public int expectedPsn() {
        return responder.expectedPsn;
    }

    @Override
    void apply(QueuePairChange change) {
        change.applyTo(this);
        QueuePairAttributes a = change.attributes();
        minRnrTimer = a.has(QueuePairAttribute.MIN_RNR_TIMER) ? a.minRnrTimer() : minRnrTimer;
        timeout = a.has(QueuePairAttribute.TIMEOUT) ? a.timeout() : timeout;
        retryCount = a.has(QueuePairAttribute.RETRY_CNT) ? a.retryCount() : retryCount;
        rnrRetry = a.has(QueuePairAttribute.RNR_RETRY) ? a.rnrRetry() : rnrRetry;
        maxRdAtomic = a.has(QueuePairAttribute.MAX_QP_RD_ATOMIC) ? a.maxRdAtomic() : maxRdAtomic;
        if (a.has(QueuePairAttribute.MAX_DEST_RD_ATOMIC)) {
            responder.resources.resize(a.maxDestRdAtomic());
        }
        if (a.has(QueuePairAttribute.RQ_PSN)) {
            responder.expectedPsn = a.rqPsn();
        }
        if (a.has(QueuePairAttribute.SQ_PSN)) {
            send.start(a.sqPsn(), retryCount, rnrRetry);
        }
        requester.pathChanged();
    }

    @Override
    void resetService() {
        keepAlive.stop();
        send.reset(0, 0, 0);
        responder.reset();
    }

    @Override
    void flushSends() {
        send.rnrWaiting = false;
        send.localError = null;
        completer.flush();
    }

    @Override
    void flushService() {
        responder.abandon();
    }

    @Override
    void releasePath() {
        completer.releaseAll();
    }

    @Override
    boolean idle() {
        return send.oldest == send.started;
    }

    @Override
    void onUnreachable() {
        if (sends() && send.outstanding()) {
            completer.fail(WorkCompletionStatus.RETRY_EXC_ERR, 0);
        } else if (sends() && keepAlive.isUnanswered()) {
            enterError();
        }
    }

    @Override
    public void keepAlive(long now, long interval) {
        if (!extended) {
            port.time(now);
            keepAlive.start(now, interval);
        }
    }

    @Override
    boolean emit(long now, Frame frame) {
        boolean sent = responderFirst
                ? responder.output().emit(frame) || requester.emit(now, frame)
                : requester.emit(now, frame) || responder.output().emit(frame);
        responderFirst = !responderFirst;
        return sent || keepAlive.emit(frame);
    }

    void armRetransmit(long now) {
        if (timeout != 0 && !armed(Timer.RETRANSMIT)) {
            arm(Timer.RETRANSMIT, now + (ACK_TIMEOUT_UNIT_NS << timeout));
        }
    }

    @Override
    void onTimer(long now, Timer timer) {
        switch (timer) {
            case RNR_WAIT -> completer.onRnrWaitOver();
            case RETRANSMIT -> completer.onRetransmitTimeout();
            case KEEP_ALIVE -> keepAlive.onTimer(now);
        }
    }
}
