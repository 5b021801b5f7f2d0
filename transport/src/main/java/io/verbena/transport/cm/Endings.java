// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static io.verbena.transport.cm.ConversationState.CLOSED;
import static io.verbena.transport.cm.ConversationState.DREQ_RECEIVED;
import static io.verbena.transport.cm.ConversationState.DREQ_SENT;
import static io.verbena.transport.cm.ConversationState.ESTABLISHED;
import static io.verbena.transport.cm.ConversationState.TIMEWAIT;

import io.verbena.transport.encap.Path;
import io.verbena.wire.cm.CmRejectReason;
import io.verbena.wire.cm.Drep;
import io.verbena.wire.cm.Dreq;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.cm.Rej;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** How conversations end: refused, released, stale, forgotten; and timewait (IBTA volume 1, 12.9.8 and 12.9.9). */
final class Endings {
    /**
     * A question goes out so often again before "nobody listens" is believed: the other program may just be starting.
     */
    static final int REPEATS_TO_ABSENT = 2;
    /** How often a DREQ is repeated. */
    static final int REPEATS_MAX = 4;

    /**
     * How long a refused request is remembered after it came last, so that it is not taken for a new one when it comes
     * again because the REJ was lost: Linux waits for 6.2 seconds.
     */
    private static final long REFUSED_KEPT = 8_000_000_000L;

    private static final long TIMEWAIT_MIN = 50_000_000L;
    private static final long TIMEWAIT_MAX = 5_000_000_000L;

    private final Core core;

    Endings(Core core) {
        this.core = core;
    }

    /** Refuses what the other side sent last. Should it come again, it is refused again. */
    void refuse(long now, Conversation c, int reason, byte[] privateData) {
        int rejected = switch (c.state) {
            case REQ_RECEIVED -> Rej.MESSAGE_REQ;
            case REP_RECEIVED -> Rej.MESSAGE_REP;
            default -> Rej.MESSAGE_NONE;
        };
        Message message = Messages.rej(c, rejected, reason, privateData);
        core.outbox.send(message);
        timewait(now, c);
        c.message = message;
        if (rejected == Rej.MESSAGE_REQ) {
            core.timers.arm(c, now + REFUSED_KEPT);
        }
    }

    /** A request came again after its end. */
    void requestAgain(long now, Conversation c) {
        Message refusal = c.message;
        if (refusal != null) {
            core.outbox.send(refusal);
            core.timers.arm(c, now + REFUSED_KEPT);
        } else {
            int reason = CmRejectReason.STALE_CONNECTION.number();
            core.reply(now, Messages.rej(c, Rej.MESSAGE_REQ, reason, PrivateData.NONE));
        }
    }

    boolean disconnect(long now, Conversation c, byte[] privateData) {
        if (c.state == ESTABLISHED) {
            release(now, c, privateData);
            return true;
        }
        if (c.state == DREQ_RECEIVED) {
            c.releaseData = privateData.clone();
            answerRelease(c, c.releaseTransaction);
            timewait(now, c);
            return true;
        }
        return false;
    }

    void abandon(long now, Conversation c) {
        c.abandoned = true;
        switch (c.state) {
            case REQ_SENT -> {
                core.outbox.send(Messages.timeout(c, core.port.caGuid()));
                close(c);
            }
            case REQ_RECEIVED, REP_RECEIVED, REP_SENT ->
                refuse(now, c, CmRejectReason.CONSUMER_REJECT.number(), PrivateData.NONE);
            case ESTABLISHED, DREQ_RECEIVED -> disconnect(now, c, PrivateData.NONE);
            case DREQ_SENT, TIMEWAIT, CLOSED -> {
                // What is left to do needs no consumer.
            }
        }
    }

