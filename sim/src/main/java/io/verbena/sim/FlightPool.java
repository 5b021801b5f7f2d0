// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Flights that are not in use. Each chunk is as large as all before it, so that few buffers hold all frames. One thread
 * uses them: a shared arena would count every checksum in and out with atomic instructions.
 */
final class FlightPool implements AutoCloseable {
    private static final int CHUNK_MIN = 64;
    /** More than links and inboxes can hold: beyond it something leaks. */
    private static final int FLIGHTS_MAX = 1 << 18;

    private final Arena arena = Arena.ofConfined();
    private @Nullable Flight free;
    private int made;

    Flight take() {
        Flight first = free;
        if (first == null) {
            first = grow();
        }
        free = first.next;
        first.next = null;
        return first;
    }

    private Flight grow() {
        if (made >= FLIGHTS_MAX) {
            throw new IllegalStateException("more than " + FLIGHTS_MAX + " frames are on their way");
        }
        int count = Math.max(CHUNK_MIN, made);
        MemorySegment chunk = arena.allocate((long) count * Flight.BYTES, 64);
        Flight list = new Flight(chunk, 0);
        for (int i = 1; i < count; i++) {
            Flight flight = new Flight(chunk, (long) i * Flight.BYTES);
            flight.next = list;
            list = flight;
        }
        made += count;
        return list;
    }

    void release(Flight flight) {
        flight.from = null;
        flight.to = null;
        flight.action = null;
        flight.next = free;
        free = flight;
    }

    /** Gives the buffers back; no flight may be used any more. */
    @Override
    public void close() {
        arena.close();
    }
}
