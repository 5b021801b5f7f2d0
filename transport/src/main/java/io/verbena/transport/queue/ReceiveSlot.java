// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.queue;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/** A receive work request in a ring: {@code 0 wrId 8, 8 sgeCount 4, 12 reserved 4, 16 entries} in host byte order. */
public final class ReceiveSlot {
    public static final int HEADER_BYTES = 16;

    private ReceiveSlot() {}

    public static int bytes(int maxSge) {
        return (HEADER_BYTES + maxSge * SgeList.BYTES + 31) & ~31;
    }

    public static void header(MemorySegment s, long o, long wrId, int sgeCount) {
        s.set(JAVA_LONG_UNALIGNED, o, wrId);
        s.set(JAVA_INT_UNALIGNED, o + 8, sgeCount);
    }

    public static long wrId(MemorySegment s, long o) {
        return s.get(JAVA_LONG_UNALIGNED, o);
    }

    public static int sgeCount(MemorySegment s, long o) {
        return s.get(JAVA_INT_UNALIGNED, o + 8);
    }
}
