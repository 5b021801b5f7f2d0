// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.wire.Frame;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.ib.Reth;

/**
 * Asks a silent peer of an idle reliable connection whether it is there, as TCP does: with a packet that it has seen
 * already. A zero-length WRITE with the PSN before the next one is a duplicate, which every responder acknowledges and
 * does not carry out (IBTA volume 1, 9.7.5.1.4). It takes no PSN and no place in the send queue. While a request is
 * under way the ACK timeout watches over the peer, and this does nothing.
 */
final class KeepAlive {
    /** So many questions without an answer, a quarter of the interval apart, are the end. */
    static final int QUESTIONS_MAX = 4;

    private final RcQueuePair qp;
    private long interval;
    private long lastHeard;
    private int unanswered;
    private boolean asking;

    KeepAlive(RcQueuePair qp) {
        this.qp = qp;
    }

    /** Begins to watch, or ends it with an interval of 0. */
    void start(long now, long newInterval) {
        stop();
        interval = newInterval;
        lastHeard = now;
        if (interval > 0) {
            qp.arm(Timer.KEEP_ALIVE, now + interval);
        }
    }

    void stop() {
        interval = 0;
        unanswered = 0;
        asking = false;
        qp.disarm(Timer.KEEP_ALIVE);
    }

    /** A packet came from the peer. */
    void heard(long now) {
        lastHeard = now;
        unanswered = 0;
    }

    /** Whether the peer owes an answer to a question. */
    boolean isUnanswered() {
        return unanswered > 0;
    }

    void onTimer(long now) {
        if (interval == 0 || !qp.sends()) {
            return;
        }
        long silence = now - lastHeard;
        if (!qp.idle()) {
            unanswered = 0;
            qp.arm(Timer.KEEP_ALIVE, now + interval);
        } else if (silence < interval) {
            qp.arm(Timer.KEEP_ALIVE, lastHeard + interval);
        } else if (unanswered == QUESTIONS_MAX) {
            qp.enterError();
        } else {
            unanswered++;
            asking = true;
            qp.arm(Timer.KEEP_ALIVE, now + Math.max(1, interval / QUESTIONS_MAX));
            qp.port.activate(qp);
        }
    }

    /** Writes the question, if one is to be asked. */
    boolean emit(Frame frame) {
        if (!asking || !qp.sends()) {
            return false;
        }
        asking = false;
        if (!qp.idle()) {
            return false;
        }
        Opcode opcode = Opcode.RC_WRITE_ONLY;
        long bth = frame.offset() + qp.port.encapsulation().headroom();
        Reth.write(frame.buffer(), bth + opcode.rethOffset(), 0, 0, 0);
        qp.writeFrame(frame, bth, opcode, false, true, Psn.add(qp.send.nextPsn, -1), opcode.headerBytes());
        return true;
    }
}
