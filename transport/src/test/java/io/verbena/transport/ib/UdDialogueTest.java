// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.encap.Path;
import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.memory.Region;
import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.net.Ipv6;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Datagrams: who hears them, what stands before them in memory, where they go. */
final class UdDialogueTest {
    private static final int QKEY = 0x1111_1111;
    private static final int MULTICAST_QP = 0xffffff;
    private static final long IPV4 = 0xffffL << 32;
    private static final int HERE = 0x0a000001;
    private static final int THERE = 0x0a000002;
    private static final int GROUP = 0xef010203;
    private static final MulticastGroups.Group IPV4_GROUP = group(GROUP);
    private static final int GRH = 40;

    private final Settings settings = new Settings();
    private Dialogue d;

    UdDialogueTest() {
        settings.type = QueuePairType.UD;
        settings.mtu = Mtu.MTU_256;
        settings.qkey = QKEY;
    }

    private static MulticastGroups.Group group(int ipv4) {
        return new MulticastGroups.Group(0, IPV4 | Integer.toUnsignedLong(ipv4));
    }

    private void open() {
        d = Dialogue.rts(settings);
        for (int i = 0; i < 3; i++) {
            d.end.postReceive(100 + i, receive(i));
        }
    }

    private Sge receive(int index) {
        return Sge.of(d.memory, 4096L * index, 1024);
    }

    @AfterEach
    void nothingIsAnsweredOrWrittenOutside() {
        d.expectNothing();
        d.host.checkGuards();
    }

    private Packet datagram(int bytes) {
        return d.request(Opcode.UD_SEND_ONLY, 0).datagram(QKEY, 0xabcde).bytes(bytes);
    }

    private static Path ipv4(int local, int remote) {
        return new Path(0, IPV4 | local, 0, IPV4 | Integer.toUnsignedLong(remote), 0xc001, Path.ROCE_V2_PORT, 0x20, 64);
    }

    /** UD-1, UD-4: over IPv6 the area is the header itself. */
    @Test
    void overIpv6TheDatagramFollowsItsHeader() {
        open();
        d.send(datagram(100).ack());
        d.expectCompletions("recv 100 SUCCESS RECV 140 from abcde");
        Ipv6.Fields header = Ipv6.Fields.read(d.memory.segment(), 0);
        assertThat(Ipv6.version(d.memory.segment(), 0)).isEqualTo(6);
        assertThat(header.sourceHigh()).isEqualTo(Dialogue.HIGH);
        assertThat(header.sourceLow()).isEqualTo(Dialogue.PEER_LOW);
        assertThat(header.destinationHigh()).isEqualTo(Dialogue.HIGH);
        assertThat(header.destinationLow()).isEqualTo(1);
        assertThat(d.bytes(d.memory, GRH, 100)).isEqualTo(Packet.pattern(100));
    }

    /** UD-1, UD-4: over IPv4 the area's second half is the header, with a checksum that readers look at. */
    @Test
    void overIpv4TheHeaderIsTheSecondHalfOfTheArea() {
        open();
        d.back = ipv4(THERE, HERE);
        d.send(d.request(Opcode.UD_SEND_ONLY_IMM, 9)
                .datagram(QKEY, 0x17)
                .bytes(5)
                .immediate(0x1234));
        d.expectCompletions("recv 100 SUCCESS RECV 45 imm 1234 from 17");
        assertThat(d.bytes(d.memory, 0, 20)).containsOnly(0);
        var memory = d.memory.segment();
        assertThat(memory.get(JAVA_BYTE, 20)).isEqualTo((byte) Ipv4.VERSION_AND_LENGTH);
        assertThat(Ipv4.headerChecksum(memory, 20)).isEqualTo(Ipv4.checksum(memory, 20));
        assertThat(Ipv4.source(memory, 20)).isEqualTo(THERE);
        assertThat(Ipv4.destination(memory, 20)).isEqualTo(HERE);
        assertThat(Ipv4.trafficClass(memory, 20)).isEqualTo(0x20);
        assertThat(Ipv4.protocol(memory, 20)).isEqualTo(Ipv4.PROTOCOL_UDP);
        assertThat(Ipv4.totalLength(memory, 20)).isEqualTo(20 + 8 + 12 + 8 + 4 + 8 + 4);
        assertThat(d.bytes(d.memory, GRH, 5)).isEqualTo(Packet.pattern(5));
    }

