// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.net.Ipv6;
import java.lang.foreign.MemorySegment;

/**
 * Global Route Header, laid out as an IPv6 header (IBTA vol 1 ch. 8.3): before the BTH of a RoCE v1 packet, and the
 * first 40 bytes of every UD receive buffer.
 *
 * <pre>
 *    +-----------+-----------------+-------------------+
 *  0 | version 4 | traffic class 8 |   flow label 20   |
 *    +-----------+-----+-----------+---+---------------+
 *  4 | payload length 16 | next hdr 8  |  hop limit 8  |
 *    +-------------------+-------------+---------------+
 *  8 |  source GID 128                                 |
 *    +-------------------------------------------------+
 * 24 |  destination GID 128                            |
 *    +-------------------------------------------------+
 * </pre>
 *
 * The payload length counts from behind the GRH to the last byte of the ICRC.
 */
public final class Grh {
    public static final int BYTES = 40;

    /** Next header: a BTH follows (IBTA vol 1 ch. 8.3). */
    public static final int NEXT_HEADER_BTH = 0x1b;

    private Grh() {}

    public static int version(MemorySegment s, long o) {
        return Ipv6.version(s, o);
    }

    public static int trafficClass(MemorySegment s, long o) {
        return Ipv6.trafficClass(s, o);
    }

    public static int flowLabel(MemorySegment s, long o) {
        return Ipv6.flowLabel(s, o);
    }

    public static int payloadLength(MemorySegment s, long o) {
        return Ipv6.payloadLength(s, o);
    }

    public static int nextHeader(MemorySegment s, long o) {
        return Ipv6.nextHeader(s, o);
    }

    public static int hopLimit(MemorySegment s, long o) {
        return Ipv6.hopLimit(s, o);
    }

    public static long sourceHigh(MemorySegment s, long o) {
        return Ipv6.sourceHigh(s, o);
    }

    public static long sourceLow(MemorySegment s, long o) {
        return Ipv6.sourceLow(s, o);
    }

    public static long destinationHigh(MemorySegment s, long o) {
        return Ipv6.destinationHigh(s, o);
    }

    public static long destinationLow(MemorySegment s, long o) {
        return Ipv6.destinationLow(s, o);
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
                    Grh.trafficClass(s, o),
                    Grh.flowLabel(s, o),
                    Grh.payloadLength(s, o),
                    Grh.nextHeader(s, o),
                    Grh.hopLimit(s, o),
                    Grh.sourceHigh(s, o),
                    Grh.sourceLow(s, o),
                    Grh.destinationHigh(s, o),
                    Grh.destinationLow(s, o));
        }

        public void write(MemorySegment s, long o) {
            Grh.write(
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
                    "GRH %s > %s tclass %02x flow %05x length %d next %02x hops %d",
                    Ipv6.format(sourceHigh, sourceLow),
                    Ipv6.format(destinationHigh, destinationLow),
                    trafficClass,
                    flowLabel,
                    payloadLength,
                    nextHeader,
                    hopLimit);
        }
    }
}
