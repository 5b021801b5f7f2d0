// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.net;

import io.verbena.wire.BigEndian;
import io.verbena.wire.Frame;
import java.lang.foreign.MemorySegment;

/**
 * IPv6 header (RFC 8200 ch. 3). Addresses are two longs each.
 *
 * <pre>
 *    +-----------+-----------------+-------------------+
 *  0 | version 4 | traffic class 8 |   flow label 20   |
 *    +-----------+-----+-----------+---+---------------+
 *  4 | payload length 16 | next hdr 8  |  hop limit 8  |
 *    +-------------------+-------------+---------------+
 *  8 |  source 128                                     |
 *    +-------------------------------------------------+
 * 24 |  destination 128                                |
 *    +-------------------------------------------------+
 * </pre>
 */
public final class Ipv6 {
    public static final int BYTES = 40;

    private Ipv6() {}

    public static int version(MemorySegment s, long o) {
        return BigEndian.u8(s, o) >> 4;
    }

    /** DSCP in the upper six bits, ECN in the lower two (RFC 2474, RFC 3168). */
    public static int trafficClass(MemorySegment s, long o) {
        return BigEndian.u16(s, o) >> 4 & 0xff;
    }

    public static int flowLabel(MemorySegment s, long o) {
        return BigEndian.i32(s, o) & 0xfffff;
    }

    /** Bytes behind this header. */
    public static int payloadLength(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 4);
    }

    public static int nextHeader(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 6);
    }

    public static int hopLimit(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 7);
    }

    public static long sourceHigh(MemorySegment s, long o) {
        return BigEndian.i64(s, o + 8);
    }

    public static long sourceLow(MemorySegment s, long o) {
        return BigEndian.i64(s, o + 16);
    }

    public static long destinationHigh(MemorySegment s, long o) {
        return BigEndian.i64(s, o + 24);
    }

    public static long destinationLow(MemorySegment s, long o) {
        return BigEndian.i64(s, o + 32);
    }

    public static void write(
            MemorySegment s,
            long o,
            int trafficClass,
            int flowLabel,
            int payloadLength,
            int nextHeader,
            int hopLimit,
            long sourceHigh,
            long sourceLow,
            long destinationHigh,
            long destinationLow) {
        BigEndian.put32(s, o, 6 << 28 | (trafficClass & 0xff) << 20 | (flowLabel & 0xfffff));
        BigEndian.put32(s, o + 4, payloadLength << 16 | (nextHeader & 0xff) << 8 | (hopLimit & 0xff));
        BigEndian.put64(s, o + 8, sourceHigh);
        BigEndian.put64(s, o + 16, sourceLow);
        BigEndian.put64(s, o + 24, destinationHigh);
        BigEndian.put64(s, o + 32, destinationLow);
    }

    /** An address in the canonical form of RFC 5952; one that maps an IPv4 address as {@code ::ffff:10.9.0.1}. */
    public static String format(long high, long low) {
        if (Frame.isIpv4Mapped(high, low)) {
            return "::ffff:" + Ipv4.format((int) low);
        }
        int bestAt = -1;
        int bestRun = 1;
        for (int i = 0; i < 8; i++) {
            int run = 0;
            while (i + run < 8 && group(high, low, i + run) == 0) {
                run++;
            }
            if (run > bestRun) {
                bestAt = i;
                bestRun = run;
            }
        }
        StringBuilder text = new StringBuilder(39);
        for (int i = 0; i < 8; i++) {
            if (i == bestAt) {
                text.append("::");
                i += bestRun - 1;
                continue;
            }
            if (!text.isEmpty() && text.charAt(text.length() - 1) != ':') {
                text.append(':');
            }
            text.append(Integer.toHexString(group(high, low, i)));
        }
        return text.toString();
    }

    private static int group(long high, long low, int index) {
        return (int) ((index < 4 ? high : low) >>> (48 - 16 * (index & 3))) & 0xffff;
    }

    /** The header as values; the version is 6. */
    public record Fields(
            int trafficClass,
            int flowLabel,
            int payloadLength,
            int nextHeader,
            int hopLimit,
            long sourceHigh,
            long sourceLow,
            long destinationHigh,
            long destinationLow) {

        public static Fields read(MemorySegment s, long o) {
            return new Fields(
                    Ipv6.trafficClass(s, o),
                    Ipv6.flowLabel(s, o),
                    Ipv6.payloadLength(s, o),
                    Ipv6.nextHeader(s, o),
                    Ipv6.hopLimit(s, o),
                    Ipv6.sourceHigh(s, o),
                    Ipv6.sourceLow(s, o),
                    Ipv6.destinationHigh(s, o),
                    Ipv6.destinationLow(s, o));
        }

        public void write(MemorySegment s, long o) {
            Ipv6.write(
                    s,
                    o,
                    trafficClass,
                    flowLabel,
                    payloadLength,
                    nextHeader,
                    hopLimit,
                    sourceHigh,
                    sourceLow,
                    destinationHigh,
                    destinationLow);
        }

        @Override
        public String toString() {
            return String.format(
                    "IPv6 %s > %s class %02x flow %05x length %d next %d hops %d",
                    format(sourceHigh, sourceLow),
                    format(destinationHigh, destinationLow),
                    trafficClass,
                    flowLabel,
                    payloadLength,
                    nextHeader,
                    hopLimit);
        }
    }
}
