// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What will happen, the next first: a binary heap by time and order. */
final class EventQueue {
    private @Nullable Flight[] heap = new @Nullable Flight[256];
    private int size;
    private long planned;

    /** When the first happens, {@link Long#MAX_VALUE} for never. */
    long firstAt() {
        return size == 0 ? Long.MAX_VALUE : at(0).at;
    }

    int size() {
        return size;
    }

    void add(Flight flight, long time) {
        flight.at = time;
        flight.order = planned++;
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, 2 * size);
        }
        int hole = size++;
        while (hole > 0) {
            int parent = (hole - 1) >>> 1;
            Flight above = at(parent);
            if (above.before(flight)) {
                break;
            }
            heap[hole] = above;
            hole = parent;
        }
        heap[hole] = flight;
    }

    Flight poll() {
        Flight first = at(0);
        Flight last = at(--size);
        heap[size] = null;
        if (size > 0) {
            sink(last);
        }
        return first;
    }

    private void sink(Flight flight) {
        int hole = 0;
        int half = size >>> 1;
        while (hole < half) {
            int child = 2 * hole + 1;
            if (child + 1 < size && at(child + 1).before(at(child))) {
                child++;
            }
            if (flight.before(at(child))) {
                break;
            }
            heap[hole] = at(child);
            hole = child;
        }
        heap[hole] = flight;
    }

    private Flight at(int index) {
        return Objects.requireNonNull(heap[index]);
    }
}
