// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire;

import io.verbena.wire.net.Ethernet;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.net.Ipv6;
import io.verbena.wire.net.Udp;
import io.verbena.wire.pcap.PcapReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The captures between Linux kernels that the tests compare with. */
public final class Golden {
    private Golden() {}

    /** A RoCE v2 packet of a capture: where its headers are in {@code bytes}, a native copy. */
    public record RocePacket(int index, MemorySegment bytes, boolean ipv4, int ip, int udp, int bth, int icrc) {
        public int ipBytes() {
            return icrc + 4 - ip;
        }

        public int ipId() {
            return ipv4 ? Ipv4.identification(bytes, ip) : 0;
        }

        /** This packet as a UDP link shows it. */
        public void receive(Frame frame, boolean idKnown) {
            long sourceHigh = ipv4 ? 0 : Ipv6.sourceHigh(bytes, ip);
            long sourceLow = ipv4 ? mapped(Ipv4.source(bytes, ip)) : Ipv6.sourceLow(bytes, ip);
            long destinationHigh = ipv4 ? 0 : Ipv6.destinationHigh(bytes, ip);
            long destinationLow = ipv4 ? mapped(Ipv4.destination(bytes, ip)) : Ipv6.destinationLow(bytes, ip);
            frame.remote(sourceHigh, sourceLow, Udp.sourcePort(bytes, udp));
            frame.local(destinationHigh, destinationLow, Udp.destinationPort(bytes, udp));
            frame.wrap(bytes, bth, icrc + 4 - bth);
            frame.ipId(idKnown ? ipId() : Frame.IP_ID_UNKNOWN);
        }

        /** This packet as its sender handed it to a link. */
        public void send(Frame frame) {
            receive(frame, true);
            long high = frame.localHigh();
            long low = frame.localLow();
            int port = frame.localPort();
            frame.local(frame.remoteHigh(), frame.remoteLow(), frame.remotePort());
            frame.remote(high, low, port);
        }

        private static long mapped(int address) {
            return 0xffff_0000_0000L | (address & 0xffff_ffffL);
        }
    }

    /** Every packet of a capture in {@code golden/}. */
    public static List<PcapReader.Packet> packets(String name) {
        InputStream in = Objects.requireNonNull(Golden.class.getResourceAsStream("/golden/" + name), name);
        List<PcapReader.Packet> packets = new ArrayList<>();
        try (PcapReader reader = new PcapReader(in)) {
            for (PcapReader.Packet p = reader.next(); p != null; p = reader.next()) {
                packets.add(p);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return packets;
    }

    /** Every RoCE v2 packet of a capture. */
    public static List<RocePacket> roce(String name) {
        List<RocePacket> roce = new ArrayList<>();
        int index = 0;
        for (PcapReader.Packet packet : packets(name)) {
            index++;
            MemorySegment s = packet.bytes();
            int ip = Ethernet.BYTES;
            int type = Ethernet.type(s, 0);
            boolean ipv4 = type == Ethernet.TYPE_IPV4 && Ipv4.protocol(s, ip) == Ipv4.PROTOCOL_UDP;
            boolean ipv6 = type == Ethernet.TYPE_IPV6 && Ipv6.nextHeader(s, ip) == Ipv4.PROTOCOL_UDP;
            int udp = ip + (ipv4 ? Ipv4.BYTES : Ipv6.BYTES);
            if ((ipv4 || ipv6) && Udp.destinationPort(s, udp) == Udp.PORT_ROCE_V2) {
                MemorySegment copy = Arena.ofAuto().allocate(s.byteSize()).copyFrom(s);
                int end = udp + Udp.length(s, udp);
                roce.add(new RocePacket(index, copy, ipv4, ip, udp, udp + Udp.BYTES, end - 4));
            }
        }
        return roce;
    }
}