    /** UD-2. */
    @Test
    void anEmptyDatagramIsFortyBytes() {
        open();
        d.send(datagram(0));
        d.expectCompletions("recv 100 SUCCESS RECV 40 from abcde");
    }

    @Test
    void headerAndPayloadAreSpreadOverTheEntries() {
        d = Dialogue.rts(settings);
        d.memory.segment().fill((byte) 0);
        d.end.postReceive(
                1,
                Sge.of(d.memory, 0, 13),
                Sge.of(d.memory, 100, 0),
                Sge.of(d.memory, 200, 30),
                Sge.of(d.memory, 300, 9));
        d.send(datagram(12));
        d.expectCompletions("recv 1 SUCCESS RECV 52 from abcde");
        byte[] pattern = Packet.pattern(12);
        assertThat(d.bytes(d.memory, 227, 3)).containsExactly(pattern[0], pattern[1], pattern[2]);
        assertThat(d.bytes(d.memory, 300, 9)).isEqualTo(java.util.Arrays.copyOfRange(pattern, 3, 12));
        assertThat(d.bytes(d.memory, 13, 187)).containsOnly(0);
    }

    /** UD-3. */
    @Test
    void anotherKeyIsDroppedInSilence() {
        open();
        d.send(datagram(8).datagram(QKEY ^ 1, 5));
        d.send(datagram(8).datagram(0, 5));
        d.expectCompletions();
        assertThat(d.dropped(Counter.DROP_WRONG_QKEY)).isEqualTo(2);
        d.expectState(QueuePairState.RTS);
        d.send(datagram(8));
        d.expectCompletions("recv 100 SUCCESS RECV 48 from abcde");
    }

    /** UD-3: what does not fit is dropped, and the receive serves the next. */
    @ParameterizedTest
    @ValueSource(ints = {0, 39, 139})
    void aDatagramLongerThanItsReceiveIsDropped(int room) {
        d = Dialogue.rts(settings);
        d.memory.segment().fill((byte) 0);
        d.end.postReceive(1, Sge.of(d.memory, 0, room));
        d.send(datagram(100));
        d.expectCompletions();
        assertThat(d.dropped(Counter.DROP_RECEIVE_TOO_SHORT)).isEqualTo(1);
        assertThat(d.bytes(d.memory, 0, 256)).containsOnly(0);
        if (room >= GRH) {
            d.send(datagram(room - GRH));
            d.expectCompletions("recv 1 SUCCESS RECV " + room + " from abcde");
        }
        d.expectState(QueuePairState.RTS);
    }

    /** Class E: a shared receive that is too short is reported, not kept. */
    @Test
    void aSharedReceiveThatIsTooShortComesBackWithAnError() {
        TestHost host = new TestHost(Dialogue.HIGH, 1, 42);
        WorkQueue queue = new WorkQueue(8, ReceiveSlot.bytes(1));
        settings.shared = host.port.createSharedReceives(TestHost.DOMAIN, queue, 0, null);
        d = Dialogue.rts(host, settings);
        TestQueuePair.postReceive(queue, 1, Sge.of(d.memory, 0, 50));
        TestQueuePair.postReceive(queue, 2, Sge.of(d.memory, 0, 500));
        d.send(datagram(11));
        d.send(datagram(12));
        d.expectCompletions("recv 1 LOC_LEN_ERR", "recv 2 SUCCESS RECV 52 from abcde");
        d.expectState(QueuePairState.RTS);
    }

