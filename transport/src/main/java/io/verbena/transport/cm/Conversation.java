// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import org.jspecify.annotations.Nullable;

/** One connection in the eyes of the connection manager, from REQ to the end of its timewait. */
public final class Conversation {
    final boolean active;
    final long serviceId;
    final Path path;
    final int localId;
    int remoteId;
    int localQp;
    int remoteQp;
    ConversationState state;
    private @Nullable Object attachment;

    Conversation(boolean active, long serviceId, Path path, int localId, ConversationState state) {
        this.active = active;
        this.serviceId = serviceId;
        this.path = path;
        this.localId = localId;
        this.state = state;
    }

    /** Whether this side asked for the connection. */
    public boolean active() {
        return active;
    }

    public long serviceId() {
        return serviceId;
    }

    /** The way of its datagrams. */
    public Path path() {
        return path;
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

    /** What the consumer keeps here. */
    public @Nullable Object attachment() {
        return attachment;
    }

    public void attach(@Nullable Object object) {
        attachment = object;
    }
}
