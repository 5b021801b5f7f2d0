// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * What the first 40 bytes of a received datagram tell of its way (ibv_grh; IBTA volume 1, 8.3 and annex A17): an IPv6
 * header, or, on RoCE v2 over IPv4, an IPv4 header in the last 20 of them.
 *
 * @param sourceGid who sent it
 * @param destinationGid this port, or the multicast group
 * @param flowLabel 20 bits; 0 for IPv4
 * @param hopLimit what is left of the IPv6 hop limit or IPv4 time to live
 * @param trafficClass IPv6 traffic class or IPv4 type of service
 */
public record GlobalRouteHeader(Gid sourceGid, Gid destinationGid, int flowLabel, int hopLimit, int trafficClass) {
    /** Bytes at the start of each receive buffer of a datagram queue pair. */
    public static final int BYTES = 40;

    private static final int IPV4_OFFSET = 20;
    private static final int IPV4_VERSION_AND_LENGTH = 0x45;
    private static final long IPV4_MAPPED = 0xffffL << 32;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /**
     * Reads the 40 bytes at {@code offset} of a receive buffer whose completion has {@link WorkCompletion#WITH_GRH}.
     *
     * @throws IllegalArgumentException when they are neither an IPv6 nor an IPv4 header
     */
    public static GlobalRouteHeader read(MemorySegment buffer, long offset) {
        int first = buffer.get(INT, offset);
        if (first >>> 28 == 6) {
            return new GlobalRouteHeader(
                    new Gid(buffer.get(LONG, offset + 8), buffer.get(LONG, offset + 16)),
                    new Gid(buffer.get(LONG, offset + 24), buffer.get(LONG, offset + 32)),
                    first & 0xfffff,
                    buffer.get(INT, offset + 4) & 0xff,
                    (first >>> 20) & 0xff);
        }
        long at = offset + IPV4_OFFSET;
        int word = buffer.get(INT, at);
        if (word >>> 24 == IPV4_VERSION_AND_LENGTH) {
            return new GlobalRouteHeader(
                    ipv4(buffer.get(INT, at + 12)),
                    ipv4(buffer.get(INT, at + 16)),
                    0,
                    buffer.get(INT, at + 8) >>> 24,
                    (word >>> 16) & 0xff);
        }
        throw new IllegalArgumentException("no global route header: neither IPv6 at byte 0 nor IPv4 at byte 20");
    }

    private static Gid ipv4(int address) {
        return new Gid(0, IPV4_MAPPED | Integer.toUnsignedLong(address));
    }

    /** The way back to the sender (ibv_init_ah_from_wc). */
    public AddressVector wayBack() {
        return new AddressVector(sourceGid, 0, flowLabel, AddressVector.HOP_LIMIT, trafficClass, 0);
    }
}