    @Test
    void withoutAReceiveADatagramIsDropped() {
        d = Dialogue.rts(settings);
        d.send(datagram(8));
        assertThat(d.dropped(Counter.DROP_NO_RECEIVE)).isEqualTo(1);
        d.end.postReceive(1, receive(0));
        d.send(datagram(9));
        d.expectCompletions("recv 1 SUCCESS RECV 49 from abcde");
    }

    /** 6.B 31: the path MTU is no limit of datagrams. */
    @ParameterizedTest
    @ValueSource(ints = {256, 257, 4096})
    void datagramsMayBeLongerThanThePathMtu(int bytes) {
        d = Dialogue.rts(settings);
        d.end.postReceive(1, Sge.of(d.memory, 0, 8192));
        d.send(datagram(bytes));
        d.expectCompletions("recv 1 SUCCESS RECV " + (GRH + bytes) + " from abcde");
    }

    /** Sequence numbers, repetitions and gaps mean nothing, nor does who it was that sent. */
    @Test
    void everyDatagramIsTakenWhateverItsNumberAndSender() {
        open();
        Packet twice = datagram(8);
        d.send(twice);
        d.send(twice);
        d.back = new Path(Dialogue.HIGH, 99, Dialogue.HIGH, 1, 0xc001, Path.ROCE_V2_PORT, 0, 64);
        d.send(d.request(Opcode.UD_SEND_ONLY, 5000).datagram(QKEY, 3));
        d.expectCompletions(
                "recv 100 SUCCESS RECV 48 from abcde",
                "recv 101 SUCCESS RECV 48 from abcde",
                "recv 102 SUCCESS RECV 40 from 3");
        assertThat(Ipv6.sourceLow(d.memory.segment(), 8192)).isEqualTo(99);
    }

    @Test
    void aReceiveThatMayNotBeWrittenIsAnErrorOfThisSide() {
        d = Dialogue.rts(settings);
        Region readable = d.host.register(d.host.allocate(64), 0, TestHost.DOMAIN);
        d.end.postReceive(1, Sge.of(readable, 0, 64));
        d.end.postReceive(2, Sge.of(d.memory, 0, 64));
        d.send(datagram(8));
        d.expectCompletions("recv 1 LOC_PROT_ERR", "recv 2 WR_FLUSH_ERR");
        d.expectState(QueuePairState.ERR);
    }

    @ParameterizedTest
    @EnumSource(names = {"RC_SEND_ONLY", "UC_SEND_ONLY", "RC_ACKNOWLEDGE", "XRC_SEND_ONLY"})
    void packetsOfOtherServicesAreDropped(Opcode opcode) {
        open();
        d.send(d.request(opcode, 0));
        d.expectCompletions();
        assertThat(d.dropped(Counter.DROP_WRONG_SERVICE)).isEqualTo(1);
    }

    @Test
    void sendsToWhomEachRequestNames() {
        settings.sqPsn = 0xfffffe;
        open();
        int one = d.host.port.addressHandles().add(ipv4(HERE, THERE), TestHost.DOMAIN);
        int two = d.host.port.addressHandles().add(ipv4(HERE, GROUP), TestHost.DOMAIN);
        d.end.post(Work.send(1, Sge.of(d.memory, 0, 1000)).to(one, 5, 0x22).flags(0));
        d.end.post(Work.send(2, Sge.of(d.memory, 0, 3))
                .to(one, 6, 0x8000_0000)
                .flags(SendFlags.SIGNALED | SendFlags.SOLICITED));
        d.end.post(Work.send(3).as(SendOpcode.SEND_WITH_IMM).immediate(0xbeef).to(two, MULTICAST_QP, 7));
        List<Packet> out = d.out();
        assertThat(out.stream().map(d::describe))
                .containsExactly(
                        "SEND_ONLY +0 qkey 22 1000B",
                        "SEND_ONLY +1 SE qkey 11111111 3B",
                        "SEND_ONLY_IMM +2 qkey 7 imm beef 0B");
        assertThat(out).extracting(packet -> packet.destinationQp).containsExactly(5, 6, MULTICAST_QP);
        assertThat(out).extracting(packet -> (int) packet.remoteLow).containsExactly(THERE, THERE, GROUP);
        assertThat(out).allMatch(packet -> packet.sourceQp == d.end.any.qpNumber());
        d.expectCompletions("2 SUCCESS", "3 SUCCESS");
    }

