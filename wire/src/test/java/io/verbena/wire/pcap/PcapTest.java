// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.pcap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.wire.Frame;
import io.verbena.wire.Golden;
import io.verbena.wire.Golden.RocePacket;
import io.verbena.wire.ib.Icrc;
import io.verbena.wire.pcap.PcapNgWriter.Direction;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PcapTest {
    private static List<PcapReader.Packet> read(byte[] file) throws IOException {
        List<PcapReader.Packet> packets = new ArrayList<>();
        try (PcapReader reader = new PcapReader(new ByteArrayInputStream(file))) {
            for (PcapReader.Packet p = reader.next(); p != null; p = reader.next()) {
                packets.add(p);
            }
        }
        return packets;
    }

    @Test
    void writtenPacketsAreReadAgain() throws IOException {
        List<PcapReader.Packet> golden = Golden.packets("rxe.pcap");
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        try (PcapNgWriter writer = new PcapNgWriter(file, LinkTypes.ETHERNET)) {
            for (PcapReader.Packet p : golden) {
                writer.write(p.timestampNs() + 1, p.bytes(), 0, (int) p.bytes().byteSize());
            }
        }
        List<PcapReader.Packet> again = read(file.toByteArray());
        assertThat(again).hasSameSizeAs(golden).hasSize(1835);
        for (int i = 0; i < golden.size(); i++) {
            assertThat(again.get(i).bytes().mismatch(golden.get(i).bytes())).isEqualTo(-1);
            assertThat(again.get(i).timestampNs()).isEqualTo(golden.get(i).timestampNs() + 1);
            assertThat(again.get(i).originalBytes()).isEqualTo(golden.get(i).originalBytes());
            assertThat(again.get(i).linkType()).isEqualTo(LinkTypes.ETHERNET);
            assertThat(again.get(i).comment()).isNull();
        }
    }

    @Test
    void aFrameOfASocketBecomesAWholePacket() throws IOException {
        Frame frame = new Frame();
        Icrc icrc = new Icrc();
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        List<RocePacket> golden = Golden.roce("rxe.pcap");
        try (PcapNgWriter writer = new PcapNgWriter(file, LinkTypes.ETHERNET)) {
            int i = 0;
            for (RocePacket p : golden) {
                if (i++ % 2 == 0) {
                    p.receive(frame, false);
                    assertThat(icrc.verifyRocev2(frame)).isTrue();
                    frame.ipId(icrc.solvedIpId());
                    writer.writeFrame(i, frame, Direction.INBOUND, null);
                } else {
                    p.send(frame);
                    writer.writeFrame(i, frame, Direction.OUTBOUND, "über " + i);
                }
            }
        }
        List<PcapReader.Packet> again = read(file.toByteArray());
        assertThat(again).hasSize(1434);
        for (int i = 0; i < again.size(); i++) {
            RocePacket p = golden.get(i);
            MemorySegment bytes = again.get(i).bytes();
            assertThat(bytes.byteSize()).isEqualTo(p.icrc() + 4);
            assertThat(icrc.verifyEthernet(bytes, p.ip(), p.ipBytes()))
                    .as("packet %d", p.index())
                    .isTrue();
            assertThat(bytes.asSlice(p.bth()).mismatch(p.bytes().asSlice(p.bth(), p.icrc() + 4 - p.bth())))
                    .isEqualTo(-1);
            assertThat(again.get(i).comment()).isEqualTo(i % 2 == 0 ? null : "über " + (i + 1));
        }
    }

    @Test
    void commentIsCutBetweenCharacters() throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        MemorySegment bytes = MemorySegment.ofArray(new byte[] {1, 2, 3, 4, 5});
        try (PcapNgWriter writer = new PcapNgWriter(file, LinkTypes.INFINIBAND)) {
            writer.write(7, bytes, 1, 3, Direction.UNKNOWN, "a" + "é".repeat(5000));
            writer.write(8, bytes, 0, 0, Direction.UNKNOWN, "");
        }
        List<PcapReader.Packet> again = read(file.toByteArray());
        assertThat(again.get(0).comment()).isEqualTo("a" + "é".repeat(2047));
        assertThat(again.get(0).bytes().mismatch(bytes.asSlice(1, 3))).isEqualTo(-1);
        assertThat(again.get(0).linkType()).isEqualTo(LinkTypes.INFINIBAND);
        assertThat(again.get(1).bytes().byteSize()).isZero();
        assertThat(again.get(1).comment()).isEmpty();
    }

    @Test
    void aFlushedFileIsComplete() throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        try (PcapNgWriter writer = new PcapNgWriter(file, LinkTypes.ETHERNET)) {
            assertThat(read(file.toByteArray())).isEmpty();
            writer.write(1, MemorySegment.ofArray(new byte[60]), 0, 60);
            writer.flush();
            assertThat(read(file.toByteArray())).hasSize(1);
        }
    }

    @Test
    void classicOfEitherOrderAndResolution() throws IOException {
        for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
            for (boolean nano : new boolean[] {false, true}) {
                ByteBuffer b = ByteBuffer.allocate(24 + 16 + 2).order(order);
                b.putInt(nano ? 0xa1b23c4d : 0xa1b2c3d4).putShort((short) 2).putShort((short) 4);
                b.putInt(0).putInt(0).putInt(65535).putInt(247);
                b.putInt(10).putInt(5).putInt(2).putInt(90).putShort((short) 0x1234);
                PcapReader.Packet p = read(b.array()).get(0);
                assertThat(p.timestampNs()).isEqualTo(10_000_000_000L + (nano ? 5 : 5000));
                assertThat(p.originalBytes()).isEqualTo(90);
                assertThat(p.bytes().byteSize()).isEqualTo(2);
                assertThat(p.linkType()).isEqualTo(LinkTypes.INFINIBAND);
            }
        }
    }

    /** A big-endian section with an unknown block, an interface of 2^-20 s and an offset, and a simple packet. */
    @Test
    void pcapngOfOthers() throws IOException {
        ByteBuffer b = ByteBuffer.allocate(1024).order(ByteOrder.BIG_ENDIAN);
        b.putInt(0x0a0d0d0a)
                .putInt(28)
                .putInt(0x1a2b3c4d)
                .putInt(0x10000)
                .putLong(-1)
                .putInt(28);
        b.putInt(0xbad).putInt(16).putInt(7).putInt(16);
        b.putInt(1).putInt(44).putShort((short) 1).putShort((short) 0).putInt(4);
        b.putShort((short) 9).putShort((short) 1).putInt(0x94000000);
        b.putShort((short) 14).putShort((short) 8).putLong(100).putInt(0).putInt(44);
        b.putInt(6)
                .putInt(36)
                .putInt(0)
                .putInt(0)
                .putInt(3 << 19)
                .putInt(1)
                .putInt(1)
                .putInt(0x55000000)
                .putInt(36);
        b.putInt(3).putInt(24).putInt(99).putLong(0x0102030405060708L).putInt(24);
        byte[] file = java.util.Arrays.copyOf(b.array(), b.position());
        List<PcapReader.Packet> packets = read(file);
        assertThat(packets).hasSize(2);
        assertThat(packets.get(0).timestampNs()).isEqualTo(101_500_000_000L);
        assertThat(packets.get(0).bytes().byteSize()).isEqualTo(1);
        assertThat(packets.get(1).bytes().byteSize()).as("snap length").isEqualTo(4);
        assertThat(packets.get(1).originalBytes()).isEqualTo(99);
    }

    @Test
    void corruptFilesNameTheOffset() {
        assertThatThrownBy(() -> read(new byte[0]))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("offset 0");
        assertThatThrownBy(() -> read(new byte[64]))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("neither");
        ByteBuffer b = ByteBuffer.allocate(40).order(ByteOrder.LITTLE_ENDIAN);
        b.putInt(0xa1b2c3d4).position(32).putInt(0x7fffffff);
        assertThatThrownBy(() -> read(b.array()))
                .isInstanceOf(IOException.class)
                .hasMessage("capture file is corrupt at offset 24: packet of 2147483647 bytes");
    }

    @Test
    void anyBytesGiveAnIoExceptionAtWorst() throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (PcapNgWriter writer = new PcapNgWriter(out, LinkTypes.ETHERNET)) {
            byte[] bytes = new byte[33];
            for (int i = 0; i < 4; i++) {
                writer.write(i, MemorySegment.ofArray(bytes), 0, 33 - i, Direction.INBOUND, "comment " + i);
            }
        }
        byte[] ng = out.toByteArray();
        byte[] classic = java.util.Arrays.copyOf(
                Golden.class.getResourceAsStream("/golden/rxe.pcap").readAllBytes(), 900);
        int failures = 0;
        int successes = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] file = switch (i % 4) {
                case 0 -> randomBytes(random, random.nextInt(201));
                case 1 -> mutated(random, ng);
                case 2 -> mutated(random, classic);
                default -> java.util.Arrays.copyOf(ng, random.nextInt(ng.length + 1));
            };
            try {
                assertThat(read(file).size()).isLessThanOrEqualTo(file.length / 12);
                successes++;
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("offset");
                failures++;
            }
        }
        assertThat(failures).isGreaterThan(8000);
        assertThat(successes).isGreaterThan(1000);
    }

    private static byte[] randomBytes(SplittableRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] mutated(SplittableRandom random, byte[] original) {
        byte[] bytes = original.clone();
        for (int n = 1 + random.nextInt(3); n > 0; n--) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
        }
        return bytes;
    }
}
