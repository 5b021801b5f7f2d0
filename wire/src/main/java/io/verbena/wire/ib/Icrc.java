// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.BigEndian;
import io.verbena.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The invariant CRC: the last four bytes of a RoCE or InfiniBand packet, over everything that no router may change
 * (IBTA vol 1 ch. 7.8.1, for RoCE v2 annex A17.3.3).
 *
 * <p>It is the CRC-32 of Ethernet over eight bytes of ones (which stand for the LRH), the IP header or GRH, the UDP
 * header, the BTH and the rest, with these set to ones: IPv4 type of service, time to live and header checksum; IPv6
 * and GRH traffic class, flow label and hop limit; the UDP checksum; byte 4 of the BTH. It is stored with its least
 * significant byte first.
 *
 * <p>An IPv4 identification is covered, and a UDP socket does not show the one of a received datagram. CRC-32 is
 * linear, so {@link #verifyRocev2} solves for it: the difference between the CRC received and the one computed with
 * identification 0 must be a combination of the 16 differences that the 16 bits make at that length. 65,535 of 65,536
 * corruptions are still found, beside the checks of IP, UDP and Ethernet.
 *
 * <p>One instance per owner, not thread-safe. No call allocates, once it has seen the frame buffers (up to eight at a
 * time) and the lengths that are in use.
 */
public final class Icrc {
    public static final int BYTES = 4;

    /** The longest UDP payload whose identification is solved for: the largest MTU, 4096, and more than all headers. */
    public static final int SOLVABLE_BYTES_MAX = 4352;

    private static final ValueLayout.OfInt LITTLE = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final int LRH_BYTES = 8;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final int UDP_BYTES = 8;
    private static final int IPV4_ID_OFFSET = 4;
    private static final int UDP_PROTOCOL = 17;
    private static final int SCRATCH_BYTES = LRH_BYTES + IPV6_BYTES + UDP_BYTES + Bth.BYTES;
    private static final int VIEWS = 8;

    private final CRC32 crc = new CRC32();
    private final MemorySegment scratch = Arena.ofAuto().allocate(SCRATCH_BYTES, 8);
    private final ByteBuffer scratchView = scratch.asByteBuffer();

    private final @Nullable MemorySegment[] viewed = new @Nullable MemorySegment[VIEWS];
    private final ByteBuffer[] views = new ByteBuffer[VIEWS];
    private int lastView;

    private final IdBasis[] bases = new IdBasis[SOLVABLE_BYTES_MAX / 4 + 1];
    private int solvedIpId = Frame.IP_ID_UNKNOWN;

    public Icrc() {
        BigEndian.put64(scratch, 0, -1L);
    }

    /** Stores {@code icrc} at {@code o}, as it goes on the wire. */
    public static void store(MemorySegment s, long o, int icrc) {
        s.set(LITTLE, o, icrc);
    }

    /** The ICRC stored at {@code o}. */
    public static int load(MemorySegment s, long o) {
        return s.get(LITTLE, o);
    }

    /**
     * The ICRC of a RoCE v2 frame that this host sends.
     *
     * @param frame its addressing, identification, and the UDP payload from its offset on
     * @param bytes of the UDP payload, the ICRC not counted; at least a BTH
     */
    public int rocev2(Frame frame, int bytes) {
        int ip = frame.ipv4()
                ? putIpv4(frame.localLow(), frame.remoteLow(), bytes, frame.ipId())
                : putIpv6(frame.localHigh(), frame.localLow(), frame.remoteHigh(), frame.remoteLow(), bytes);
        int udp = putUdp(ip, frame.localPort(), frame.remotePort(), bytes);
        return finish(udp, frame.buffer(), frame.offset(), bytes);
    }

    /**
     * Whether the last four bytes of a received RoCE v2 frame are its ICRC.
     *
     * @param frame its addressing, identification if known, and the UDP payload with the ICRC
     */
    public boolean verifyRocev2(Frame frame) {
        solvedIpId = Frame.IP_ID_UNKNOWN;
        int length = frame.length();
        // Every header, and every payload with its padding, is a multiple of 4 (IBTA vol 1 ch. 9.2).
        if (length < Bth.BYTES + BYTES || (length & 3) != 0) {
            return false;
        }
        int bytes = length - BYTES;
        boolean ipv4 = frame.ipv4();
        boolean solve = ipv4 && frame.ipId() == Frame.IP_ID_UNKNOWN;
        int ip = ipv4
                ? putIpv4(frame.remoteLow(), frame.localLow(), bytes, solve ? 0 : frame.ipId())
                : putIpv6(frame.remoteHigh(), frame.remoteLow(), frame.localHigh(), frame.localLow(), bytes);
        int udp = putUdp(ip, frame.remotePort(), frame.localPort(), bytes);
        int computed = finish(udp, frame.buffer(), frame.offset(), bytes);
        int difference = computed ^ load(frame.buffer(), frame.offset() + bytes);
        if (solve) {
            solvedIpId = solve(difference, length);
            return solvedIpId >= 0;
        }
        if (difference != 0) {
            return false;
        }
        solvedIpId = frame.ipId();
        return true;
    }

    /**
     * The IPv4 identification of the frame that {@link #verifyRocev2} last accepted: the one it was told or the one it
     * solved for. {@link Frame#IP_ID_UNKNOWN} after a frame that it refused. Without meaning for IPv6.
     */
    public int solvedIpId() {
        return solvedIpId;
    }

    /**
     * The ICRC of a RoCE v2 packet with its IP header, which says whether it is IPv4 (without options) or IPv6 (without
     * extension headers).
     *
     * @param ipBytes from the first byte of the IP header to the last byte of the ICRC, as the IP header says
     */
    public int ethernet(MemorySegment packet, long ipOffset, int ipBytes) {
        boolean ipv4 = BigEndian.u8(packet, ipOffset) >> 4 == 4;
        int ip = ipv4 ? IPV4_BYTES : IPV6_BYTES;
        if (ipBytes < ip + UDP_BYTES + Bth.BYTES + BYTES) {
            throw new IllegalArgumentException("too short for a RoCE v2 packet: " + ipBytes);
        }
        MemorySegment.copy(packet, ipOffset, scratch, LRH_BYTES, ip + UDP_BYTES);
        if (ipv4) {
            BigEndian.put8(scratch, LRH_BYTES + 1, 0xff);
            BigEndian.put8(scratch, LRH_BYTES + 8, 0xff);
            BigEndian.put16(scratch, LRH_BYTES + 10, 0xffff);
        } else {
            maskIpv6();
        }
        int udp = LRH_BYTES + ip;
        BigEndian.put16(scratch, udp + 6, 0xffff);
        int skip = ip + UDP_BYTES;
        return finish(udp + UDP_BYTES, packet, ipOffset + skip, ipBytes - skip - BYTES);
    }

    /** Whether a packet that {@link #ethernet} could compute ends in its ICRC; false for one that it could not. */
    public boolean verifyEthernet(MemorySegment packet, long ipOffset, int ipBytes) {
        if (ipBytes < IPV4_BYTES + UDP_BYTES + Bth.BYTES + BYTES) {
            return false;
        }
        int first = BigEndian.u8(packet, ipOffset);
        boolean ipv6 = first >> 4 == 6;
        // 0x45: IPv4 with a header of five words. No known peer handles options, rxe included.
        if (first != 0x45 && !ipv6) {
            return false;
        }
        if (ipv6 && ipBytes < IPV6_BYTES + UDP_BYTES + Bth.BYTES + BYTES) {
            return false;
        }
        return ethernet(packet, ipOffset, ipBytes) == load(packet, ipOffset + ipBytes - BYTES);
    }

    /**
     * The ICRC of a RoCE v1 packet.
     *
     * @param bytes from the first byte of the GRH to the last byte of the ICRC
     */
    public int rocev1(MemorySegment packet, long grhOffset, int bytes) {
        if (bytes < IPV6_BYTES + Bth.BYTES + BYTES) {
            throw new IllegalArgumentException("too short for a RoCE v1 packet: " + bytes);
        }
        MemorySegment.copy(packet, grhOffset, scratch, LRH_BYTES, IPV6_BYTES);
        maskIpv6();
        return finish(LRH_BYTES + IPV6_BYTES, packet, grhOffset + IPV6_BYTES, bytes - IPV6_BYTES - BYTES);
    }

    /** Whether a RoCE v1 packet ends in its ICRC; false for one that is too short to have one. */
    public boolean verifyRocev1(MemorySegment packet, long grhOffset, int bytes) {
        return bytes >= IPV6_BYTES + Bth.BYTES + BYTES
                && rocev1(packet, grhOffset, bytes) == load(packet, grhOffset + bytes - BYTES);
    }

    private int putIpv4(long sourceLow, long destinationLow, int bytes, int ipId) {
        int total = IPV4_BYTES + UDP_BYTES + bytes + BYTES;
        BigEndian.put32(scratch, LRH_BYTES, 0x45ff_0000 | total);
        BigEndian.put32(scratch, LRH_BYTES + IPV4_ID_OFFSET, ipId << 16 | 0x4000);
        BigEndian.put32(scratch, LRH_BYTES + 8, 0xff00_ffff | UDP_PROTOCOL << 16);
        BigEndian.put32(scratch, LRH_BYTES + 12, (int) sourceLow);
        BigEndian.put32(scratch, LRH_BYTES + 16, (int) destinationLow);
        return LRH_BYTES + IPV4_BYTES;
    }

    private int putIpv6(long sourceHigh, long sourceLow, long destinationHigh, long destinationLow, int bytes) {
        BigEndian.put32(scratch, LRH_BYTES, 0x6fff_ffff);
        BigEndian.put32(scratch, LRH_BYTES + 4, (UDP_BYTES + bytes + BYTES) << 16 | UDP_PROTOCOL << 8 | 0xff);
        BigEndian.put64(scratch, LRH_BYTES + 8, sourceHigh);
        BigEndian.put64(scratch, LRH_BYTES + 16, sourceLow);
        BigEndian.put64(scratch, LRH_BYTES + 24, destinationHigh);
        BigEndian.put64(scratch, LRH_BYTES + 32, destinationLow);
        return LRH_BYTES + IPV6_BYTES;
    }

    private int putUdp(int at, int sourcePort, int destinationPort, int bytes) {
        BigEndian.put32(scratch, at, sourcePort << 16 | (destinationPort & 0xffff));
        BigEndian.put32(scratch, at + 4, (UDP_BYTES + bytes + BYTES) << 16 | 0xffff);
        return at + UDP_BYTES;
    }

    private void maskIpv6() {
        BigEndian.put32(scratch, LRH_BYTES, BigEndian.i32(scratch, LRH_BYTES) | 0x0fff_ffff);
        BigEndian.put8(scratch, LRH_BYTES + 7, 0xff);
    }

    /** The CRC of the scratch bytes up to {@code at}, the BTH with its variant byte masked, and what follows it. */
    private int finish(int at, MemorySegment s, long bth, int bytes) {
        BigEndian.put64(scratch, at, BigEndian.i64(s, bth) | 0xff00_0000L);
        BigEndian.put32(scratch, at + 8, BigEndian.i32(s, bth + 8));
        crc.reset();
        crc.update(scratchView.limit(at + Bth.BYTES).position(0));
        if (bytes > Bth.BYTES) {
            long rest = bth + Bth.BYTES;
            int restBytes = bytes - Bth.BYTES;
            if (s.byteSize() > Integer.MAX_VALUE) {
                // A ByteBuffer cannot span it. Frame buffers are never this large; captures mapped by a tool may be.
                crc.update(s.asSlice(rest, restBytes).asByteBuffer());
            } else {
                ByteBuffer view = view(s);
                view.limit((int) rest + restBytes).position((int) rest);
                crc.update(view);
            }
        }
        return (int) crc.getValue();
    }

    /**
     * The view of {@code s} made when it was first seen. By identity: equal addresses may belong to different arenas.
     */
    @SuppressWarnings({"ReferenceEquality", "MemorySegmentReferenceEquality"})
    private ByteBuffer view(MemorySegment s) {
        if (viewed[lastView] == s) {
            return views[lastView];
        }
        for (int i = 0; i < VIEWS; i++) {
            if (viewed[i] == s) {
                lastView = i;
                return views[i];
            }
        }
        lastView = (lastView + 1) % VIEWS;
        viewed[lastView] = s;
        views[lastView] = s.asByteBuffer();
        return views[lastView];
    }

    /** The identification that explains {@code difference} at a UDP payload of {@code length} bytes, or -1. */
    private int solve(int difference, int length) {
        if (difference == 0) {
            return 0;
        }
        if (length > SOLVABLE_BYTES_MAX) {
            return Frame.IP_ID_UNKNOWN;
        }
        IdBasis basis = bases[length >> 2];
        if (basis == null) {
            basis = new IdBasis(length);
            bases[length >> 2] = basis;
        }
        return basis.solve(difference);
    }

    /** What each bit of the identification does to the ICRC of a packet of one length, in reduced row echelon form. */
    private static final class IdBasis {
        private static final int BITS = 16;
        private static final byte[] ZEROS = new byte[IPV4_BYTES + UDP_BYTES + SOLVABLE_BYTES_MAX];

        private final int[] pivotShifts = new int[BITS];
        private final int[] words = new int[BITS];
        private final int[] ids = new int[BITS];

        IdBasis(int length) {
            int tail = IPV4_BYTES - IPV4_ID_OFFSET - 2 + UDP_BYTES + length - BYTES;
            int zero = crcOf(0, tail);
            for (int bit = 0; bit < BITS; bit++) {
                words[bit] = crcOf(1 << bit, tail) ^ zero;
                ids[bit] = 1 << bit;
            }
            for (int row = 0; row < BITS; row++) {
                // Never 0: a CRC-32 finds every burst of up to 32 bits, so the 16 words are independent.
                int pivot = 31 - Integer.numberOfLeadingZeros(words[row]);
                pivotShifts[row] = pivot;
                for (int other = 0; other < BITS; other++) {
                    if (other != row && ((words[other] >>> pivot) & 1) != 0) {
                        words[other] ^= words[row];
                        ids[other] ^= ids[row];
                    }
                }
            }
        }

        private static int crcOf(int id, int zerosAfter) {
            CRC32 crc = new CRC32();
            crc.update(id >>> 8);
            crc.update(id);
            crc.update(ZEROS, 0, zerosAfter);
            return (int) crc.getValue();
        }

        int solve(int difference) {
            int rest = difference;
            int id = 0;
            for (int row = 0; row < BITS; row++) {
                int take = -((difference >>> pivotShifts[row]) & 1);
                rest ^= words[row] & take;
                id ^= ids[row] & take;
            }
            return rest == 0 ? id : -1;
        }
    }
}
