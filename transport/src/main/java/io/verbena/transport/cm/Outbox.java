// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import io.verbena.wire.cm.Mad;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Datagrams that wait until the port takes them. A conversation has few; answers that belong to none are limited. */
final class Outbox {
    /** With more than this waiting, the link stands still: who hears no answer asks again. */
    private static final int REPLIES_MAX = 1024;

    private final ArrayDeque<Message> waiting = new ArrayDeque<>();

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Sends a message of a conversation, unless it waits already. */
    void send(Message message) {
        if (!message.queued) {
            message.queued = true;
            waiting.add(message);
        }
    }

    boolean hasRoomForReplies() {
        return waiting.size() < REPLIES_MAX;
    }

    @Nullable
    Path poll(MemorySegment out, long offset) {
        Message message = waiting.poll();
        if (message == null) {
            return null;
        }
        message.queued = false;
        MemorySegment.copy(message.mad, 0, out, offset, Mad.BYTES);
        return message.path;
    }
}
