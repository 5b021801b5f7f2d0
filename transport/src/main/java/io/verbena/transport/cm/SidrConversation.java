// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import org.jspecify.annotations.Nullable;

/** A question for the queue pair of a datagram service, on either side. */
public final class SidrConversation extends Timed {
    final boolean active;
    final long serviceId;
    final Path path;
    final int requestId;
    final long transaction;
    /** Passive: whose backlog it counts in, until it is answered. */
    @Nullable
    CmListener listener;

    private @Nullable Object attachment;

    SidrConversation(boolean active, long serviceId, Path path, int requestId, long transaction) {
        this.active = active;
        this.serviceId = serviceId;
        this.path = path;
        this.requestId = requestId;
        this.transaction = transaction;
    }

    /** Whether this side asked. */
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

    /** What the consumer keeps here. */
    public @Nullable Object attachment() {
        return attachment;
    }

    public void attach(@Nullable Object object) {
        attachment = object;
    }
}
