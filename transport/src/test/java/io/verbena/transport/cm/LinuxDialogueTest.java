// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static io.verbena.transport.cm.PrivateData.NONE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.cm.CmPeer.Datagram;
import io.verbena.transport.encap.Path;
import io.verbena.verbs.Mtu;
import io.verbena.wire.BigEndian;
import io.verbena.wire.cm.IpCm;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.cm.Rep;
import io.verbena.wire.cm.Req;
import io.verbena.wire.cm.SidrReq;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Messages of a Linux host (golden/rxe.pcap, client 10.9.0.2 and server 10.9.0.1) in a conversation of this side. */
final class LinuxDialogueTest {
    private static final long CLIENT = 0xffff_0a09_0002L;
    private static final long SERVER = 0xffff_0a09_0001L;
    private static final Path TO_CLIENT = new Path(0, SERVER, 0, CLIENT, 0xc001, Path.ROCE_V2_PORT, 0, 64);
    private static final Path TO_SERVER = new Path(0, CLIENT, 0, SERVER, 0xc001, Path.ROCE_V2_PORT, 0, 64);

    private final CmPeer peer = new CmPeer(1, 1);
    private final long now = 1_000_000_000L;

    /** A captured message of this attribute; the corpus keeps them behind the numbers of a step. */
    private static MemorySegment captured(int attribute) throws IOException {
        String name = "/fuzz/connection-manager/ud-send-only-mad-" + Integer.toHexString(attribute);
        try (InputStream in = Objects.requireNonNull(LinuxDialogueTest.class.getResourceAsStream(name), name)) {
            MemorySegment mad = MemorySegment.ofArray(new byte[Mad.BYTES]);
            new Mad.Fields(1, 7, 2, 3, 0, 0, 99, attribute, 0).write(mad, 0);
            MemorySegment step = MemorySegment.ofArray(in.readAllBytes());
            MemorySegment.copy(step, 4, mad, Mad.HEADER_BYTES, Mad.BYTES - Mad.HEADER_BYTES);
            return mad;
        }
    }

    private void receive(Path back, MemorySegment mad) {
        peer.manager.onMad(now, back, mad, 0);
        peer.manager.pollEvents(peer);
    }

    @Test
    void linuxConnectsToThisSide() throws IOException {
        MemorySegment req = captured(0x10);
        peer.manager.listen(Req.serviceId(req, 0), 1);
        receive(TO_CLIENT, req);
        assertThat(peer.events).containsExactly("request");
        RequestParameters request = peer.request;
        assertThat(request.pathMtu()).isEqualTo(Mtu.MTU_1024);
        assertThat(request.endpoint().rnrRetry()).isEqualTo(7);
        assertThat(request.ackTimeout()).isEqualTo(19);
        assertThat(IpCm.isPlausible(MemorySegment.ofArray(request.privateData()), 0))
                .isTrue();
        Conversation c = peer.requests.getFirst();
        assertThat(peer.manager.accept(now, c, CmPeer.acceptance(0x55))).isTrue();
        Datagram rep = peer.send().getFirst();
        assertThat(Rep.remoteId(rep.segment(), 0)).isEqualTo(Req.localId(req, 0));
        MemorySegment rtu = captured(0x14);
        BigEndian.put32(rtu, 24, c.remoteId());
        BigEndian.put32(rtu, 28, c.localId());
        receive(TO_CLIENT, rtu);
        MemorySegment dreq = captured(0x15);
        BigEndian.put32(dreq, 24, c.remoteId());
        BigEndian.put32(dreq, 28, c.localId());
        BigEndian.put32(dreq, 32, 0x55 << 8);
        receive(TO_CLIENT, dreq);
        assertThat(peer.events).containsExactly("request", "established", "disconnected");
    }

    @Test
    void thisSideConnectsToLinux() throws IOException {
        ConnectParameters like = peer.parameters(peer, 0x66, now + 1_000_000_000L);
        Conversation c = peer.manager.connect(
                now,
                new ConnectParameters(
                        like.serviceId(),
                        TO_SERVER,
                        like.type(),
                        like.endpoint(),
                        7,
                        14,
                        Mtu.MTU_1024,
                        NONE,
                        like.deadline()));
        MemorySegment rep = captured(0x13);
        BigEndian.put32(rep, 28, c.localId());
        receive(TO_SERVER, rep);
        assertThat(peer.events).containsExactly("replied");
        assertThat(peer.reply.endpoint().queuePair()).isEqualTo(Rep.queuePair(rep, 0));
        assertThat(peer.reply.targetAckDelay()).isEqualTo(15);
        assertThat(peer.manager.complete(now, c)).isTrue();
        peer.manager.disconnect(now, c, NONE);
        MemorySegment drep = captured(0x16);
        BigEndian.put32(drep, 24, c.remoteId());
        BigEndian.put32(drep, 28, c.localId());
        receive(TO_SERVER, drep);
        assertThat(peer.events).containsExactly("replied", "disconnected");
    }

    /** 2.D: a REJ before the REP has no number of its sender. */
    @Test
    void linuxRefuses() throws IOException {
        ConnectParameters like = peer.parameters(peer, 0x66, now + 1_000_000_000L);
        Conversation c = peer.manager.connect(
                now,
                new ConnectParameters(
                        1, TO_SERVER, like.type(), like.endpoint(), 7, 14, Mtu.MTU_1024, NONE, like.deadline()));
        MemorySegment rej = captured(0x12);
        BigEndian.put32(rej, 28, c.localId());
        receive(TO_SERVER, rej);
        assertThat(peer.events).containsExactly("rejected 8");
    }

    @Test
    void linuxAsksForADatagramService() throws IOException {
        MemorySegment question = captured(0x17);
        peer.manager.listen(SidrReq.serviceId(question, 0), 1);
        receive(TO_CLIENT, question);
        assertThat(peer.events).containsExactly("sidr request");
        assertThat(IpCm.isPlausible(MemorySegment.ofArray(peer.privateData), 0)).isTrue();
    }
}
