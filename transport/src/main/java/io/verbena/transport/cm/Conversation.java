// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import org.jspecify.annotations.Nullable;

/** One connection in the eyes of the connection manager, from REQ to the end of its timewait. */
public final class Conversation extends Timed {
    final int localId;
    int remoteId;
    int localQp;
    int remoteQp;
    ConversationState state = ConversationState.CLOSED;

    /** Of REQ, REP, RTU. */
    long transaction;

    /** Of the other side's DREQ. */
    long releaseTransaction;

    /**
     * The timeout of the queue pair, 4.096 us times 2 to this power, which says how long packets may be on their way.
     */
    int ackTimeout;

    /** Active: the RTU, for when the REP comes again. */
    @Nullable
    Message readyToUse;

    /** What the DREP said, for when the DREQ comes again. */
    byte[] releaseData = PrivateData.NONE;

    /** The event that ends it was raised. */
    boolean ended;

    Conversation(boolean active, long serviceId, Path path, int localId) {
        super(active, serviceId, path);
        this.localId = localId;
    }

    public ConversationState state() {
        return state;
    }

    /** The number that names the conversation on this side (Local Communication ID). */
    public int localId() {
        return localId;
    }

    /** The number that names it on the other side; 0 until that is known. */
    public int remoteId() {
        return remoteId;
    }

    /** The queue pair on this side; 0 until that is known. */
    public int localQueuePair() {
        return localQp;
    }

    /** The queue pair on the other side; 0 until that is known. */
    public int remoteQueuePair() {
        return remoteQp;
    }
}
