// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.cm.AcceptParameters;
import io.verbena.transport.cm.CmConsumer;
import io.verbena.transport.cm.CmEndpoint;
import io.verbena.transport.cm.ConnectParameters;
import io.verbena.transport.cm.Conversation;
import io.verbena.transport.cm.ConversationState;
import io.verbena.transport.encap.Path;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import io.verbena.wire.BigEndian;
import io.verbena.wire.cm.CmAttribute;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Deth;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Queue pair 1 of a port: which frames are datagrams of the connection manager, and how it takes part in the port. */
final class GeneralServicesTest {
    private static final int SERVICE = 0x01061234;
    private static final int LOCAL_PORT = 0xc000;
    private static final byte[] NO_DATA = {};

    private static CmEndpoint endpoint(TestQueuePair end) {
        return new CmEndpoint(end.any.qpNumber(), end.settings.sqPsn, 4, 4, 7, false);
    }

    private static ConnectParameters parameters(TestHost from, TestHost to, CmEndpoint endpoint, long deadline) {
        Path path = new Path(from.high, from.low, to.high, to.low, 0xc123, Path.ROCE_V2_PORT, 0, 64);
        return new ConnectParameters(SERVICE, path, QueuePairType.RC, endpoint, 7, 14, Mtu.MTU_1024, NO_DATA, deadline);
    }

    /** Two ports whose consumers connect queue pairs; the RTU is lost, and data that comes before it establishes. */
    @Test
    void connectsQueuePairsOfTwoPorts() {
        Pair pair = new Pair(3);
        List<CmAttribute> seen = new ArrayList<>();
        List<Integer> psns = new ArrayList<>();
        pair.tamper = (to, bytes) -> {
            MemorySegment s = MemorySegment.ofArray(bytes);
            if (Bth.destinationQp(s, 0) != 1) {
                return bytes;
            }
            CmAttribute attribute = CmAttribute.of(Mad.attribute(s, Opcode.UD_SEND_ONLY.headerBytes()));
            seen.add(attribute);
            if (to == pair.b) {
                psns.add(Bth.psn(s, 0));
            }
            assertThat(Bth.opcode(s, 0)).isEqualTo(Opcode.UD_SEND_ONLY.code());
            assertThat(Bth.partitionKey(s, 0)).isEqualTo(0xffff);
            assertThat(Deth.Fields.read(s, Bth.BYTES)).isEqualTo(new Deth.Fields(0x8001_0000, 1));
            assertThat(bytes).hasSize(12 + 8 + 256 + 4);
            return attribute == CmAttribute.RTU ? null : bytes;
        };
        TestQueuePair one = new TestQueuePair(pair.a, new Settings());
        TestQueuePair two = new TestQueuePair(pair.b, new Settings());
        two.settings.sqPsn = one.settings.rqPsn;
        two.settings.rqPsn = one.settings.sqPsn;
        CmConsumer client = new CmConsumer();
        CmConsumer server = new CmConsumer();
        pair.a.port.manageConnections(LOCAL_PORT, client);
        pair.b.port.manageConnections(LOCAL_PORT, server);
        pair.b.port.connections().listen(SERVICE, 4);
        server.onRequest = c -> {
            two.connect(pair.now, pair.a.high, pair.a.low, c.remoteQueuePair());
            pair.b.port.connections().accept(pair.now, c, new AcceptParameters(endpoint(two), 15, NO_DATA));
        };
        client.onReply = c -> {
            one.connect(pair.now, pair.a.high, pair.b.low, c.remoteQueuePair());
            pair.a.port.connections().complete(pair.now, c);
            one.post(Work.write(5, two.host.region(8).address(), 0));
        };
        Conversation active = pair.a
                .port
                .connections()
                .connect(pair.now, parameters(pair.a, pair.b, endpoint(one), pair.now + 10_000_000_000L));
        assertThat(pair.settle(100_000_000L)).isTrue();
        assertThat(client.events).containsExactly("replied");
        assertThat(server.events).containsExactly("request", "established");
        assertThat(active.state()).isEqualTo(ConversationState.ESTABLISHED);
        assertThat(one.completions()).containsExactly("5 SUCCESS");
        assertThat(seen).containsExactly(CmAttribute.REQ, CmAttribute.REP, CmAttribute.RTU);

        pair.a.port.connections().disconnect(pair.now, active, NO_DATA);
        server.onDisconnected = c -> pair.b.port.connections().disconnect(pair.now, c, NO_DATA);
        assertThat(pair.settle(10_000_000_000L)).isTrue();
        assertThat(client.events).containsExactly("replied", "disconnected", "timewait exit");
        assertThat(server.events).containsExactly("request", "established", "disconnected", "timewait exit");
        assertThat(psns).containsExactly(0, 1, 2);
    }

    private static void expectDrop(Counter reason, Consumer<Packet> change) {
        Dialogue d = Dialogue.rts();
        d.host.port.manageConnections(LOCAL_PORT, new CmConsumer());
        Packet packet = mad();
        change.accept(packet);
        d.send(packet, 1);
        assertThat(d.dropped(reason)).isEqualTo(1);
        d.expectNothing();
    }

