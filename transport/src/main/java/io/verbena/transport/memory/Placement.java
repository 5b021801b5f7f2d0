// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.io.UncheckedIOException;
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

    /**
     * Copies 8 bytes of a frame to 8 aligned bytes of a region at once, after everything that was placed before; false
     * when the memory is gone.
     */
    public static boolean placeAtomically(MemorySegment frame, long offset, Region region, long virtualAddress) {
        try {
            LONG.setRelease(region.segment(), region.offset(virtualAddress), frame.get(JAVA_LONG_UNALIGNED, offset));
            return true;
        } catch (IllegalStateException | InternalError gone) {
            return false;
        }
    }

    /**
     * Makes everything that was placed before visible to all of this host, and with {@code persistent} carries a range
     * of a mapped file to storage, which takes as long as the storage does. False when the memory is gone or the
     * storage fails.
     */
    public static boolean flush(Region region, long virtualAddress, long bytes, boolean persistent) {
        VarHandle.fullFence();
        try {
            if (persistent && bytes > 0) {
                region.segment().asSlice(region.offset(virtualAddress), bytes).force();
            }
            return true;
        } catch (IllegalStateException | InternalError | UncheckedIOException | UnsupportedOperationException e) {
            return false;
        }
    }
}
