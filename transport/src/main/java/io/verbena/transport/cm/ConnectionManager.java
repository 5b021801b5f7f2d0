// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import io.verbena.transport.queue.SeededRandom;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The connection manager of a port (IBTA volume 1, chapter 12): commands, datagrams and time go in, datagrams and
 * {@link CmEvents} come out. Nothing that a peer sends throws, and everything that it can make grow is bounded by
 * {@link CmSettings}.
 *
 * <p>A command returns false, and sends nothing, when the conversation is in no state for it: the other side may have
 * ended it at the same time. Times are nanoseconds of one clock that the caller owns. Belongs to the port's owner.
 */
public final class ConnectionManager {
    /** Bytes of a management datagram (IBTA volume 1, 13.4.1). */
    public static final int MAD_BYTES = 256;

    private final CmSettings settings;

    public ConnectionManager(SeededRandom random, CmSettings settings) {
        this.settings = settings;
    }

    /** Listens to a service; null when somebody does already, or too many services are listened to. */
    public @Nullable CmListener listen(long serviceId, int backlog) {
        return null;
    }

    /** Stops listening. Conversations that were announced stay with their consumer. */
    public void close(CmListener listener) {}

    /** Asks for a connection; null when there are too many conversations. */
    public @Nullable Conversation connect(long now, ConnectParameters parameters) {
        return null;
    }

    /** Passive: answers a request with REP. */
    public boolean accept(long now, Conversation conversation, AcceptParameters parameters) {
        return false;
    }

    /**
     * Refuses: passive the request, active the reply. The conversation is over without an event.
     *
     * @param reason of {@link io.verbena.wire.cm.CmRejectReason}, or another number
     * @param privateData at most 148 bytes
     */
    public boolean reject(long now, Conversation conversation, int reason, byte[] privateData) {
        return false;
    }

    /** Active: the queue pair is ready, the other side is told with RTU. */
    public boolean complete(long now, Conversation conversation) {
        return false;
    }

    /** Passive: data came before the RTU, which may be lost. */
    public boolean established(long now, Conversation conversation) {
        return false;
    }

    /**
     * Disconnects with DREQ, or answers the other side's with DREP.
     *
     * @param privateData at most 220 bytes
     */
    public boolean disconnect(long now, Conversation conversation, byte[] privateData) {
        return false;
    }

    /**
     * The consumer has no interest any more, in any state: no event follows. The other side is told with REJ or DREQ.
     */
    public void abandon(long now, Conversation conversation) {}

    /** Asks for the queue pair of a datagram service; null when there are too many questions. */
    public @Nullable SidrConversation sidrRequest(long now, SidrParameters parameters) {
        return null;
    }

    /** Answers such a question. */
    public boolean sidrReply(long now, SidrConversation conversation, SidrReply reply) {
        return false;
    }

    /** The consumer has no interest any more: no event follows; who asked is refused. */
    public void abandon(long now, SidrConversation conversation) {}

    /**
     * Whether a queue pair number belongs to a conversation, in timewait too, so that no new queue pair may have it.
     */
    public boolean holdsQueuePair(int queuePair) {
        return false;
    }

    /** A datagram of {@link #MAD_BYTES} arrived; {@code back} leads to where it came from. */
    public void onMad(long now, Path back, MemorySegment mad, long offset) {}

    public boolean wantsToSend() {
        return false;
    }

    /** Writes the next datagram to send and tells where to; null when there is none. */
    public @Nullable Path pollMad(MemorySegment out, long offset) {
        return null;
    }

    /** When {@link #onTimeout} wants to be called next; {@link Long#MAX_VALUE} for never. */
    public long nextDeadline() {
        return Long.MAX_VALUE;
    }

    /** Acts on all deadlines that have come. */
    public void onTimeout(long now) {}

    /**
     * Hands out what happened since the last call. Commands given from a callback may lead to more, also handed out.
     */
    public void pollEvents(CmEvents sink) {}

    CmSettings settings() {
        return settings;
    }
}
