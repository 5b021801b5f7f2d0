// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.verbena.ffi.LinuxSockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** What {@code ppoll(2)} looks at: an array of {@code struct pollfd}. One thread at a time. */
final class PollSet {
    private static final int ENTRY_BYTES = 8;
    private static final int EVENTS = 4;
    private static final int RETURNED = 6;
    private static final long SECOND_NS = 1_000_000_000L;

    private final MemorySegment entries;
    private final MemorySegment timeout;

    PollSet(Arena arena, int capacity) {
        entries = arena.allocate((long) ENTRY_BYTES * capacity, 8);
        timeout = arena.allocate(2L * Long.BYTES, 8);
    }

    /** Errors are reported whatever the events. A descriptor of -1 is passed over. */
    void set(int index, int fd, int events) {
        long at = (long) index * ENTRY_BYTES;
        entries.set(JAVA_INT, at, fd);
        entries.set(JAVA_SHORT, at + EVENTS, (short) events);
        entries.set(JAVA_SHORT, at + RETURNED, (short) 0);
    }

    /** The events of an entry; after a {@link #poll} that gave more than 0. */
    int returned(int index) {
        return entries.get(JAVA_SHORT, (long) index * ENTRY_BYTES + RETURNED);
    }

    /**
     * How many of the first entries have events, 0 after the timeout (never for {@link Long#MAX_VALUE}), -1 for a
     * signal.
     */
    int poll(int count, long timeoutNanos) {
        timeout.set(JAVA_LONG, 0, timeoutNanos / SECOND_NS);
        timeout.set(JAVA_LONG, Long.BYTES, timeoutNanos % SECOND_NS);
        long limit = timeoutNanos == Long.MAX_VALUE ? 0 : timeout.address();
        return LinuxSockets.ppollQuick(entries.address(), count, limit);
    }
}
