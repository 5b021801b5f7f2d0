// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.queue;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A send work request in a ring, in host byte order:
 *
 * <pre>
 *  0 wrId 8          | 16 remoteAddress 8        | 32 compareAdd 8 | 48 firstPsn 4 (engine)
 *  8 opcode 1        | 24 rkey 4                 | 40 swap 8       | 52 packets 4 (engine)
 *  9 flags 1         | 28 length 4 (unsigned)    |                 | 56 sharedReceiveQueue 4 (XRC)
 * 10 sgeCount 1, 11 inline 1                     |
 * 12 immediate 4     |                          |                 | 60 reserved 4
 * 64 entries of 16 bytes {address 8, length 4, lkey 4}, or the inline payload
 * </pre>
 *
 * <p>A datagram has, in place of the remote address and rkey, {@code 16 addressHandle 4, 20 destinationQp 4, 24 qkey
 * 4}. A FLUSH has {@code placement} in the low 4 bits of {@code immediate} and {@code scope} above them. A bind has
 * {@code 16 address 8, 24 newRkey 4, 32 bindLength 8, 40 lkey 4, 44 access 4}.
 */
public final class SendSlot {
    public static final int HEADER_BYTES = 64;

    private static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED;

    private SendSlot() {}

    /** Bytes of a slot with room for a number of entries or inline bytes, a multiple of a cache line. */
    public static int bytes(int maxSge, int maxInline) {
        return (HEADER_BYTES + Math.max(maxSge * SgeList.BYTES, maxInline) + 63) & ~63;
    }

    public static void operation(
            MemorySegment s, long o, long wrId, int opcode, int flags, int immediate, long length) {
        s.set(LONG, o, wrId);
        s.set(JAVA_BYTE, o + 8, (byte) opcode);
        s.set(JAVA_BYTE, o + 9, (byte) flags);
        s.set(INT, o + 12, immediate);
        s.set(INT, o + 28, (int) length);
    }

    public static void payload(MemorySegment s, long o, int sgeCount, boolean inline) {
        s.set(JAVA_BYTE, o + 10, (byte) sgeCount);
        s.set(JAVA_BYTE, o + 11, (byte) (inline ? 1 : 0));
    }

    public static void remote(MemorySegment s, long o, long remoteAddress, int rkey) {
        s.set(LONG, o + 16, remoteAddress);
        s.set(INT, o + 24, rkey);
    }

    public static void atomic(MemorySegment s, long o, long compareAdd, long swap) {
        s.set(LONG, o + 32, compareAdd);
        s.set(LONG, o + 40, swap);
    }

    public static void destination(MemorySegment s, long o, int addressHandle, int qpNumber, int qkey) {
        s.set(INT, o + 16, addressHandle);
        s.set(INT, o + 20, qpNumber);
        s.set(INT, o + 24, qkey);
    }

    /** What a window is bound to: a stretch of the region of {@code lkey}. */
    public static void bind(MemorySegment s, long o, int newRkey, int lkey, long address, long bindLength, int access) {
        remote(s, o, address, newRkey);
        s.set(LONG, o + 32, bindLength);
        s.set(INT, o + 40, lkey);
        s.set(INT, o + 44, access);
    }

    public static void flush(MemorySegment s, long o, int placement, int scope) {
        s.set(INT, o + 12, scope << 4 | placement);
    }

    public static void sharedReceiveQueue(MemorySegment s, long o, int number) {
        s.set(INT, o + 56, number);
    }

    public static long wrId(MemorySegment s, long o) {
        return s.get(LONG, o);
    }

    public static int opcode(MemorySegment s, long o) {
        return s.get(JAVA_BYTE, o + 8);
    }

    public static int flags(MemorySegment s, long o) {
        return s.get(JAVA_BYTE, o + 9);
    }

    public static int sgeCount(MemorySegment s, long o) {
        return s.get(JAVA_BYTE, o + 10);
    }

    public static boolean inline(MemorySegment s, long o) {
        return s.get(JAVA_BYTE, o + 11) != 0;
    }

    public static int immediate(MemorySegment s, long o) {
        return s.get(INT, o + 12);
    }

    public static long remoteAddress(MemorySegment s, long o) {
        return s.get(LONG, o + 16);
    }

    public static int rkey(MemorySegment s, long o) {
        return s.get(INT, o + 24);
    }

    public static long length(MemorySegment s, long o) {
        return Integer.toUnsignedLong(s.get(INT, o + 28));
    }

    public static long compareAdd(MemorySegment s, long o) {
        return s.get(LONG, o + 32);
    }

    public static long swap(MemorySegment s, long o) {
        return s.get(LONG, o + 40);
    }

    public static long bindLength(MemorySegment s, long o) {
        return s.get(LONG, o + 32);
    }

    public static int lkey(MemorySegment s, long o) {
        return s.get(INT, o + 40);
    }

    public static int access(MemorySegment s, long o) {
        return s.get(INT, o + 44);
    }

    public static int placement(MemorySegment s, long o) {
        return immediate(s, o) & 0xf;
    }

    public static int scope(MemorySegment s, long o) {
        return immediate(s, o) >> 4;
    }

    public static int addressHandle(MemorySegment s, long o) {
        return s.get(INT, o + 16);
    }

    public static int destinationQp(MemorySegment s, long o) {
        return s.get(INT, o + 20);
    }

    public static int qkey(MemorySegment s, long o) {
        return s.get(INT, o + 24);
    }

    public static int sharedReceiveQueue(MemorySegment s, long o) {
        return s.get(INT, o + 56);
    }

    public static int firstPsn(MemorySegment s, long o) {
        return s.get(INT, o + 48);
    }

    public static int packets(MemorySegment s, long o) {
        return s.get(INT, o + 52);
    }

    public static void psns(MemorySegment s, long o, int firstPsn, int packets) {
        s.set(INT, o + 48, firstPsn);
        s.set(INT, o + 52, packets);
    }
}
