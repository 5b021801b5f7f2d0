// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import io.verbena.transport.queue.SeededRandom;
import io.verbena.wire.cm.CmAttribute;
import io.verbena.wire.cm.Dreq;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.cm.Mra;
import io.verbena.wire.cm.Rej;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The connection manager of a port (IBTA volume 1, chapter 12): commands, datagrams and time go in, datagrams and
 * {@link CmEvents} come out. Nothing that a peer sends throws, and everything that it can make grow is bounded by
 * {@link CmBounds}.
 *
 * <p>A command returns false, and sends nothing, when the conversation is in no state for it: the other side may have
 * ended it at the same time. Times are nanoseconds of one clock that the caller owns. Belongs to the port's owner.
 */
public final class ConnectionManager {
    /** Bytes of a management datagram (IBTA volume 1, 13.4.1). */
    public static final int MAD_BYTES = Mad.BYTES;

    private final Core core;
    private final Endings endings;
    private final ActiveSide activeSide;
    private final PassiveSide passiveSide;
    private final Resolution resolution;

    public ConnectionManager(SeededRandom random, CmPort port, CmBounds bounds) {
        core = new Core(random, port, bounds);
        endings = new Endings(core);
        activeSide = new ActiveSide(core, endings);
        passiveSide = new PassiveSide(core, endings);
        resolution = new Resolution(core);
    }

    /**
     * Listens to a service; null when somebody does already, or too many services are listened to.
     *
     * @param backlog how many requests may wait for the consumer's answer, at least 1; more are dropped until there is
     *     room
     */
    public @Nullable CmListener listen(long serviceId, int backlog) {
        if (core.listeners.containsKey(serviceId) || core.listeners.size() >= core.bounds.listeners()) {
            return null;
        }
        CmListener listener = new CmListener(serviceId, Math.max(1, backlog));
        core.listeners.put(serviceId, listener);
        return listener;
    }

    /** Stops listening. Conversations that were announced stay with their consumer. */
    public void close(CmListener listener) {
        core.listeners.remove(listener.serviceId, listener);
    }

    /**
     * Asks for a connection with REQ, until the deadline; null when there are too many conversations.
     *
     * @param now as in all commands: the present time
     */
    public @Nullable Conversation connect(long now, ConnectParameters parameters) {
        return activeSide.connect(now, parameters);
    }

    /** Passive: answers a request with REP. */
    public boolean accept(long now, Conversation conversation, AcceptParameters parameters) {
        return passiveSide.accept(now, conversation, parameters);
    }

    /**
     * Refuses: passive the request, active the reply. The conversation is over without an event.
     *
     * @param reason of {@link io.verbena.wire.cm.CmRejectReason}, or another number
     * @param privateData at most 148 bytes
     */
    public boolean reject(long now, Conversation conversation, int reason, byte[] privateData) {
        PrivateData.check("REJ", privateData, Rej.PRIVATE_DATA_BYTES);
        if (conversation.state != ConversationState.REQ_RECEIVED
                && conversation.state != ConversationState.REP_RECEIVED) {
            return false;
        }
        conversation.abandoned = true;
        endings.refuse(now, conversation, reason, privateData);
        return true;
    }

    /** Active: the queue pair is ready, the other side is told with RTU. */
    public boolean complete(long now, Conversation conversation) {
        return activeSide.complete(conversation);
    }

    /** Passive: data came before the RTU, which may be lost. Raises {@link CmEvents#established}. */
    public boolean established(long now, Conversation conversation) {
        return passiveSide.established(conversation);
    }

    /** The same, for who knows the queue pair only. */
    public void dataArrived(int queuePair) {
        Conversation conversation = core.table.localQueuePair(queuePair, ConversationState.REP_SENT);
        if (conversation != null) {
            passiveSide.established(conversation);
        }
    }

    /**
     * Disconnects with DREQ, or answers the other side's with DREP.
     *
     * @param privateData at most 220 bytes
     */
    public boolean disconnect(long now, Conversation conversation, byte[] privateData) {
        PrivateData.check("DREQ", privateData, Dreq.PRIVATE_DATA_BYTES);
        return endings.disconnect(now, conversation, privateData);
    }

    /** Conversations whose DREQ went out once and was not answered yet, in a copy. */
    public List<Conversation> freshReleases() {
        return core.table.freshReleases();
    }

    /** Sends the DREQ again now, besides the usual repetitions. */
    public void repeatRelease(Conversation conversation) {
        endings.repeatRelease(conversation);
    }

    /**
     * The consumer has no interest any more, in any state: no event follows. The other side is told with REJ or DREQ.
     */
    public void abandon(long now, Conversation conversation) {
        endings.abandon(now, conversation);
    }

    /** Asks for the queue pair of a datagram service; null when there are too many questions. */
    public @Nullable SidrConversation sidrRequest(long now, SidrParameters parameters) {
        return resolution.request(now, parameters);
    }

