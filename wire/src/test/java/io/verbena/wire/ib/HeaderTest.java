// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.wire.net.Ethernet;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.net.Ipv6;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Bytes written by hand from the tables of the specification; at an odd offset, between guards. */
class HeaderTest {
    private static final int AT = 3;

    private final MemorySegment s = Arena.ofAuto().allocate(64).fill((byte) 0xee);

    private void assertBytes(String hex) {
        int bytes = hex.length() / 2;
        byte[] all = s.toArray(ValueLayout.JAVA_BYTE);
        assertThat(HexFormat.of().formatHex(all, AT, AT + bytes)).isEqualTo(hex);
        assertThat(all[AT - 1]).isEqualTo((byte) 0xee);
        assertThat(all[AT + bytes]).isEqualTo((byte) 0xee);
    }

    @Test
    void bth() {
        Bth.write(s, AT, 0x0b, true, true, 3, 0x1_8001, 0xff_abcdef, true, 0xff_123456);
        assertBytes("0bf0800100abcdef80123456");
        Bth.write(s, AT, 0x81, false, false, 0, 0xffff, 0x123456, false, 0xffffff);
        assertBytes("8100ffff0012345600ffffff");
        Bth.congestion(s, AT, false, true);
        assertBytes("8100ffff4012345600ffffff");
        assertThat(Bth.becn(s, AT)).isTrue();
        assertThat(Bth.fecn(s, AT)).isFalse();
        Bth.Fields fields = new Bth.Fields(4, false, true, 2, 1, 0x7fff, true, false, 17, false, 5);
        fields.write(s, AT);
        assertBytes("04617fff8000001100000005");
        assertThat(Bth.Fields.read(s, AT)).isEqualTo(fields);
        assertThat(fields).hasToString("BTH RC_SEND_ONLY qp 000011 psn 000005 pkey 7fff pad 2 migrated fecn version 1");
    }

    @Test
    void aeth() {
        Aeth.write(s, AT, Aeth.RNR_NAK | 12, 0xff_010203);
        assertBytes("2c010203");
        assertThat(Aeth.isRnrNak(0x2c)).isTrue();
        assertThat(Aeth.isAck(0x2c) || Aeth.isNak(0x2c)).isFalse();
        assertThat(Aeth.rnrTimerUs(Aeth.rnrTimer(0x2c))).isEqualTo(640);
        assertThat(Aeth.rnrTimerUs(0)).isEqualTo(655_360);
        assertThat(Aeth.rnrTimerUs(1)).isEqualTo(10);
        assertThat(Aeth.rnrTimerUs(14)).isEqualTo(1280);
        assertThat(Aeth.rnrTimerUs(31)).isEqualTo(491_520);
        assertThat(Aeth.isNak(Aeth.NAK_REMOTE_ACCESS_ERROR)).isTrue();
        assertThat(Aeth.nakCode(Aeth.NAK_REMOTE_ACCESS_ERROR)).isEqualTo(2);
        assertThat(Aeth.isAck(Aeth.ACK_UNLIMITED_CREDITS)).isTrue();
        assertThat(Aeth.isAck(0x40) || Aeth.isNak(0x40) || Aeth.isRnrNak(0x40))
                .as("reserved")
                .isFalse();
    }

    @Test
    void extendedHeaders() {
        Reth.write(s, AT, 0x0102030405060708L, 0x8090a0b0, 0xffff_ffffL);
        assertBytes("01020304050607088090a0b0ffffffff");
        assertThat(Reth.length(s, AT)).isEqualTo(0xffff_ffffL);
        AtomicEth.write(s, AT, 1, 2, 3, 4);
        assertBytes("0000000000000001" + "00000002" + "0000000000000003" + "0000000000000004");
        assertThat(AtomicEth.Fields.read(s, AT)).isEqualTo(new AtomicEth.Fields(1, 2, 3, 4));
        Deth.write(s, AT, 0x80010000, 0xff_000001);
        assertThat(Deth.Fields.read(s, AT)).isEqualTo(new Deth.Fields(0x80010000, 1));
        XrcEth.write(s, AT, 0xff_00ab12);
        assertThat(XrcEth.Fields.read(s, AT)).isEqualTo(new XrcEth.Fields(0xab12));
        FlushEth.write(s, AT, FlushEth.PERSISTENCE, FlushEth.REGION);
        assertThat(s.get(ValueLayout.JAVA_BYTE, AT + 3)).isEqualTo((byte) 0x12);
        assertThat(FlushEth.Fields.read(s, AT)).isEqualTo(new FlushEth.Fields(2, 1));
    }

    @Test
    void ietfAndLocalHeaders() {
        Lrh.write(s, AT, 1, 2, Lrh.NEXT_BTH, 0x0003, 0x7ff, 0x0004);
        assertBytes("1022000307ff0004");
        assertThat(Lrh.Fields.read(s, AT)).isEqualTo(new Lrh.Fields(1, 2, 2, 3, 0x7ff, 4));
        Ethernet.write(s, AT, 0x525400000001L, 0x7cfe90753cd8L, Ethernet.TYPE_ROCE_V1);
        assertBytes("5254000000017cfe90753cd88915");
        assertThat(Ethernet.Fields.read(s, AT)).hasToString("Ethernet 7c:fe:90:75:3c:d8 > 52:54:00:00:00:01 type 8915");
        // The example of RFC 1071's errata and of every textbook: checksum b861.
        Ipv4.write(s, AT, 0, 0x73, 0, true, 0x40, 17, 0xc0a80001, 0xc0a800c7);
        assertBytes("45000073000040004011b861c0a80001c0a800c7");
        Ipv6.write(s, AT, 0xe2, 0x1face, 44, 17, 255, 1, 2, 3, 4);
        assertThat(Ipv6.trafficClass(s, AT)).isEqualTo(0xe2);
        assertThat(Ipv6.flowLabel(s, AT)).isEqualTo(0x1face);
        assertThat(Ipv6.version(s, AT)).isEqualTo(6);
    }

    @Test
    void ipv6Text() {
        assertThat(Ipv6.format(0, 0)).isEqualTo("::");
        assertThat(Ipv6.format(0, 1)).isEqualTo("::1");
        assertThat(Ipv6.format(0xfe80_0000_0000_0000L, 0x5054_00ff_fe00_0001L)).isEqualTo("fe80::5054:ff:fe00:1");
        assertThat(Ipv6.format(0x2001_0db8_0000_0001L, 0x0001_0001_0001_0001L)).isEqualTo("2001:db8:0:1:1:1:1:1");
        assertThat(Ipv6.format(0x2001_0000_0000_0001L, 0x0000_0000_0000_0001L)).isEqualTo("2001:0:0:1::1");
        assertThat(Ipv6.format(0x2001_0db8_0000_0000L, 0)).isEqualTo("2001:db8::");
        assertThat(Ipv6.format(0, 0xffff_0a09_0001L)).isEqualTo("::ffff:10.9.0.1");
    }
}
