// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.wire.BigEndian;
import io.verbena.wire.Frame;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Packets of other implementations: ConnectX hardware, and the vectors in the tests of scapy. */
class IcrcVectorTest {
    private static final int ETHERNET_BYTES = 14;

    /** A UC SEND_ONLY, as scapy makes it, from BTH to padding. */
    private static final String UC_SEND = "2460ffff000000d300cf1710" + "4630818be28935d90e9a95505401be885e500000";

    private final Icrc icrc = new Icrc();

    @Test
    void connectX4CongestionNotification() {
        MemorySegment packet = bytes("e41d2dab2bc27cfe90643b320800" + "45c2003c718c400040119161 0a0011010a001201"
                + "000012b700280000" + "8100ffff40000118000000000000000000000000000000000000000082fd002a");
        assertThat(icrc.ethernet(packet, ETHERNET_BYTES, 60)).isEqualTo(0x2a00fd82);
        assertThat(icrc.verifyEthernet(packet, ETHERNET_BYTES, 60)).isTrue();
        assertThat(Opcode.of(Bth.opcode(packet, 42))).isEqualTo(Opcode.CNP);
        assertThat(Bth.becn(packet, 42)).isTrue();
        assertThat(Opcode.CNP.headerBytes()).isEqualTo(60 - 20 - 8 - Icrc.BYTES);
    }

    @Test
    void connectXRoceV1WriteOnly() {
        MemorySegment packet = bytes("7cfe90753cd87cfe90753cd88915"
                + "602000000028 1b40 00000000000000000000ffff0f000002"
                + "00000000000000000000ffff0f000002" + "0a70ffff0000010a80a788bc" + "000055d4c072600000 0047b300000005"
                + "0000000001000000" + "e3d856bb");
        // 15 words behind the GRH's own: RETH with length 5, payload 5, padding 3.
        int bytes = (int) packet.byteSize() - ETHERNET_BYTES;
        assertThat(bytes).isEqualTo(40 + 40);
        assertThat(icrc.rocev1(packet, ETHERNET_BYTES, bytes)).isEqualTo(0xbb56d8e3);
        assertThat(icrc.verifyRocev1(packet, ETHERNET_BYTES, bytes)).isTrue();
    }

    @Test
    void connectXRoceV1Acknowledge() {
        MemorySegment packet = bytes("7cfe90753cd87cfe90753cd88915" + "6020000000141b4000000000000000000000ffff0f000002"
                + "00000000000000000000ffff0f000002" + "1140ffff0000010900a788c0" + "00000005" + "25f0c038");
        int bytes = (int) packet.byteSize() - ETHERNET_BYTES;
        assertThat(icrc.rocev1(packet, ETHERNET_BYTES, bytes)).isEqualTo(0x38c0f025);
        assertThat(icrc.verifyRocev1(packet, ETHERNET_BYTES, bytes)).isTrue();
    }

    @Test
    void scapyIpv4() {
        MemorySegment packet =
                bytes("450100400478400040 11b4d5c0a80007c0a80007" + "c00012b7002caca2" + UC_SEND + "78f353f3");
        assertThat(icrc.ethernet(packet, 0, 64)).isEqualTo(0xf353f378);
        assertThat(icrc.verifyEthernet(packet, 0, 64)).isTrue();

        Frame frame = new Frame();
        frame.local(0, 0xffff_c0a8_0007L, 49152);
        frame.remote(0, 0xffff_c0a8_0007L, 4791);
        frame.ipId(1144);
        frame.wrap(packet, 28, 36);
        assertThat(icrc.rocev2(frame, 32)).isEqualTo(0xf353f378);
    }

    @Test
    void scapyIpv6() {
        MemorySegment packet = bytes("6e21face002c11ff" + "20220000000000000000000000001023"
                + "20230000000000000000000000001024" + "c00012b7002ce7c5" + UC_SEND + "3e5b743b");
        assertThat(icrc.ethernet(packet, 0, 84)).isEqualTo(0x3b745b3e);
        assertThat(icrc.verifyEthernet(packet, 0, 84)).isTrue();

        Frame frame = new Frame();
        frame.local(BigEndian.i64(packet, 8), BigEndian.i64(packet, 16), 49152);
        frame.remote(BigEndian.i64(packet, 24), BigEndian.i64(packet, 32), 4791);
        frame.wrap(packet, 48, 36);
        assertThat(icrc.rocev2(frame, 32)).isEqualTo(0x3b745b3e);
        frame.local(BigEndian.i64(packet, 24), BigEndian.i64(packet, 32), 4791);
        frame.remote(BigEndian.i64(packet, 8), BigEndian.i64(packet, 16), 49152);
        frame.ipId(Frame.IP_ID_UNKNOWN);
        assertThat(icrc.verifyRocev2(frame)).isTrue();
    }

    private static MemorySegment bytes(String hex) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hex.replace(" ", "")));
    }
}
