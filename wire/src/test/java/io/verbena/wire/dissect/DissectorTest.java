// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.dissect;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.wire.Golden;
import io.verbena.wire.Golden.RocePacket;
import io.verbena.wire.ib.Aeth;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.pcap.PcapReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DissectorTest {
    private final Dissector dissector = new Dissector();

    @Test
    void namesWhatTheCapturesHold() {
        List<String> lines = new ArrayList<>();
        for (String name : List.of("rxe.pcap", "loss.pcap")) {
            for (PcapReader.Packet p : Golden.packets(name)) {
                lines.add(dissector.ethernet(p.bytes(), 0, p.bytes().byteSize()));
            }
        }
        List<String> roce = lines.stream()
                .filter(l -> l.contains(" qp ") && l.contains(" psn "))
                .toList();
        assertThat(roce).hasSize(1434 + 239).noneMatch(l -> l.contains("WRONG"));
        assertThat(lines).noneMatch(l -> l.contains("malformed") || l.contains("truncated"));
        assertThat(lines)
                .contains("10.9.0.2 > 10.9.0.1 RC_WRITE_FIRST qp 000011 psn ed159f"
                        + " RETH va 00005580ea34d328 rkey 0000028a length 9000 payload 1024")
                .anyMatch(l -> l.contains("RC_ACKNOWLEDGE") && l.endsWith("AETH NAK PSN sequence error msn 0"))
                .anyMatch(l -> l.contains("RNR NAK 640 us"))
                .anyMatch(l -> l.startsWith("fe80::5054:ff:fe00:2 > fe80::5054:ff:fe00:1 RC_SEND"));
        for (String message : List.of("REQ", "REP", "RTU", "REJ", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP")) {
            assertThat(lines)
                    .anyMatch(l -> l.contains("UD_SEND_ONLY qp 000001") && l.contains(" CM " + message + " id "));
        }
    }

    @Test
    void saysThatAnIcrcIsWrong() {
        RocePacket p = Golden.roce("rxe.pcap").get(0);
        long bytes = p.icrc() + 4L;
        assertThat(dissector.ethernet(p.bytes(), 0, bytes)).doesNotContain("WRONG");
        p.bytes().set(ValueLayout.JAVA_BYTE, p.icrc(), (byte) ~p.bytes().get(ValueLayout.JAVA_BYTE, p.icrc()));
        assertThat(dissector.ethernet(p.bytes(), 0, bytes)).endsWith(" ICRC WRONG");
    }

    @Test
    void saysAcknowledgementsInWords() {
        MemorySegment s = Arena.ofAuto().allocate(20);
        Bth.write(s, 0, Opcode.RC_ACKNOWLEDGE.code(), false, false, 0, 0xffff, 0x12, false, 0x34);
        Aeth.write(s, 12, Aeth.NAK_REMOTE_ACCESS_ERROR, 5);
        assertThat(dissector.udpPayload(s, 0, 20))
                .isEqualTo("RC_ACKNOWLEDGE qp 000012 psn 000034 AETH NAK remote access error msn 5");
        Aeth.write(s, 12, Aeth.RNR_NAK | 12, 5);
        assertThat(dissector.udpPayload(s, 0, 20)).endsWith("AETH RNR NAK 640 us msn 5");
        assertThat(dissector.udpPayload(s, 0, 19)).endsWith("truncated: 15 of 16 header bytes");
        assertThat(dissector.udpPayload(s, 0, 15)).isEqualTo("truncated BTH: 15 bytes");
        assertThat(dissector.udpPayload(s, 1, 20)).isEqualTo("no such bytes");
        assertThat(dissector.udpPayload(s, -1, 20)).isEqualTo("no such bytes");
        assertThat(dissector.ethernet(s, Long.MAX_VALUE, 1)).isEqualTo("no such bytes");
    }

    @Test
    void anyBytesGiveALine() {
        SplittableRandom random = new SplittableRandom(2);
        List<RocePacket> golden = Golden.roce("rxe.pcap");
        int wrong = 0;
        int truncated = 0;
        for (int i = 0; i < 40_000; i++) {
            byte[] bytes;
            if (i % 2 == 0) {
                bytes = new byte[random.nextInt(201)];
                random.nextBytes(bytes);
            } else {
                // A real packet with a few bytes changed and the end cut off.
                bytes = golden.get(random.nextInt(golden.size())).bytes().toArray(ValueLayout.JAVA_BYTE);
                for (int n = random.nextInt(4); n > 0; n--) {
                    bytes[12 + random.nextInt(Math.min(bytes.length, 90) - 12)] = (byte) random.nextInt();
                }
                bytes = java.util.Arrays.copyOf(
                        bytes, random.nextBoolean() ? bytes.length : random.nextInt(bytes.length));
            }
            MemorySegment s = MemorySegment.ofArray(bytes);
            String line = dissector.ethernet(s, 0, bytes.length);
            assertThat(line).isNotEmpty().doesNotContain("\n");
            wrong += line.contains("ICRC WRONG") ? 1 : 0;
            truncated += line.contains("truncated") ? 1 : 0;
            assertThat(dissector.udpPayload(s, 0, bytes.length)).isNotEmpty();
        }
        assertThat(wrong).isGreaterThan(1000);
        assertThat(truncated).isGreaterThan(1000);
    }
}
