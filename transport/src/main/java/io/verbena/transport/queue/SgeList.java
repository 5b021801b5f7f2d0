// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.queue;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Scatter/gather entries in a slot: 16 bytes each, {@code {address 8, length 4, lkey 4}} in host byte order. */
public final class SgeList {
    public static final int BYTES = 16;

    private static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED;

    private SgeList() {}

    /** Writes entry {@code index} of the list that starts at {@code o}. */
    public static void set(MemorySegment s, long o, int index, long address, int length, int lkey) {
        long at = o + (long) index * BYTES;
        s.set(LONG, at, address);
        s.set(INT, at + 8, length);
        s.set(INT, at + 12, lkey);
    }

    public static long address(MemorySegment s, long o, int index) {
        return s.get(LONG, o + (long) index * BYTES);
    }

    public static long length(MemorySegment s, long o, int index) {
        return Integer.toUnsignedLong(s.get(INT, o + (long) index * BYTES + 8));
    }

    public static int lkey(MemorySegment s, long o, int index) {
        return s.get(INT, o + (long) index * BYTES + 12);
    }

    /** The bytes of all entries together. */
    public static long total(MemorySegment s, long o, int count) {
        long total = 0;
        for (int i = 0; i < count; i++) {
            total += length(s, o, i);
        }
        return total;
    }
}
