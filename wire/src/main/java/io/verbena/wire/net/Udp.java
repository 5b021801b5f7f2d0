// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.net;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * UDP header (RFC 768).
 *
 * <pre>
 *    +----------------+---------------------+
 *  0 | source port 16 | destination port 16 |
 *    +----------------+---------------------+
 *  4 | length 16      | checksum 16         |
 *    +----------------+---------------------+
 * </pre>
 *
 * The length counts this header. Checksum 0 means none, which RoCE v2 allows over IPv6 too (IBTA vol 1 annex A17.3.1).
 */
public final class Udp {
    public static final int BYTES = 8;

    /** Destination port of RoCE v2 (IBTA vol 1 annex A17.3.1). */
    public static final int PORT_ROCE_V2 = 4791;

    private Udp() {}

    public static int sourcePort(MemorySegment s, long o) {
        return BigEndian.u16(s, o);
    }

    public static int destinationPort(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 2);
    }

    public static int length(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 4);
    }

    public static int checksum(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 6);
    }

    public static void write(MemorySegment s, long o, int sourcePort, int destinationPort, int length, int checksum) {
        BigEndian.put32(s, o, sourcePort << 16 | (destinationPort & 0xffff));
        BigEndian.put32(s, o + 4, length << 16 | (checksum & 0xffff));
    }

    /** The header as values. */
    public record Fields(int sourcePort, int destinationPort, int length, int checksum) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(Udp.sourcePort(s, o), Udp.destinationPort(s, o), Udp.length(s, o), Udp.checksum(s, o));
        }

        public void write(MemorySegment s, long o) {
            Udp.write(s, o, sourcePort, destinationPort, length, checksum);
        }

        @Override
        public String toString() {
            return String.format("UDP %d > %d length %d checksum %04x", sourcePort, destinationPort, length, checksum);
        }
    }
}
