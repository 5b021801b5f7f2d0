// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static io.verbena.link.LinkTesting.IPV6_LOOPBACK;
import static io.verbena.link.LinkTesting.LOCAL_A;
import static io.verbena.link.LinkTesting.LOCAL_B;
import static io.verbena.link.LinkTesting.pattern;
import static io.verbena.link.LinkTesting.receive;
import static io.verbena.link.LinkTesting.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.wire.Frame;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Icrc;
import io.verbena.wire.net.Ethernet;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.net.Ipv6;
import io.verbena.wire.net.Udp;
import io.verbena.wire.pcap.LinkTypes;
import io.verbena.wire.pcap.PcapNgWriter;
import io.verbena.wire.pcap.PcapReader;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CapturingLinkTest {
    private static final int RC_SEND_ONLY = 0x04;
    private static final ValueLayout.OfShort NET_SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    @TempDir
    private Path directory;

    private final Icrc icrc = new Icrc();

    private void sendRoce(DatagramLink link, InetAddress to, int port, int payloadBytes, int ipId) throws IOException {
        Frame frame = new Frame();
        assertThat(link.beginTransmit(frame)).isTrue();
        frame.local(frame.localHigh(), frame.localLow(), link.sourcePort(1));
        frame.remote(Addresses.high(to), Addresses.low(to), port);
        frame.ipId(ipId);
        Bth.write(frame.buffer(), frame.offset(), RC_SEND_ONLY, false, true, 0, 0xffff, 17, true, 99);
        MemorySegment.copy(
                pattern(payloadBytes, 3),
                0,
                frame.buffer(),
                ValueLayout.JAVA_BYTE,
                frame.offset() + Bth.BYTES,
                payloadBytes);
        int bytes = Bth.BYTES + payloadBytes;
        Icrc.store(frame.buffer(), frame.offset() + bytes, icrc.rocev2(frame, bytes));
        frame.length(bytes + Icrc.BYTES);
        link.commitTransmit(frame);
    }

    private static List<MemorySegment> packets(Path file) throws IOException {
        List<MemorySegment> packets = new ArrayList<>();
        try (PcapReader reader = new PcapReader(Files.newInputStream(file))) {
            for (PcapReader.Packet packet = reader.next(); packet != null; packet = reader.next()) {
                assertThat(packet.linkType()).isEqualTo(LinkTypes.ETHERNET);
                assertThat(Math.abs(packet.timestampNs() / 1_000_000 - System.currentTimeMillis()))
                        .isLessThan(60_000);
                packets.add(packet.bytes());
            }
        }
        return packets;
    }

    private static PcapNgWriter writer(Path file) throws IOException {
        return new PcapNgWriter(Files.newOutputStream(file), LinkTypes.ETHERNET);
    }

    @Test
    void bothEndsCaptureTheSamePackets() throws IOException {
        Path fileA = directory.resolve("a.pcapng");
        Path fileB = directory.resolve("b.pcapng");
        try (NioDatagramLink plainA = NioDatagramLink.open(LOCAL_A, 0);
                NioDatagramLink plainB = NioDatagramLink.open(LOCAL_B, 0);
                CapturingLink a = new CapturingLink(plainA, writer(fileA));
                CapturingLink b = new CapturingLink(plainB, writer(fileB))) {
            sendRoce(a, LOCAL_B, plainB.localPort(), 4096, 0);
            assertThat(receive(b, 1).getFirst().ipId()).isEqualTo(Frame.IP_ID_UNKNOWN);
            sendRoce(b, LOCAL_A, plainA.localPort(), 16, 0);
            assertThat(receive(a, 1)).hasSize(1);
        }
        List<MemorySegment> packetsA = packets(fileA);
        List<MemorySegment> packetsB = packets(fileB);
        assertThat(packetsA).hasSize(2);
        assertThat(packetsB).hasSize(2);
        for (int i = 0; i < 2; i++) {
            assertThat(packetsA.get(i).mismatch(packetsB.get(i))).isEqualTo(-1);
            MemorySegment packet = packetsA.get(i);
            int ipBytes = (int) packet.byteSize() - Ethernet.BYTES;
            assertThat(icrc.verifyEthernet(packet, Ethernet.BYTES, ipBytes)).isTrue();
            assertThat(Ipv4.headerChecksum(packet, Ethernet.BYTES)).isEqualTo(Ipv4.checksum(packet, Ethernet.BYTES));
            assertThat(Ipv4.dontFragment(packet, Ethernet.BYTES)).isTrue();
            assertThat(Ethernet.source(packet, 0)).isEqualTo(i == 0 ? 0x0200_7f4d_0001L : 0x0200_7f4d_0002L);
        }
    }

    @Test
    void identificationIsSolvedFor() throws IOException {
        Path file = directory.resolve("id.pcapng");
        try (NioDatagramLink a = NioDatagramLink.open(LOCAL_A, 0);
                NioDatagramLink plainB = NioDatagramLink.open(LOCAL_B, 0);
                CapturingLink b = new CapturingLink(plainB, writer(file))) {
            // An ICRC such as rdma_rxe sends, over an identification that this receiver cannot see.
            sendRoce(a, LOCAL_B, plainB.localPort(), 64, 0x1234);
            send(a, pattern(64, 1), LOCAL_B, plainB.localPort());
            assertThat(receive(b, 2)).hasSize(2);
        }
        List<MemorySegment> packets = packets(file);
        assertThat(Ipv4.identification(packets.get(0), Ethernet.BYTES)).isEqualTo(0x1234);
        assertThat(Ipv4.identification(packets.get(1), Ethernet.BYTES)).isZero();
    }

    @Test
    void ipv6PacketsHaveAChecksum() throws IOException {
        assumeTrue(LocalInterfaces.find(IPV6_LOOPBACK).isPresent(), "no IPv6 here");
        Path file = directory.resolve("v6.pcapng");
        try (NioDatagramLink plainA = NioDatagramLink.open(IPV6_LOOPBACK, 0);
                NioDatagramLink b = NioDatagramLink.open(IPV6_LOOPBACK, 0);
                CapturingLink a = new CapturingLink(plainA, writer(file))) {
            for (int length = 63; length <= 64; length++) {
                send(a, pattern(length, 1), IPV6_LOOPBACK, b.localPort());
            }
        }
        List<MemorySegment> packets = packets(file);
        assertThat(packets).hasSize(2);
        for (MemorySegment packet : packets) {
            int udp = Ethernet.BYTES + Ipv6.BYTES;
            assertThat(Udp.checksum(packet, udp)).isNotZero();
            MemorySegment even = MemorySegment.ofArray(new byte[(int) packet.byteSize() + 1]);
            even.copyFrom(packet);
            // With the checksum in it, the sum of a sound datagram and its pseudo-header is all ones (RFC 1071).
            long sum = Udp.length(packet, udp) + 17L;
            for (int at = udp - 32; at + 1 < even.byteSize(); at += 2) {
                sum += Short.toUnsignedInt(even.get(NET_SHORT, at));
            }
            assertThat((sum & 0xffff) + (sum >>> 16)).isEqualTo(0xffffL);
        }
    }

    @Test
    void fullDiskEndsTheCaptureNotTheLink() throws IOException {
        OutputStream full = new OutputStream() {
            private int left = 70_000;

            @Override
            public void write(int b) throws IOException {
                if (--left < 0) {
                    throw new IOException("No space left on device");
                }
            }
        };
        try (NioDatagramLink plainA = NioDatagramLink.open(LOCAL_A, 0);
                NioDatagramLink b = NioDatagramLink.open(LOCAL_B, 0);
                CapturingLink a = new CapturingLink(plainA, new PcapNgWriter(full, LinkTypes.ETHERNET))) {
            for (int i = 0; i < 100; i++) {
                send(a, pattern(4000, i), LOCAL_B, b.localPort());
                assertThat(receive(b, 1)).hasSize(1);
            }
            assertThat(a.failure()).hasMessageContaining("No space");
        }
    }
}
