// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import io.verbena.link.DatagramLink;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A frame on its way, or an action at a time. Reused. */
final class Flight {
    static final int BYTES = DatagramLink.FRAME_BYTES_MIN;

    final MemorySegment buffer;
    final long offset;

    long at;
    /** Of things that happen at the same time the one planned first comes first. */
    long order;

    int length;
    long sourceHigh;
    long sourceLow;
    int sourcePort;
    long targetHigh;
    long targetLow;
    int targetPort;
    int trafficClass;

    @Nullable
    Host from;

    @Nullable
    Host to;

    @Nullable
    Runnable action;

    /** The next in the list of free flights or in an inbox. */
    @Nullable
    Flight next;

    Flight(MemorySegment buffer, long offset) {
        this.buffer = buffer;
        this.offset = offset;
    }

    boolean before(Flight other) {
        return at < other.at || (at == other.at && order < other.order);
    }

    void copyFrom(Flight other) {
        MemorySegment.copy(other.buffer, other.offset, buffer, offset, other.length);
        length = other.length;
        sourceHigh = other.sourceHigh;
        sourceLow = other.sourceLow;
        sourcePort = other.sourcePort;
        targetHigh = other.targetHigh;
        targetLow = other.targetLow;
        targetPort = other.targetPort;
        trafficClass = other.trafficClass;
        from = other.from;
        to = other.to;
    }
}
