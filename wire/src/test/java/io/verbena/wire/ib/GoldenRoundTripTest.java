// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.wire.Frame;
import io.verbena.wire.Golden;
import io.verbena.wire.Golden.RocePacket;
import io.verbena.wire.net.Ethernet;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.net.Ipv6;
import io.verbena.wire.net.Udp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each RoCE packet between Linux kernels decodes, encodes to the same bytes, and has the ICRC that we compute. */
class GoldenRoundTripTest {
    @ParameterizedTest
    @CsvSource({"rxe.pcap, 1434, 24", "loss.pcap, 239, 17"})
    void headersEncodeToTheSameBytes(String name, int count, int opcodes) {
        Set<Opcode> seen = EnumSet.noneOf(Opcode.class);
        List<RocePacket> packets = Golden.roce(name);
        for (RocePacket packet : packets) {
            // Filled with ones, so that a byte that no header writes shows.
            MemorySegment again =
                    Arena.ofAuto().allocate(packet.bytes().byteSize()).fill((byte) 0xff);
            Opcode opcode = Opcode.of(Bth.opcode(packet.bytes(), packet.bth()));
            assertThat(opcode).as("packet %d", packet.index()).isNotNull();
            seen.add(opcode);
            int end = packet.bth() + opcode.headerBytes();
            encodeOuter(packet, again);
            encodeTransport(packet, opcode, again);
            assertThat(again.asSlice(0, end).mismatch(packet.bytes().asSlice(0, end)))
                    .as("packet %d %s", packet.index(), opcode)
                    .isEqualTo(-1);
            if (!opcode.hasPayload()) {
                assertThat(end).as("packet %d %s", packet.index(), opcode).isEqualTo(packet.icrc());
            }
        }
        assertThat(packets).hasSize(count);
        assertThat(seen).hasSize(opcodes);
    }

    private static void encodeOuter(RocePacket packet, MemorySegment to) {
        MemorySegment from = packet.bytes();
        Ethernet.Fields.read(from, 0).write(to, 0);
        if (packet.ipv4()) {
            Ipv4.Fields.read(from, packet.ip()).write(to, packet.ip());
            assertThat(Ipv4.checksum(from, packet.ip())).isEqualTo(Ipv4.headerChecksum(from, packet.ip()));
        } else {
            Ipv6.Fields.read(from, packet.ip()).write(to, packet.ip());
            Grh.Fields grh = Grh.Fields.read(from, packet.ip());
            MemorySegment copy = Arena.ofAuto().allocate(Grh.BYTES);
            grh.write(copy, 0);
            assertThat(copy.mismatch(from.asSlice(packet.ip(), Grh.BYTES))).isEqualTo(-1);
        }
        Udp.Fields.read(from, packet.udp()).write(to, packet.udp());
    }

    private static void encodeTransport(RocePacket packet, Opcode opcode, MemorySegment to) {
        MemorySegment from = packet.bytes();
        long o = packet.bth();
        Bth.Fields.read(from, o).write(to, o);
        if (opcode.hasDeth()) {
            Deth.Fields.read(from, o + opcode.dethOffset()).write(to, o + opcode.dethOffset());
        }
        if (opcode.hasReth()) {
            Reth.Fields.read(from, o + opcode.rethOffset()).write(to, o + opcode.rethOffset());
        }
        if (opcode.hasAtomicEth()) {
            AtomicEth.Fields.read(from, o + opcode.atomicEthOffset()).write(to, o + opcode.atomicEthOffset());
        }
        if (opcode.hasAeth()) {
            Aeth.Fields.read(from, o + opcode.aethOffset()).write(to, o + opcode.aethOffset());
        }
        if (opcode.hasAtomicAckEth()) {
            AtomicAckEth.Fields.read(from, o + opcode.atomicAckEthOffset()).write(to, o + opcode.atomicAckEthOffset());
        }
        if (opcode.hasImmediate()) {
            ImmDt.Fields.read(from, o + opcode.immediateOffset()).write(to, o + opcode.immediateOffset());
        }
        if (opcode.hasIeth()) {
            Ieth.Fields.read(from, o + opcode.iethOffset()).write(to, o + opcode.iethOffset());
        }
    }

    @ParameterizedTest
    @CsvSource({"rxe.pcap, 1416, 18", "loss.pcap, 239, 0"})
    void icrcAgrees(String name, int ipv4Count, int ipv6Count) {
        Icrc icrc = new Icrc();
        Frame frame = new Frame();
        int ipv4 = 0;
        int ipv6 = 0;
        for (RocePacket packet : Golden.roce(name)) {
            int stored = Icrc.load(packet.bytes(), packet.icrc());
            assertThat(icrc.ethernet(packet.bytes(), packet.ip(), packet.ipBytes()))
                    .as("whole packet %d", packet.index())
                    .isEqualTo(stored);
            packet.send(frame);
            assertThat(icrc.rocev2(frame, packet.icrc() - packet.bth()))
                    .as("sent frame %d", packet.index())
                    .isEqualTo(stored);
            packet.receive(frame, true);
            assertThat(icrc.verifyRocev2(frame))
                    .as("received frame %d", packet.index())
                    .isTrue();
            packet.receive(frame, false);
            assertThat(icrc.verifyRocev2(frame))
                    .as("frame of unknown id %d", packet.index())
                    .isTrue();
            if (packet.ipv4()) {
                assertThat(icrc.solvedIpId())
                        .as("id of packet %d", packet.index())
                        .isEqualTo(packet.ipId());
                assertThat(packet.ipId()).isNotZero();
                ipv4++;
            } else {
                ipv6++;
            }
        }
        assertThat(ipv4).isEqualTo(ipv4Count);
        assertThat(ipv6).isEqualTo(ipv6Count);
    }
}
