// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import org.jspecify.annotations.Nullable;

/**
 * A talk with another port, of whichever kind. It waits, most of the time for the answer to a message that is repeated
 * until it comes.
 */
abstract sealed class Timed permits Conversation, SidrConversation {
    final boolean active;
    final long serviceId;
    final Path path;

    /** Passive: in whose backlog it counts until the consumer answers. */
    @Nullable
    CmListener listener;

    /** Of {@link Timers}. */
    long deadline;

    /** Of {@link Timers}: earlier ones first among those of the same time; 0 when none is armed. */
    long serial;

    /** What is repeated. */
    @Nullable
    Message message;

    /** The present wait. */
    long interval;

    int repeats;
    /** When no more is repeated. */
    long giveUp;

    /** Nobody wants events. */
    boolean abandoned;

    private @Nullable Object attachment;

    Timed(boolean active, long serviceId, Path path) {
        this.active = active;
        this.serviceId = serviceId;
        this.path = path;
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