    /** The other side began anew with the same queue pair, so for it this conversation does not exist. */
    void stale(long now, Conversation c) {
        core.count(CmCounter.STALE_CONNECTIONS);
        switch (c.state) {
            case REQ_RECEIVED, REP_SENT -> rejected(now, c, CmRejectReason.STALE_CONNECTION.number(), PrivateData.NONE);
            case REP_RECEIVED, ESTABLISHED -> {
                release(now, c, PrivateData.NONE);
                disconnected(c);
            }
            case DREQ_SENT -> released(now, c);
            case DREQ_RECEIVED -> timewait(now, c);
            case REQ_SENT, TIMEWAIT, CLOSED -> {
                // Has no queue pair of the other side, or none any more.
            }
        }
    }

    private void release(long now, Conversation c, byte[] privateData) {
        core.table.enter(c, DREQ_SENT);
        core.begin(now, c, Messages.dreq(c, core.random.nextLong(), privateData), now + Core.WAIT_MAX);
    }

    void repeatRelease(Conversation c) {
        if (c.state == DREQ_SENT && c.message != null) {
            core.count(CmCounter.REPETITIONS);
            core.outbox.send(c.message);
        }
    }

    void onDreq(long now, Path back, MemorySegment mad, long o) {
        int theirs = Dreq.localId(mad, o);
        int ours = Dreq.remoteId(mad, o);
        Conversation c = core.table.local(ours);
        if (c == null || c.remoteId != theirs) {
            // Of a conversation that is forgotten here: the other side need not ask again.
            core.count(CmCounter.DROP_UNKNOWN_CONVERSATION);
            core.reply(now, Messages.drep(back, Mad.transaction(mad, o), ours, theirs, PrivateData.NONE));
            return;
        }
        if (isElsewhere(c, back)) {
            return;
        }
        if (Dreq.remoteQueuePair(mad, o) != c.localQp) {
            core.count(CmCounter.DROP_WRONG_QUEUE_PAIR);
            return;
        }
        c.releaseTransaction = Mad.transaction(mad, o);
        switch (c.state) {
            case REP_SENT, REP_RECEIVED, ESTABLISHED -> {
                if (c.state == ConversationState.REP_SENT) {
                    // The RTU is lost, the connection was not.
                    core.raise(c, sink -> sink.established(c, PrivateData.NONE));
                }
                core.timers.disarm(c);
                core.table.enter(c, DREQ_RECEIVED);
                disconnected(c);
            }
            case DREQ_SENT -> {
                answerRelease(c, c.releaseTransaction);
                released(now, c);
            }
            case DREQ_RECEIVED -> {
                core.count(CmCounter.DUPLICATES);
                answerRelease(c, c.releaseTransaction);
                timewait(now, c);
            }
            case TIMEWAIT -> {
                core.count(CmCounter.DUPLICATES);
                core.reply(now, Messages.drep(c.path, c.releaseTransaction, c.localId, c.remoteId, c.releaseData));
            }
            case REQ_SENT, REQ_RECEIVED, CLOSED -> core.count(CmCounter.DROP_WRONG_STATE);
        }
    }

    private void answerRelease(Conversation c, long transaction) {
        core.outbox.send(Messages.drep(c.path, transaction, c.localId, c.remoteId, c.releaseData));
    }

    void onDrep(long now, Path back, MemorySegment mad, long o) {
        Conversation c = find(back, Drep.remoteId(mad, o), Drep.localId(mad, o));
        if (c != null && c.state == DREQ_SENT) {
            released(now, c);
        } else if (c != null) {
            core.count(CmCounter.DROP_WRONG_STATE);
        }
    }

    void onRej(long now, Path back, MemorySegment mad, long o) {
        int theirs = Rej.localId(mad, o);
        int ours = Rej.remoteId(mad, o);
        Conversation c = ours == 0 ? core.table.remote(back, theirs) : core.table.local(ours);
        if (c == null) {
            core.count(CmCounter.DROP_UNKNOWN_CONVERSATION);
            return;
        }
        if (isElsewhere(c, back)) {
            return;
        }
        if (c.remoteId != 0 && c.remoteId != theirs) {
            core.count(CmCounter.DROP_UNKNOWN_CONVERSATION);
            return;
        }
        int reason = Rej.reason(mad, o);
        switch (c.state) {
            case REQ_SENT, REQ_RECEIVED, REP_SENT, REP_RECEIVED ->
                rejected(now, c, reason, PrivateData.read(mad, o + Rej.PRIVATE_DATA, Rej.PRIVATE_DATA_BYTES));
            case ESTABLISHED, DREQ_SENT -> released(now, c);
            case DREQ_RECEIVED, TIMEWAIT, CLOSED -> core.count(CmCounter.DROP_WRONG_STATE);
        }
    }

