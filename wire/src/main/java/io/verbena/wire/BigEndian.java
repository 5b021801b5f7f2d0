// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Network byte order over (segment, offset), at any alignment. The layouts are {@code static final}, which is what lets
 * the JIT reduce each call to one load or store.
 */
public final class BigEndian {
    private static final ValueLayout.OfByte U8 = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private BigEndian() {}

    /** 0 to 255. */
    public static int u8(MemorySegment s, long o) {
        return s.get(U8, o) & 0xff;
    }

    /** 0 to 65535. */
    public static int u16(MemorySegment s, long o) {
        return s.get(U16, o) & 0xffff;
    }

    /**
     * The low three bytes of the four at {@code o}: how IBTA headers carry 24-bit fields, after a byte of something
     * else.
     */
    public static int low24(MemorySegment s, long o) {
        return s.get(U32, o) & 0xffffff;
    }

    public static int i32(MemorySegment s, long o) {
        return s.get(U32, o);
    }

    /** 0 to 2^32 - 1. */
    public static long u32(MemorySegment s, long o) {
        return s.get(U32, o) & 0xffff_ffffL;
    }

    public static long i64(MemorySegment s, long o) {
        return s.get(U64, o);
    }

    public static void put8(MemorySegment s, long o, int value) {
        s.set(U8, o, (byte) value);
    }

    public static void put16(MemorySegment s, long o, int value) {
        s.set(U16, o, (short) value);
    }

    public static void put32(MemorySegment s, long o, int value) {
        s.set(U32, o, value);
    }

    public static void put64(MemorySegment s, long o, long value) {
        s.set(U64, o, value);
    }
}
