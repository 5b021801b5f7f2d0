// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static io.verbena.transport.cm.ConversationState.ESTABLISHED;
import static io.verbena.transport.cm.ConversationState.REP_SENT;
import static io.verbena.transport.cm.ConversationState.REQ_RECEIVED;

import io.verbena.transport.encap.Path;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import io.verbena.wire.cm.CmRejectReason;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.cm.Mra;
import io.verbena.wire.cm.Rej;
import io.verbena.wire.cm.Req;
import io.verbena.wire.cm.Rtu;
import java.lang.foreign.MemorySegment;

/**
 * The side that listens (IBTA volume 1, 12.9.7.2).
 *
 * <p>Who sends requests without end takes no place from others for long. A reply that waits for its RTU is the first to
 * go when there are too many: an honest client answers within a round trip, a made-up address never, so the oldest one
 * is hardly ever honest. A request that waits for the consumer cannot be judged in this way. In a full backlog an
 * address that has more than half of it makes room for the others; it is not told, so that it asks again. Against
 * requests from ever new addresses only a consumer helps that answers as fast as they come: the network shows no
 * difference between them and a crowd, and who finds no room asks again.
 */
final class PassiveSide {
    /** How often a REP is repeated; the time of a REQ is limited by its deadline. */
    static final int REPEATS_MAX = 6;

    private final Core core;
    private final Endings endings;
    private final RequestCheck check;

    PassiveSide(Core core, Endings endings) {
        this.core = core;
        this.endings = endings;
        this.check = new RequestCheck(core.port.mtu());
    }

    void onReq(long now, Path back, MemorySegment mad, long o) {
        if (RequestCheck.isMalformed(mad, o)) {
            core.count(CmCounter.DROP_MALFORMED);
            return;
        }
        int theirs = Req.localId(mad, o);
        int queuePair = Req.queuePair(mad, o);
        Conversation known = core.table.remote(back, theirs);
        if (known != null && known.remoteQp == queuePair) {
            again(now, known);
            return;
        }
        CmRejectReason refusal = check.refusal(back, mad, o);
        if (refusal != null) {
            refuse(now, back, mad, o, refusal);
            return;
        }
        Conversation stale = known != null ? known : core.table.remoteQueuePair(back, queuePair);
        CmListener listener = core.listeners.get(Req.serviceId(mad, o));
        if (stale != null) {
            endings.stale(now, stale);
            refuse(now, back, mad, o, CmRejectReason.STALE_CONNECTION);
        } else if (listener == null) {
            refuse(now, back, mad, o, CmRejectReason.INVALID_SERVICE_ID);
        } else if (!hasRoom(now, listener, back)) {
            // Not refused: it will be asked again, and then there may be room.
            core.count(CmCounter.DROP_BACKLOG);
        } else {
            request(listener, back, mad, o);
        }
    }

    /** A request that came before. */
    private void again(long now, Conversation c) {
        core.count(CmCounter.DUPLICATES);
        switch (c.state) {
            case REQ_RECEIVED -> core.reply(now, Messages.mra(c, Mra.MESSAGE_REQ, ActiveSide.SERVICE_TIMEOUT));
            case REP_SENT -> {
                if (c.message != null) {
                    core.outbox.send(c.message);
                }
            }
            case TIMEWAIT -> endings.requestAgain(now, c);
            case REQ_SENT, REP_RECEIVED, ESTABLISHED, DREQ_SENT, DREQ_RECEIVED, CLOSED -> {
                // Late: the answer is known over there.
            }
        }
    }

    /** Whether one more request can be taken; another one may have to make room for it. */
    private boolean hasRoom(long now, CmListener listener, Path back) {
        if (core.isFull()) {
            return false;
        }
        if (listener.isFull() && listener.crowding(back) instanceof Conversation crowding) {
            core.count(CmCounter.DISPLACED);
            endings.displace(now, crowding);
        }
        if (listener.isFull()) {
            return false;
        }
        Conversation oldest = core.table.oldestReplied();
        if (core.table.halfOpen() >= core.bounds.halfOpen() && oldest != null) {
            core.count(CmCounter.DISPLACED);
            endings.unreachable(now, oldest);
        }
        return core.table.halfOpen() < core.bounds.halfOpen();
    }

    private void refuse(long now, Path back, MemorySegment mad, long o, CmRejectReason reason) {
        core.count(CmCounter.REQUESTS_REFUSED);
        long transaction = Mad.transaction(mad, o);
        core.reply(now, Messages.rej(back, transaction, 0, Req.localId(mad, o), Rej.MESSAGE_REQ, reason.number()));
    }

    private void request(CmListener listener, Path back, MemorySegment mad, long o) {
        Conversation c = core.table.create(false, listener.serviceId, back);
        listener.asked(c);
        c.transaction = Mad.transaction(mad, o);
        c.ackTimeout = Req.ackTimeout(mad, o);
        core.table.remote(c, Req.localId(mad, o), Req.queuePair(mad, o));
        core.table.enter(c, REQ_RECEIVED);
        CmEndpoint endpoint = new CmEndpoint(
                Req.queuePair(mad, o),
                Req.startingPsn(mad, o),
                Req.responderResources(mad, o),
                Req.initiatorDepth(mad, o),
                Req.rnrRetry(mad, o),
                Req.sharedReceives(mad, o));
        RequestParameters parameters = new RequestParameters(
                listener.serviceId,
                back,
                Req.transport(mad, o) == Req.TRANSPORT_UC ? QueuePairType.UC : QueuePairType.RC,
                endpoint,
                Req.retryCount(mad, o),
                Req.ackTimeout(mad, o),
                Mtu.ofCode(Req.pathMtu(mad, o)),
                PrivateData.read(mad, o + Req.PRIVATE_DATA, Req.PRIVATE_DATA_BYTES));
        core.raise(c, sink -> sink.connectRequest(listener, c, parameters));
    }

    boolean accept(long now, Conversation c, AcceptParameters parameters) {
        if (c.state != REQ_RECEIVED) {
            return false;
        }
        core.table.localQueuePair(c, parameters.endpoint().queuePair());
        core.table.enter(c, REP_SENT);
        core.begin(now, c, Messages.rep(c, parameters, core.port.caGuid()), now + Core.WAIT_MAX);
        return true;
    }

    void onTimeout(long now, Conversation c) {
        if (!core.repeat(now, c, REPEATS_MAX)) {
            endings.unreachable(now, c);
        }
    }

    void onRtu(Path back, MemorySegment mad, long o) {
        Conversation c = endings.find(back, Rtu.remoteId(mad, o), Rtu.localId(mad, o));
        if (c == null) {
            return;
        }
        if (c.state == REP_SENT) {
            establish(c, PrivateData.read(mad, o + Rtu.PRIVATE_DATA, Rtu.PRIVATE_DATA_BYTES));
        } else {
            core.count(c.active ? CmCounter.DROP_WRONG_STATE : CmCounter.DUPLICATES);
        }
    }

    boolean established(Conversation c) {
        if (c.state != REP_SENT) {
            return false;
        }
        establish(c, PrivateData.NONE);
        return true;
    }

    private void establish(Conversation c, byte[] privateData) {
        core.timers.disarm(c);
        c.message = null;
        core.table.enter(c, ESTABLISHED);
        core.raise(c, sink -> sink.established(c, privateData));
    }
}
