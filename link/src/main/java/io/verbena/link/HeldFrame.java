// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A copy of one frame that waits until some later ones have gone by. */
final class HeldFrame {
    private static final int BYTES = 1 << 16;

    private final MemorySegment space = Arena.ofAuto().allocate(BYTES, 64);
    private final Frame frame = new Frame();
    private boolean full;
    private int framesLeft;

    boolean full() {
        return full;
    }

    void hold(Frame source, int distance) {
        copy(source, frame, space, 0);
        full = true;
        framesLeft = distance;
    }

    /** Counts a frame that overtakes; whether it is time now. */
    boolean overtaken() {
        if (!full) {
            return false;
        }
        framesLeft--;
        return framesLeft <= 0;
    }

    /** Empties the place; the frame is valid until the next {@link #hold}. */
    Frame release() {
        full = false;
        return frame;
    }

    /** Copies bytes and addressing; {@code to} then lies in {@code space}. */
    static void copy(Frame from, Frame to, MemorySegment space, long offset) {
        MemorySegment.copy(from.buffer(), from.offset(), space, offset, from.length());
        to.wrap(space, offset, from.length());
        to.local(from.localHigh(), from.localLow(), from.localPort());
        to.remote(from.remoteHigh(), from.remoteLow(), from.remotePort());
        to.ipId(from.ipId());
        to.trafficClass(from.trafficClass());
    }
}