    @ParameterizedTest
    @ValueSource(strings = {"closed", "number used again", "other domain", "never was"})
    void aHandleThatIsNotThereFailsItsRequest(String why) {
        open();
        AddressHandles handles = d.host.port.addressHandles();
        int domain = why.equals("other domain") ? TestHost.DOMAIN + 1 : TestHost.DOMAIN;
        int handle = handles.add(ipv4(HERE, THERE), domain);
        if (why.equals("closed") || why.equals("number used again")) {
            handles.remove(handle);
        }
        if (why.equals("number used again")) {
            assertThat(handles.add(ipv4(HERE, GROUP), TestHost.DOMAIN)).isNotEqualTo(handle);
        }
        int named = why.equals("never was") ? handle + 1 : handle;
        d.end.post(Work.send(1, Sge.of(d.memory, 0, 8)).to(named, 5, QKEY).flags(0));
        d.end.post(Work.send(2, Sge.of(d.memory, 0, 8)).to(named, 5, QKEY).flags(0));
        d.expectNothing();
        d.expectCompletions("1 LOC_QP_OP_ERR", "2 WR_FLUSH_ERR");
        d.expectState(QueuePairState.SQE);
        d.send(datagram(1));
        d.expectCompletions("recv 100 SUCCESS RECV 41 from abcde");
    }

    @Test
    void addressHandlesAreCountedAndTheirNumbersComeBackLate() {
        d = Dialogue.rts(settings);
        AddressHandles handles = d.host.port.addressHandles();
        Path way = ipv4(HERE, THERE);
        int first = handles.add(way, 1);
        for (int i = 1; i < AddressHandles.MAX; i++) {
            assertThat(handles.add(way, 1)).isNotNegative();
        }
        assertThat(handles.add(way, 1)).isEqualTo(-1);
        int number = first;
        for (int i = 0; i < 5000; i++) {
            handles.remove(number);
            assertThat(handles.find(number, 1)).isNull();
            int next = handles.add(way, 1);
            assertThat(next).isNotNegative().isNotEqualTo(number);
            assertThat(handles.find(next, 1)).isSameAs(way);
            assertThat(handles.find(next, 2)).isNull();
            number = next;
        }
    }

    @Test
    void aDrainingQueueBeginsNothing() {
        open();
        int handle = d.host.port.addressHandles().add(ipv4(HERE, THERE), TestHost.DOMAIN);
        d.end.modify(d.now, QueuePairState.SQD, null, new QueuePairAttributes());
        assertThat(d.host.events).containsExactly("SQ_DRAINED");
        d.end.post(Work.send(1, Sge.of(d.memory, 0, 8)).to(handle, 5, QKEY));
        d.expectNothing();
        d.send(datagram(1));
        d.expectCompletions("recv 100 SUCCESS RECV 41 from abcde");
        d.end.modify(d.now, QueuePairState.RTS, null, new QueuePairAttributes().qkey(0x99));
        d.expect("SEND_ONLY +0 qkey 11111111 8B");
        d.send(datagram(1).datagram(0x99, 1));
        d.expectCompletions("1 SUCCESS", "recv 101 SUCCESS RECV 41 from 1");
    }

