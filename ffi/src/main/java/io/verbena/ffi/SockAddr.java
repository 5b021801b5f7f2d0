// SPDX-License-Identifier: Apache-2.0
package io.verbena.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * {@code struct sockaddr_in} (family, port, address: ip(7)) and {@code struct sockaddr_in6} (family, port, flow
 * information, address, scope: ipv6(7)). Addresses are 128 bits in two longs, IPv4 as {@code ::ffff:a.b.c.d}.
 */
public final class SockAddr {
    public static final int IN_BYTES = 16;
    public static final int IN6_BYTES = 28;

    private static final int PORT = 2;
    private static final int IN_ADDRESS = 4;
    private static final int IN6_FLOW = 4;
    private static final int IN6_ADDRESS = 8;
    private static final int IN6_SCOPE = 24;
    private static final long V4_MAPPED = 0xffffL << 32;

    private static final ValueLayout.OfShort NET_SHORT = JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt NET_INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong NET_LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private SockAddr() {}

    /** Writes a sockaddr_in6 if {@code ipv6}, else a sockaddr_in, and returns its length. */
    public static int write(
            MemorySegment segment, long offset, boolean ipv6, long high, long low, int port, int scopeId) {
        segment.set(NET_SHORT, offset + PORT, (short) port);
        if (!ipv6) {
            segment.set(JAVA_SHORT_UNALIGNED, offset, (short) LinuxSockets.AF_INET);
            segment.set(NET_INT, offset + IN_ADDRESS, (int) low);
            segment.set(NET_LONG, offset + IN_ADDRESS + Integer.BYTES, 0L);
            return IN_BYTES;
        }
        segment.set(JAVA_SHORT_UNALIGNED, offset, (short) LinuxSockets.AF_INET6);
        segment.set(NET_INT, offset + IN6_FLOW, 0);
        segment.set(NET_LONG, offset + IN6_ADDRESS, high);
        segment.set(NET_LONG, offset + IN6_ADDRESS + Long.BYTES, low);
        segment.set(JAVA_INT_UNALIGNED, offset + IN6_SCOPE, scopeId);
        return IN6_BYTES;
    }

    public static int family(MemorySegment segment, long offset) {
        return segment.get(JAVA_SHORT_UNALIGNED, offset);
    }

    public static int port(MemorySegment segment, long offset) {
        return Short.toUnsignedInt(segment.get(NET_SHORT, offset + PORT));
    }

    public static long high(MemorySegment segment, long offset) {
        return family(segment, offset) == LinuxSockets.AF_INET6 ? segment.get(NET_LONG, offset + IN6_ADDRESS) : 0L;
    }

    public static long low(MemorySegment segment, long offset) {
        return family(segment, offset) == LinuxSockets.AF_INET6
                ? segment.get(NET_LONG, offset + IN6_ADDRESS + Long.BYTES)
                : V4_MAPPED | Integer.toUnsignedLong(segment.get(NET_INT, offset + IN_ADDRESS));
    }
}