    /** Answers such a question. */
    public boolean sidrReply(long now, SidrConversation conversation, SidrReply reply) {
        return resolution.reply(now, conversation, reply);
    }

    /** The consumer has no interest any more: no event follows; who asked is refused. */
    public void abandon(long now, SidrConversation conversation) {
        resolution.abandon(now, conversation);
    }

    /**
     * Whether a queue pair number belongs to a conversation, in timewait too, so that no new queue pair may have it.
     */
    public boolean holdsQueuePair(int queuePair) {
        return core.table.holdsQueuePair(queuePair);
    }

    /** A datagram of {@link #MAD_BYTES} arrived; {@code back} leads to where it came from. */
    public void onMad(long now, Path back, MemorySegment mad, long offset) {
        core.count(CmCounter.MESSAGES_RECEIVED);
        if (!Mad.isConnectionManagement(mad, offset)) {
            core.count(CmCounter.DROP_WRONG_CLASS);
            return;
        }
        CmAttribute attribute = CmAttribute.of(Mad.attribute(mad, offset));
        if (attribute == null) {
            core.count(CmCounter.DROP_UNSUPPORTED);
            return;
        }
        switch (attribute) {
            case REQ -> passiveSide.onReq(now, back, mad, offset);
            case REP -> activeSide.onRep(now, back, mad, offset);
            case RTU -> passiveSide.onRtu(back, mad, offset);
            case REJ -> endings.onRej(now, back, mad, offset);
            case MRA -> onMra(now, back, mad, offset);
            case DREQ -> endings.onDreq(now, back, mad, offset);
            case DREP -> endings.onDrep(now, back, mad, offset);
            case SIDR_REQ -> resolution.onRequest(now, back, mad, offset);
            case SIDR_REP -> resolution.onReply(back, mad, offset);
            case LAP, APR -> core.count(CmCounter.DROP_UNSUPPORTED);
        }
    }

    /** The other side's consumer takes its time. */
    private void onMra(long now, Path back, MemorySegment mad, long o) {
        Conversation c = endings.find(back, Mra.remoteId(mad, o), Mra.localId(mad, o));
        if (c == null) {
            return;
        }
        int message = Mra.message(mad, o);
        boolean request = c.state == ConversationState.REQ_SENT && message == Mra.MESSAGE_REQ;
        boolean reply = c.state == ConversationState.REP_SENT && message == Mra.MESSAGE_REP;
        if (request || reply) {
            core.extend(now, c, Mra.serviceTimeout(mad, o));
        } else {
            core.count(CmCounter.DROP_WRONG_STATE);
        }
    }

    public boolean wantsToSend() {
        return !core.outbox.isEmpty();
    }

    /** Writes the next datagram to send and tells where to; null when there is none. */
    public @Nullable Path pollMad(MemorySegment out, long offset) {
        Path path = core.outbox.poll(out, offset);
        if (path != null) {
            core.count(CmCounter.MESSAGES_SENT);
        }
        return path;
    }

    /** When {@link #onTimeout} wants to be called next; {@link Long#MAX_VALUE} for never. */
    public long nextDeadline() {
        return core.timers.first();
    }

    /** Acts on all deadlines that have come. */
    public void onTimeout(long now) {
        for (Timed due = core.timers.pollDue(now); due != null; due = core.timers.pollDue(now)) {
            switch (due) {
                case SidrConversation s -> resolution.onTimeout(now, s);
                case Conversation c -> onTimeout(now, c);
            }
        }
    }

    private void onTimeout(long now, Conversation c) {
        switch (c.state) {
            case REQ_SENT -> activeSide.onTimeout(now, c);
            case REP_SENT -> passiveSide.onTimeout(now, c);
            case DREQ_SENT -> endings.onTimeout(now, c);
            case TIMEWAIT -> endings.leaveTimewait(c);
            case REQ_RECEIVED, REP_RECEIVED, ESTABLISHED, DREQ_RECEIVED, CLOSED -> {
                // Wait for the consumer, not for a time.
            }
        }
    }

    /**
     * The network says that nobody listens at an address: what waits for an answer from there ends now rather than
     * after all repetitions.
     */
    public void onUnreachable(long now, long remoteHigh, long remoteLow) {
        for (Conversation c : core.table.with(remoteHigh, remoteLow)) {
            endings.onUnreachable(now, c);
        }
        resolution.onUnreachable(remoteHigh, remoteLow);
    }

    /**
     * Hands out what happened since the last call. Commands given from a callback may lead to more, also handed out.
     */
    public void pollEvents(CmEvents sink) {
        core.pollEvents(sink);
    }

    /** Entries of all tables, for tests: 0 when nothing is remembered. */
    int entries() {
        return core.table.entries() + resolution.entries();
    }

    /** How many conversations are not over. */
    public int conversations() {
        return core.table.size();
    }

    /** How many are over and in timewait. */
    public int timewaits() {
        return core.table.timewaits();
    }

    public long counter(CmCounter counter) {
        return core.counter(counter);
    }
}