    /** A REQ for a service that nobody listens to, which is refused. */
    private static Packet mad() {
        byte[] bytes = new byte[Mad.BYTES];
        MemorySegment s = MemorySegment.ofArray(bytes);
        Mad.write(s, 0, CmAttribute.REQ, 77);
        BigEndian.put32(s, 24, 5);
        BigEndian.put32(s, 24 + 32, 0x20 << 8);
        BigEndian.put8(s, 24 + 50, 0x37);
        BigEndian.put64(s, 24 + 56, Dialogue.HIGH);
        BigEndian.put64(s, 24 + 64, Dialogue.PEER_LOW);
        BigEndian.put64(s, 24 + 72, Dialogue.HIGH);
        BigEndian.put64(s, 24 + 80, 1);
        Packet packet = Packet.of(Opcode.UD_SEND_ONLY, 9).payload(bytes);
        packet.qkey = 0x8001_0000;
        packet.sourceQp = 1;
        return packet;
    }

    @Test
    void answersGoWhereTheRequestCameFrom() {
        Dialogue d = Dialogue.rts();
        d.send(mad(), 1);
        assertThat(d.dropped(Counter.DROP_NO_QUEUE_PAIR))
                .as("nobody manages connections")
                .isEqualTo(1);
        d.host.port.manageConnections(LOCAL_PORT, new CmConsumer());
        d.send(mad().ack(), 1);
        assertThat(d.host.port.wantsToSend()).isTrue();
        Packet answer = d.out().getFirst();
        MemorySegment s = MemorySegment.ofArray(answer.payload);
        assertThat(Mad.attribute(s, 0)).isEqualTo(CmAttribute.REJ.id());
        assertThat(Mad.transaction(s, 0)).isEqualTo(77);
        assertThat(answer.remoteLow).isEqualTo(Dialogue.PEER_LOW);
        assertThat(answer.remoteHigh).isEqualTo(Dialogue.HIGH);
        assertThat(answer.destinationQp).isEqualTo(1);
        assertThat(d.frame().localPort()).isEqualTo(LOCAL_PORT);
        assertThat(d.host.port.wantsToSend()).isFalse();
    }

    @Test
    void whatIsNoDatagramOfAConnectionManagerIsDropped() {
        expectDrop(Counter.DROP_WRONG_QKEY, packet -> packet.qkey = 0x8001_0001);
        expectDrop(Counter.DROP_WRONG_PARTITION, packet -> packet.partitionKey = 0xfffe);
        expectDrop(Counter.DROP_WRONG_SERVICE, packet -> packet.opcode = Opcode.UD_SEND_ONLY_IMM);
        expectDrop(Counter.DROP_WRONG_SERVICE, packet -> packet.opcode = Opcode.RC_SEND_ONLY);
        expectDrop(Counter.DROP_NOT_A_MAD, packet -> packet.bytes(255));
        expectDrop(Counter.DROP_NOT_A_MAD, packet -> packet.bytes(257));
        expectDrop(Counter.DROP_NOT_A_MAD, packet -> packet.bytes(0));
        Dialogue d = Dialogue.rts();
        d.host.port.manageConnections(LOCAL_PORT, new CmConsumer());
        d.corrupt = true;
        d.send(mad(), 1);
        assertThat(d.dropped(Counter.DROP_BAD_ICRC)).isEqualTo(1);
        d.expectNothing();
    }

    @Test
    void numbersThatConnectionsHoldAreNotGivenAgain() {
        TestHost host = new TestHost(Dialogue.HIGH, 1, 1);
        TestHost peer = new TestHost(Dialogue.HIGH, 2, 1);
        Set<Integer> held = new HashSet<>();
        for (int i = 0; i < 3000; i++) {
            TestQueuePair end = new TestQueuePair(host, new Settings());
            host.port.connections().connect(0, parameters(host, peer, endpoint(end), 1_000_000_000));
            assertThat(held.add(end.any.qpNumber())).isTrue();
            host.port.destroyQueuePair(end.any);
        }
        assertThat(host.port.nextDeadline()).isEqualTo(250_000_000);
        host.port.onTimeout(1_000_000_000);
        assertThat(host.port.nextDeadline()).isEqualTo(Long.MAX_VALUE);
        assertThat(held).noneMatch(number -> host.port.connections().holdsQueuePair(number));
    }

    @Test
    void framesOfQueuePairsFollowDatagrams() {
        Dialogue d = Dialogue.rts();
        d.host.port.manageConnections(LOCAL_PORT, new CmConsumer());
        d.end.post(Work.send(1));
        d.send(mad(), 1);
        assertThat(d.out())
                .extracting(packet -> packet.opcode)
                .containsExactly(Opcode.UD_SEND_ONLY, Opcode.RC_SEND_ONLY);
        assertThat(d.host.port.counter(Counter.FRAMES_SENT)).isEqualTo(2);
        assertThat(d.buffer().get(JAVA_BYTE, 0)).isEqualTo((byte) Opcode.RC_SEND_ONLY.code());
    }
}