    private void rejected(long now, Conversation c, int reason, byte[] privateData) {
        settle(now, c);
        end(c);
        core.raise(c, sink -> sink.rejected(c, reason, privateData));
    }

    /** A request that has to make room for others. Should it come again, it is a new one. */
    void displace(long now, Conversation c) {
        rejected(now, c, CmRejectReason.NO_RESOURCES.number(), PrivateData.NONE);
    }

    /** Nobody answers; the other side is told, in case it can still hear. */
    void unreachable(long now, Conversation c) {
        core.outbox.send(Messages.timeout(c, core.port.caGuid()));
        settle(now, c);
        end(c);
        core.raise(c, sink -> sink.unreachable(c));
    }

    /** Nobody is there; who waits for the consumer or for nothing learns it in another way. */
    void onUnreachable(long now, Conversation c) {
        switch (c.state) {
            case REQ_SENT -> {
                if (c.repeats >= REPEATS_TO_ABSENT) {
                    unreachable(now, c);
                }
            }
            case REP_SENT -> unreachable(now, c);
            case DREQ_SENT -> released(now, c);
            case REQ_RECEIVED, REP_RECEIVED, ESTABLISHED, DREQ_RECEIVED, TIMEWAIT, CLOSED -> {
                // Nothing is asked.
            }
        }
    }

    void onTimeout(long now, Conversation c) {
        if (!core.repeat(now, c, REPEATS_MAX)) {
            released(now, c);
        }
    }

    /** The connection is released on both sides, or nobody is there to say so. */
    private void released(long now, Conversation c) {
        timewait(now, c);
        disconnected(c);
    }

    private void disconnected(Conversation c) {
        if (!c.ended) {
            end(c);
            core.raise(c, sink -> sink.disconnected(c));
        }
    }

    private static void end(Conversation c) {
        c.ended = true;
    }

    /** Ends a conversation that was not established: with timewait if its queue pairs may know each other. */
    private void settle(long now, Conversation c) {
        if (c.localQp != 0 && c.remoteQp != 0) {
            timewait(now, c);
        } else {
            close(c);
        }
    }

    private void timewait(long now, Conversation c) {
        long length = 4096L << c.ackTimeout;
        c.message = null;
        c.readyToUse = null;
        core.table.enter(c, TIMEWAIT);
        core.timers.arm(c, now + Math.clamp(length, TIMEWAIT_MIN, TIMEWAIT_MAX));
        if (core.table.timewaits() > core.bounds.timewaits()) {
            leaveTimewait(core.table.oldestTimewait());
        }
    }

    void leaveTimewait(Conversation c) {
        close(c);
        if (c.ended) {
            core.raise(c, sink -> sink.timewaitExit(c));
        }
    }

    private void close(Conversation c) {
        core.timers.disarm(c);
        core.table.enter(c, CLOSED);
        c.message = null;
    }

    /** The conversation that both numbers name, if the message came from the right place; else counts why not. */
    @Nullable
    Conversation find(Path back, int ours, int theirs) {
        Conversation c = core.table.local(ours);
        if (c == null || (c.remoteId != 0 && c.remoteId != theirs)) {
            core.count(CmCounter.DROP_UNKNOWN_CONVERSATION);
            return null;
        }
        return isElsewhere(c, back) ? null : c;
    }

    /** Whether a message did not come from where the conversation goes; counted. */
    private boolean isElsewhere(Conversation c, Path back) {
        if (c.path.matches(back.remoteHigh(), back.remoteLow(), back.localHigh(), back.localLow())) {
            return false;
        }
        core.count(CmCounter.DROP_WRONG_ADDRESS);
        return true;
    }
}
