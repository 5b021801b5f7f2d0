// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Moves bytes between frames and regions. Copying returns false, and has moved nothing that matters, when the memory is
 * gone: its arena was closed, or the file behind a mapping shrank. The caller reports that as an access error.
 */
public final class Placement {
    private static final VarHandle LONG = JAVA_LONG.varHandle();

    private Placement() {}

    /**
     * Copies arrived bytes into a region that was checked to contain them. The last byte is written after all others,
     * so that a program that polls it sees the whole.
     */
    public static boolean place(MemorySegment frame, long offset, Region region, long virtualAddress, int bytes) {
        if (bytes == 0) {
            return true;
        }
        long target = region.offset(virtualAddress);
        int last = bytes - 1;
        try {
            MemorySegment.copy(frame, offset, region.segment(), target, last);
            VarHandle.releaseFence();
            region.segment().set(JAVA_BYTE, target + last, frame.get(JAVA_BYTE, offset + last));
            return true;
        } catch (IllegalStateException | InternalError gone) {
            return false;
        }
    }

    /** Copies from a region that was checked to contain the range. */
    public static boolean fetch(Region region, long virtualAddress, MemorySegment frame, long offset, int bytes) {
        try {
            MemorySegment.copy(region.segment(), region.offset(virtualAddress), frame, offset, bytes);
            return true;
        } catch (IllegalStateException | InternalError gone) {
            return false;
        }
    }

    /**
     * Adds to 8 aligned bytes in host order, atomically, and returns the old value. Throws as a segment does when its
     * memory is gone.
     */
    public static long fetchAndAdd(Region region, long virtualAddress, long add) {
        return (long) LONG.getAndAdd(region.segment(), region.offset(virtualAddress), add);
    }

    /**
     * Swaps 8 aligned bytes in host order when they equal {@code compare}, atomically, and returns the old value.
     * Throws as a segment does when its memory is gone.
     */
    public static long compareAndSwap(Region region, long virtualAddress, long compare, long swap) {
        return (long) LONG.compareAndExchange(region.segment(), region.offset(virtualAddress), compare, swap);
    }
}
