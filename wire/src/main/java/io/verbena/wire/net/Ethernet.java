// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.net;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Ethernet II header (IEEE 802.3 ch. 3.1.1). MAC addresses are the low 48 bits of a long.
 *
 * <pre>
 *    +--------------------+--------------------+----------+
 *  0 |   destination 48   |     source 48      | type 16  |
 *    +--------------------+--------------------+----------+
 * </pre>
 */
public final class Ethernet {
    public static final int BYTES = 14;

    public static final int TYPE_IPV4 = 0x0800;
    public static final int TYPE_ARP = 0x0806;
    public static final int TYPE_IPV6 = 0x86dd;

    /** RoCE v1: a GRH follows (IBTA vol 1 annex A16). */
    public static final int TYPE_ROCE_V1 = 0x8915;

    /** An 802.1Q tag of {@link #TAG_BYTES} bytes follows, and then the type proper. */
    public static final int TYPE_VLAN = 0x8100;

    public static final int TAG_BYTES = 4;

    private Ethernet() {}

    public static long destination(MemorySegment s, long o) {
        return BigEndian.i64(s, o) >>> 16;
    }

    public static long source(MemorySegment s, long o) {
        return (long) BigEndian.u16(s, o + 6) << 32 | BigEndian.u32(s, o + 8);
    }

    public static int type(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 12);
    }

    public static void write(MemorySegment s, long o, long destination, long source, int type) {
        BigEndian.put64(s, o, destination << 16 | (source >>> 32 & 0xffff));
        BigEndian.put32(s, o + 8, (int) source);
        BigEndian.put16(s, o + 12, type);
    }

    /** A MAC address as {@code 52:54:00:00:00:01}. */
    public static String format(long mac) {
        StringBuilder text = new StringBuilder(17);
        for (int shift = 40; shift >= 0; shift -= 8) {
            int octet = (int) (mac >>> shift) & 0xff;
            text.append(Character.forDigit(octet >> 4, 16)).append(Character.forDigit(octet & 0xf, 16));
            if (shift > 0) {
                text.append(':');
            }
        }
        return text.toString();
    }

    /** The header as values. */
    public record Fields(long destination, long source, int type) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(Ethernet.destination(s, o), Ethernet.source(s, o), Ethernet.type(s, o));
        }

        public void write(MemorySegment s, long o) {
            Ethernet.write(s, o, destination, source, type);
        }

        @Override
        public String toString() {
            return String.format("Ethernet %s > %s type %04x", format(source), format(destination), type);
        }
    }
}