    /** MC: every attached queue pair gets its copy, with its own header and in its own receive. */
    @Test
    void aGroupMessageReachesAllThatAreAttached() {
        open();
        TestQueuePair second = new TestQueuePair(d.host, settings);
        Settings otherKey = new Settings();
        otherKey.type = QueuePairType.UD;
        otherKey.qkey = 5;
        TestQueuePair third = new TestQueuePair(d.host, otherKey);
        TestQueuePair fourth = new TestQueuePair(d.host, settings);
        for (TestQueuePair one : List.of(second, third, fourth)) {
            one.connect(d.now, Dialogue.HIGH, Dialogue.PEER_LOW, 0);
            one.postReceive(7, Sge.of(d.memory, 16384, 512));
        }
        MulticastGroups groups = d.host.port.multicastGroups();
        groups.attach(IPV4_GROUP, d.end.any);
        groups.attach(IPV4_GROUP, second.any);
        groups.attach(IPV4_GROUP, second.any);
        groups.attach(IPV4_GROUP, third.any);
        groups.attach(group(GROUP + 1), fourth.any);
        assertThat(groups.count(IPV4_GROUP)).isEqualTo(3);
        d.back = ipv4(THERE, GROUP);
        d.send(datagram(10), MULTICAST_QP);
        d.expectCompletions("recv 100 SUCCESS RECV 50 from abcde");
        assertThat(second.completions()).containsExactly("recv 7 SUCCESS RECV 50 from abcde");
        assertThat(third.completions()).isEmpty();
        assertThat(fourth.completions()).isEmpty();
        assertThat(d.dropped(Counter.DROP_WRONG_QKEY)).isEqualTo(1);
        assertThat(Ipv4.destination(d.memory.segment(), 20)).isEqualTo(GROUP);

        groups.detach(IPV4_GROUP, d.end.any);
        d.send(datagram(10), MULTICAST_QP);
        d.expectCompletions();
        assertThat(second.completions()).isEmpty();
        assertThat(d.dropped(Counter.DROP_NO_RECEIVE))
                .as("the second has no receive left")
                .isEqualTo(1);
    }

    @Test
    void aGroupMessageThatIsDamagedOrForNobodyIsDropped() {
        open();
        d.back = ipv4(THERE, GROUP);
        d.send(datagram(10), MULTICAST_QP);
        assertThat(d.dropped(Counter.DROP_NO_GROUP_MEMBER)).isEqualTo(1);
        d.host.port.multicastGroups().attach(IPV4_GROUP, d.end.any);
        d.corrupt = true;
        d.send(datagram(10), MULTICAST_QP);
        assertThat(d.dropped(Counter.DROP_BAD_ICRC)).isEqualTo(1);
        d.corrupt = false;
        d.send(d.request(Opcode.RC_SEND_ONLY, 0).bytes(4), MULTICAST_QP);
        assertThat(d.dropped(Counter.DROP_WRONG_SERVICE)).isEqualTo(1);
        d.expectCompletions();
    }

    /** A group has one queue pair number, and only groups have it. */
    @Test
    void groupAddressAndGroupNumberGoTogether() {
        open();
        d.host.port.multicastGroups().attach(IPV4_GROUP, d.end.any);
        d.back = ipv4(THERE, GROUP);
        d.send(datagram(10));
        assertThat(d.dropped(Counter.DROP_WRONG_ADDRESS)).isEqualTo(1);
        d.back = new Path(Dialogue.HIGH, 2, 0xff02L << 48, 5, 0xc001, Path.ROCE_V2_PORT, 0, 64);
        d.send(datagram(10));
        assertThat(d.dropped(Counter.DROP_WRONG_ADDRESS)).isEqualTo(2);
        d.back = ipv4(THERE, HERE);
        d.send(datagram(10), MULTICAST_QP);
        assertThat(d.dropped(Counter.DROP_NO_GROUP_MEMBER)).isEqualTo(1);
        d.expectCompletions();
    }

    @Test
    void damagedDatagramsAreDropped() {
        open();
        d.corrupt = true;
        d.send(datagram(8));
        d.expectCompletions();
        assertThat(d.dropped(Counter.DROP_BAD_ICRC)).isEqualTo(1);
    }
}
