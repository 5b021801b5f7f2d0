// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.net;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * IPv4 header (RFC 791 ch. 3.1). Written without options; addresses are an int each.
 *
 * <pre>
 *    +-----------+-------+-------------------+----------------------------+
 *  0 | version 4 | IHL 4 | traffic class 8   | total length 16            |
 *    +-----------+-------+-------------------+--+----+----+---------------+
 *  4 | identification 16                     |0 | DF | MF | fragment 13   |
 *    +-------------------+-------------------+--+----+----+---------------+
 *  8 | time to live 8    | protocol 8        | header checksum 16         |
 *    +-------------------+-------------------+----------------------------+
 * 12 | source 32                                                          |
 *    +--------------------------------------------------------------------+
 * 16 | destination 32                                                     |
 *    +--------------------------------------------------------------------+
 * </pre>
 */
public final class Ipv4 {
    /** Without options. */
    public static final int BYTES = 20;

    /** First byte of a header without options: version 4, five words. */
    public static final int VERSION_AND_LENGTH = 0x45;

    public static final int PROTOCOL_UDP = 17;

    private static final int DONT_FRAGMENT = 0x4000;
    private static final int MORE_FRAGMENTS = 0x2000;
    private static final int FRAGMENT_OFFSET = 0x1fff;

    private Ipv4() {}

    public static int version(MemorySegment s, long o) {
        return BigEndian.u8(s, o) >> 4;
    }

    /** Bytes of this header, options included, as it says itself: 0 to 60, valid from 20. */
    public static int headerBytes(MemorySegment s, long o) {
        return (BigEndian.u8(s, o) & 0xf) * 4;
    }

    /** DSCP in the upper six bits, ECN in the lower two (RFC 2474, RFC 3168). */
    public static int trafficClass(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 1);
    }

    public static int totalLength(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 2);
    }

    public static int identification(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 4);
    }

    public static boolean dontFragment(MemorySegment s, long o) {
        return (BigEndian.u16(s, o + 6) & DONT_FRAGMENT) != 0;
    }

    /** Whether this is a part of a datagram: more follow, or it is not the first. */
    public static boolean isFragment(MemorySegment s, long o) {
        return (BigEndian.u16(s, o + 6) & (MORE_FRAGMENTS | FRAGMENT_OFFSET)) != 0;
    }

    public static int timeToLive(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 8);
    }

    public static int protocol(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 9);
    }

    public static int headerChecksum(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 10);
    }

    public static int source(MemorySegment s, long o) {
        return BigEndian.i32(s, o + 12);
    }

    public static int destination(MemorySegment s, long o) {
        return BigEndian.i32(s, o + 16);
    }

    /** Writes 20 bytes, checksum included. */
    public static void write(
            MemorySegment s,
            long o,
            int trafficClass,
            int totalLength,
            int identification,
            boolean dontFragment,
            int timeToLive,
            int protocol,
            int source,
            int destination) {
        BigEndian.put32(s, o, VERSION_AND_LENGTH << 24 | (trafficClass & 0xff) << 16 | (totalLength & 0xffff));
        BigEndian.put32(s, o + 4, identification << 16 | (dontFragment ? DONT_FRAGMENT : 0));
        BigEndian.put32(s, o + 8, timeToLive << 24 | (protocol & 0xff) << 16);
        BigEndian.put32(s, o + 12, source);
        BigEndian.put32(s, o + 16, destination);
        BigEndian.put16(s, o + 10, checksum(s, o));
    }

    /** The checksum that a header without options should have (RFC 1071), whatever its checksum field holds. */
    public static int checksum(MemorySegment s, long o) {
        long sum = BigEndian.u32(s, o)
                + BigEndian.u32(s, o + 4)
                + (BigEndian.u32(s, o + 8) & 0xffff_0000L)
                + BigEndian.u32(s, o + 12)
                + BigEndian.u32(s, o + 16);
        sum = (sum >>> 32) + (sum & 0xffff_ffffL);
        sum = (sum >>> 16) + (sum & 0xffff);
        sum = (sum >>> 16) + (sum & 0xffff);
        sum = (sum >>> 16) + (sum & 0xffff);
        return (int) ~sum & 0xffff;
    }

    /** An address as {@code 10.9.0.1}. */
    public static String format(int address) {
        return (address >>> 24) + "." + (address >>> 16 & 0xff) + "." + (address >>> 8 & 0xff) + "." + (address & 0xff);
    }

    /** The header as values; no options, not a fragment, checksum computed. */
    public record Fields(
            int trafficClass,
            int totalLength,
            int identification,
            boolean dontFragment,
            int timeToLive,
            int protocol,
            int source,
            int destination) {

        public static Fields read(MemorySegment s, long o) {
            return new Fields(
                    Ipv4.trafficClass(s, o),
                    Ipv4.totalLength(s, o),
                    Ipv4.identification(s, o),
                    Ipv4.dontFragment(s, o),
                    Ipv4.timeToLive(s, o),
                    Ipv4.protocol(s, o),
                    Ipv4.source(s, o),
                    Ipv4.destination(s, o));
        }

        public void write(MemorySegment s, long o) {
            Ipv4.write(
                    s,
                    o,
                    trafficClass,
                    totalLength,
                    identification,
                    dontFragment,
                    timeToLive,
                    protocol,
                    source,
                    destination);
        }

        @Override
        public String toString() {
            return String.format(
                    "IPv4 %s > %s class %02x length %d id %04x%s ttl %d protocol %d",
                    format(source),
                    format(destination),
                    trafficClass,
                    totalLength,
                    identification,
                    dontFragment ? " DF" : "",
                    timeToLive,
                    protocol);
        }
    }
}
