// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import io.verbena.wire.BigEndian;
import io.verbena.wire.net.Ipv6;
import java.lang.foreign.MemorySegment;

/**
 * What a connection between IP addresses puts before the private data of its REQ or SIDR_REQ (IBTA volume 1, annex
 * A11).
 *
 * <pre>
 *    +---------------+-----------------+------------------+
 *  0 | version 4 + 4 | IP version, 4   |   source port    |
 *    +---------------+-----------------+------------------+
 *  4 |   source address 128, an IPv4 one in the last 32   |
 *    +----------------------------------------------------+
 * 20 |            destination address 128                 |
 *    +----------------------------------------------------+
 * </pre>
 */
public final class IpCm {
    public static final int BYTES = 36;

    private IpCm() {}

    /** The version of this header; 0 is the only one there is. */
    public static int version(MemorySegment s, long o) {
        return BigEndian.u8(s, o);
    }

    /** 4 or 6. */
    public static int ipVersion(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 1) >> 4;
    }

    /** Whether this can be such a header: a known version of a known IP. */
    public static boolean isPlausible(MemorySegment s, long o) {
        return version(s, o) == 0 && (ipVersion(s, o) == 4 || ipVersion(s, o) == 6);
    }

    public static int sourcePort(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 2);
    }

    public static long sourceHigh(MemorySegment s, long o) {
        return BigEndian.i64(s, o + 4);
    }

    /** An IPv4 address is in the lower half of this. */
    public static long sourceLow(MemorySegment s, long o) {
        return BigEndian.i64(s, o + 12);
    }

    public static long destinationHigh(MemorySegment s, long o) {
        return BigEndian.i64(s, o + 20);
    }

    public static long destinationLow(MemorySegment s, long o) {
        return BigEndian.i64(s, o + 28);
    }

    /** The header as values. Reserved bits are not kept. */
    public record Fields(
            int version,
            int ipVersion,
            int sourcePort,
            long sourceHigh,
            long sourceLow,
            long destinationHigh,
            long destinationLow) {

        public static Fields read(MemorySegment s, long o) {
            return new Fields(
                    IpCm.version(s, o),
                    IpCm.ipVersion(s, o),
                    IpCm.sourcePort(s, o),
                    IpCm.sourceHigh(s, o),
                    IpCm.sourceLow(s, o),
                    IpCm.destinationHigh(s, o),
                    IpCm.destinationLow(s, o));
        }

        public void write(MemorySegment s, long o) {
            BigEndian.put8(s, o, version);
            BigEndian.put8(s, o + 1, ipVersion << 4);
            BigEndian.put16(s, o + 2, sourcePort);
            BigEndian.put64(s, o + 4, sourceHigh);
            BigEndian.put64(s, o + 12, sourceLow);
            BigEndian.put64(s, o + 20, destinationHigh);
            BigEndian.put64(s, o + 28, destinationLow);
        }

        @Override
        public String toString() {
            return String.format(
                    "IP CM version %d IPv%d %s port %d to %s",
                    version,
                    ipVersion,
                    Ipv6.format(sourceHigh, sourceLow),
                    sourcePort,
                    Ipv6.format(destinationHigh, destinationLow));
        }
    }
}
