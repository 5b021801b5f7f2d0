// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.wire.Golden;
import io.verbena.wire.Golden.RocePacket;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Every management datagram between Linux kernels decodes, and encodes to the same bytes. */
class GoldenMadTest {
    /** The datagrams of a capture. */
    static List<MemorySegment> mads(String capture) {
        List<MemorySegment> mads = new ArrayList<>();
        for (RocePacket packet : Golden.roce(capture)) {
            MemorySegment s = packet.bytes();
            if (Bth.opcode(s, packet.bth()) == Opcode.UD_SEND_ONLY.code()
                    && Bth.destinationQp(s, packet.bth()) == Mad.QUEUE_PAIR) {
                mads.add(s.asSlice(packet.bth() + Opcode.UD_SEND_ONLY.headerBytes(), Mad.BYTES));
            }
        }
        return mads;
    }

    @Test
    void encodesToTheSameBytes() {
        Map<CmAttribute, Integer> seen = new EnumMap<>(CmAttribute.class);
        for (String capture : List.of("rxe.pcap", "loss.pcap")) {
            for (MemorySegment mad : mads(capture)) {
                assertThat(Mad.isConnectionManagement(mad, 0)).isTrue();
                CmAttribute attribute = CmAttribute.of(Mad.attribute(mad, 0));
                assertThat(attribute).isNotNull();
                MemorySegment again = MemorySegment.ofArray(new byte[Mad.BYTES]);
                Mad.Fields.read(mad, 0).write(again, 0);
                int privateData = encode(attribute, mad, again);
                MemorySegment.copy(mad, privateData, again, privateData, Mad.BYTES - privateData);
                assertThat(again.toArray(JAVA_BYTE)).as("%s", attribute).isEqualTo(mad.toArray(JAVA_BYTE));
                seen.merge(attribute, 1, Integer::sum);
            }
        }
        assertThat(seen)
                .hasSize(8)
                .allSatisfy((attribute, count) ->
                        assertThat(count).as("%s", attribute).isPositive());
    }

    /** Encodes what comes before the private data; returns where that is. */
    private static int encode(CmAttribute attribute, MemorySegment mad, MemorySegment out) {
        return switch (attribute) {
            case REQ -> {
                Req.Fields.read(mad, 0).write(out, 0);
                if (IpCm.isPlausible(mad, Req.PRIVATE_DATA)) {
                    IpCm.Fields.read(mad, Req.PRIVATE_DATA).write(out, Req.PRIVATE_DATA);
                    yield Req.PRIVATE_DATA + IpCm.BYTES;
                }
                yield Req.PRIVATE_DATA;
            }
            case REP -> {
                Rep.Fields.read(mad, 0).write(out, 0);
                yield Rep.PRIVATE_DATA;
            }
            case RTU -> {
                Rtu.Fields.read(mad, 0).write(out, 0);
                yield Rtu.PRIVATE_DATA;
            }
            case REJ -> {
                Rej.Fields.read(mad, 0).write(out, 0);
                int information = Mad.HEADER_BYTES + 12;
                MemorySegment.copy(mad, information, out, information, Rej.PRIVATE_DATA - information);
                yield Rej.PRIVATE_DATA;
            }
            case DREQ -> {
                Dreq.Fields.read(mad, 0).write(out, 0);
                yield Dreq.PRIVATE_DATA;
            }
            case DREP -> {
                Drep.Fields.read(mad, 0).write(out, 0);
                yield Drep.PRIVATE_DATA;
            }
            case SIDR_REQ -> {
                SidrReq.Fields.read(mad, 0).write(out, 0);
                yield SidrReq.PRIVATE_DATA;
            }
            case SIDR_REP -> {
                SidrRep.Fields.read(mad, 0).write(out, 0);
                int information = Mad.HEADER_BYTES + 24;
                MemorySegment.copy(mad, information, out, information, SidrRep.PRIVATE_DATA - information);
                yield SidrRep.PRIVATE_DATA;
            }
            case MRA, LAP, APR -> throw new AssertionError("not in the captures: " + attribute);
        };
    }

    private static MemorySegment first(CmAttribute attribute) {
        return mads("rxe.pcap").stream()
                .filter(mad -> Mad.attribute(mad, 0) == attribute.id())
                .findFirst()
                .orElseThrow();
    }

    /** The connection of rping, as it was written down by hand from the bytes. */
    @Test
    void decodesAnRpingConnection() {
        MemorySegment req = mads("rxe.pcap").stream()
                .filter(mad -> Mad.attribute(mad, 0) == CmAttribute.REQ.id())
                .filter(mad -> Req.serviceId(mad, 0) == 0x0106_0000L + 7174)
                .findFirst()
                .orElseThrow();
        Req.Fields fields = Req.Fields.read(req, 0);
        assertThat(fields.queuePair()).isEqualTo(0x16);
        assertThat(fields.responderResources()).isEqualTo(1);
        assertThat(fields.initiatorDepth()).isEqualTo(1);
        assertThat(fields.remoteResponseTimeout()).isEqualTo(20);
        assertThat(fields.localResponseTimeout()).isEqualTo(20);
        assertThat(fields.transport()).isEqualTo(Req.TRANSPORT_RC);
        assertThat(fields.retryCount()).isEqualTo(7);
        assertThat(fields.rnrRetry()).isEqualTo(7);
        assertThat(fields.partitionKey()).isEqualTo(0xffff);
        assertThat(fields.pathMtu()).isEqualTo(3);
        assertThat(fields.cmRetries()).isEqualTo(15);
        assertThat(fields.primary().ackTimeout()).isEqualTo(19);
        assertThat(fields.primary().hopLimit()).isEqualTo(0x40);
        assertThat(fields.primary().localLid()).isEqualTo(0xffff);
        assertThat(fields.primary().localGidLow()).isEqualTo(0xffff_0a09_0002L);
        assertThat(fields.primary().remoteGidLow()).isEqualTo(0xffff_0a09_0001L);
        assertThat(fields.alternate()).isEqualTo(Req.PathFields.NONE);
        IpCm.Fields ip = IpCm.Fields.read(req, Req.PRIVATE_DATA);
        assertThat(ip.ipVersion()).isEqualTo(4);
        assertThat(ip.sourceLow()).isEqualTo(0x0a09_0002L);
        assertThat(ip.destinationLow()).isEqualTo(0x0a09_0001L);
        Rep.Fields rep = Rep.Fields.read(first(CmAttribute.REP), 0);
        assertThat(rep.targetAckDelay()).isEqualTo(15);
        assertThat(rep.rnrRetry()).isEqualTo(7);
    }

    @Test
    void decodesRefusals() {
        MemorySegment rej = first(CmAttribute.REJ);
        assertThat(Rej.Fields.read(rej, 0))
                .extracting(Rej.Fields::localId, Rej.Fields::message, Rej.Fields::reason)
                .containsExactly(0, Rej.MESSAGE_REQ, CmRejectReason.INVALID_SERVICE_ID.number());
        assertThat(Rej.Fields.read(rej, 0).toString()).endsWith("message REQ invalid service id (8)");
        assertThat(CmRejectReason.text(77)).isEqualTo("reason 77");
        assertThat(CmRejectReason.of(-1)).isNull();
        assertThat(CmRejectReason.of(34)).isNull();
        assertThat(SidrRep.Fields.read(first(CmAttribute.SIDR_REP), 0))
                .extracting(SidrRep.Fields::status, SidrRep.Fields::queueKey)
                .containsExactly(0, 0x01234567);
    }
}
