// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static io.verbena.transport.cm.ConversationState.ESTABLISHED;
import static io.verbena.transport.cm.ConversationState.REP_RECEIVED;
import static io.verbena.transport.cm.ConversationState.REQ_SENT;

import io.verbena.transport.encap.Path;
import io.verbena.wire.cm.CmRejectReason;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.cm.Mra;
import io.verbena.wire.cm.Rej;
import io.verbena.wire.cm.Rep;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The side that asks for a connection (IBTA volume 1, 12.9.7.1). */
final class ActiveSide {
    /** For how long an MRA asks the other side to wait for a slow consumer: 2.1 seconds. */
    static final int SERVICE_TIMEOUT = 19;

    private final Core core;
    private final Endings endings;

    ActiveSide(Core core, Endings endings) {
        this.core = core;
        this.endings = endings;
    }

    @Nullable
    Conversation connect(long now, ConnectParameters parameters) {
        if (core.table.size() >= core.bounds.conversations()) {
            return null;
        }
        Conversation c = core.table.create(true, parameters.serviceId(), parameters.path());
        c.transaction = core.random.nextLong();
        c.ackTimeout = parameters.ackTimeout() & 31;
        core.table.localQueuePair(c, parameters.endpoint().queuePair());
        core.table.enter(c, REQ_SENT);
        Message req = Messages.req(c, parameters, core.port.caGuid());
        core.begin(now, c, req, parameters.deadline());
        return c;
    }

    void onTimeout(long now, Conversation c) {
        if (!core.repeat(now, c, Integer.MAX_VALUE)) {
            endings.unreachable(now, c);
        }
    }

    void onRep(long now, Path back, MemorySegment mad, long o) {
        int theirs = Rep.localId(mad, o);
        int ours = Rep.remoteId(mad, o);
        Conversation c = endings.find(back, ours, theirs);
        if (c == null || !c.active) {
            int reason = CmRejectReason.INVALID_COMMUNICATION_ID.number();
            core.reply(now, Messages.rej(back, Mad.transaction(mad, o), ours, theirs, Rej.MESSAGE_REP, reason));
            return;
        }
        switch (c.state) {
            case REQ_SENT -> replied(now, c, mad, o);
            case REP_RECEIVED -> {
                core.count(CmCounter.DUPLICATES);
                core.reply(now, Messages.mra(c, Mra.MESSAGE_REP, SERVICE_TIMEOUT));
            }
            case ESTABLISHED -> {
                core.count(CmCounter.DUPLICATES);
                if (c.readyToUse != null) {
                    core.outbox.send(c.readyToUse);
                }
            }
            case TIMEWAIT -> {
                if (c.message == null) {
                    core.count(CmCounter.DROP_WRONG_STATE);
                } else {
                    core.count(CmCounter.DUPLICATES);
                    core.outbox.send(c.message);
                }
            }
            case REQ_RECEIVED, REP_SENT, DREQ_SENT, DREQ_RECEIVED, CLOSED -> core.count(CmCounter.DROP_WRONG_STATE);
        }
    }

    private void replied(long now, Conversation c, MemorySegment mad, long o) {
        int queuePair = Rep.queuePair(mad, o);
        if (queuePair < RequestCheck.QUEUE_PAIR_MIN || Rep.localId(mad, o) == 0) {
            core.count(CmCounter.DROP_MALFORMED);
            return;
        }
        Conversation before = core.table.remoteQueuePair(c.path, queuePair);
        if (before != null) {
            endings.stale(now, before);
        }
        core.timers.disarm(c);
        c.message = null;
        core.table.remote(c, Rep.localId(mad, o), queuePair);
        core.table.enter(c, REP_RECEIVED);
        CmEndpoint endpoint = new CmEndpoint(
                queuePair,
                Rep.startingPsn(mad, o),
                Rep.responderResources(mad, o),
                Rep.initiatorDepth(mad, o),
                Rep.rnrRetry(mad, o),
                Rep.sharedReceives(mad, o));
        byte[] privateData = PrivateData.read(mad, o + Rep.PRIVATE_DATA, Rep.PRIVATE_DATA_BYTES);
        AcceptParameters reply = new AcceptParameters(endpoint, Rep.targetAckDelay(mad, o), privateData);
        core.raise(c, sink -> sink.replied(c, reply));
    }

    boolean complete(Conversation c) {
        if (c.state != REP_RECEIVED) {
            return false;
        }
        Message rtu = Messages.rtu(c);
        c.readyToUse = rtu;
        core.table.enter(c, ESTABLISHED);
        core.outbox.send(rtu);
        return true;
    }
}
