// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.verbena.wire.Frame;
import io.verbena.wire.net.Ethernet;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.net.Ipv6;
import io.verbena.wire.net.Udp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The Ethernet frame around a frame of a UDP link, as it is or would be on the wire. Reused from one to the next. MAC
 * addresses are those of the multicast group, or else locally administered ones made of the IP addresses, for the link
 * knows no others.
 */
final class PacketImage {
    private static final ValueLayout.OfShort NET_SHORT = JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long LOCALLY_ADMINISTERED = 0x02L << 40;
    private static final int HOP_LIMIT = 64;
    /** What the links send to groups with: their frames stay in the local network. */
    private static final int GROUP_HOP_LIMIT = 1;

    private static final long IPV4_GROUP = 0x0100_5e00_0000L;
    private static final long IPV6_GROUP = 0x3333_0000_0000L;
    private static final int BYTES = (1 << 16) + 128;

    private final MemorySegment packet = Arena.ofAuto().allocate(BYTES, 8);

    MemorySegment segment() {
        return packet;
    }

    /** Builds the image and returns its length. */
    int build(Frame frame, boolean sent) {
        long sourceHigh = sent ? frame.localHigh() : frame.remoteHigh();
        long sourceLow = sent ? frame.localLow() : frame.remoteLow();
        long targetHigh = sent ? frame.remoteHigh() : frame.localHigh();
        long targetLow = sent ? frame.remoteLow() : frame.localLow();
        int sourcePort = sent ? frame.localPort() : frame.remotePort();
        int targetPort = sent ? frame.remotePort() : frame.localPort();
        boolean ipv4 = frame.ipv4();
        int hopLimit = Addresses.isMulticast(targetHigh, targetLow) ? GROUP_HOP_LIMIT : HOP_LIMIT;
        int udpBytes = Udp.BYTES + frame.length();
        int type = ipv4 ? Ethernet.TYPE_IPV4 : Ethernet.TYPE_IPV6;
        Ethernet.write(packet, 0, mac(targetHigh, targetLow), mac(sourceHigh, sourceLow), type);
        int ip = Ethernet.BYTES;
        int udp = ip + (ipv4 ? Ipv4.BYTES : Ipv6.BYTES);
        if (ipv4) {
            int total = Ipv4.BYTES + udpBytes;
            int id = Math.max(frame.ipId(), 0);
            int tos = frame.trafficClass();
            Ipv4.write(packet, ip, tos, total, id, true, hopLimit, Ipv4.PROTOCOL_UDP, (int) sourceLow, (int) targetLow);
        } else {
            int tclass = frame.trafficClass();
            Ipv6.write(
                    packet,
                    ip,
                    tclass,
                    0,
                    udpBytes,
                    Ipv4.PROTOCOL_UDP,
                    hopLimit,
                    sourceHigh,
                    sourceLow,
                    targetHigh,
                    targetLow);
        }
        Udp.write(packet, udp, sourcePort, targetPort, udpBytes, 0);
        MemorySegment.copy(frame.buffer(), frame.offset(), packet, udp + Udp.BYTES, frame.length());
        if (!ipv4) {
            // IPv4 may go without (RFC 768), IPv6 must not by default (RFC 8200 8.1): readers of captures complain.
            Udp.write(packet, udp, sourcePort, targetPort, udpBytes, ipv6Checksum(udp, udpBytes));
        }
        return udp + udpBytes;
    }

    private static long mac(long high, long low) {
        if (Addresses.isMulticast(high, low)) {
            // RFC 1112 6.4, RFC 2464 7: the one real mapping there is.
            return Frame.isIpv4Mapped(high, low) ? IPV4_GROUP | (low & 0x7f_ffffL) : IPV6_GROUP | (low & 0xffff_ffffL);
        }
        long folded = Frame.isIpv4Mapped(high, low) ? low : low ^ (low >>> 32) ^ high ^ (high >>> 32);
        return LOCALLY_ADMINISTERED | (folded & 0xffff_ffffL);
    }

    /** RFC 8200 8.1: over both addresses, length, next header, and the datagram with checksum 0. */
    private int ipv6Checksum(int udp, int udpBytes) {
        long sum = (long) udpBytes + Ipv4.PROTOCOL_UDP;
        int end = udp + udpBytes;
        int addresses = udp - 32;
        for (int at = addresses; at + 1 < end; at += 2) {
            sum += Short.toUnsignedInt(packet.get(NET_SHORT, at));
        }
        if ((udpBytes & 1) != 0) {
            sum += Byte.toUnsignedInt(packet.get(JAVA_BYTE, end - 1L)) << 8;
        }
        while (sum >>> 16 != 0) {
            sum = (sum & 0xffff) + (sum >>> 16);
        }
        int checksum = (int) ~sum & 0xffff;
        return checksum == 0 ? 0xffff : checksum;
    }
}
