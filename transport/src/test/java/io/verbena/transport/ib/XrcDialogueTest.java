// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.queue.CompletionRing;
import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendOpcode;
import io.verbena.wire.ib.Opcode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Extended reliable connections (XRC-1): requests name a shared receive queue of the target's domain. */
final class XrcDialogueTest {
    private static final int XRC_DOMAIN = 31;

    private final TestHost host = new TestHost(Dialogue.HIGH, 1, 42);
    private final CompletionRing oneRing = new CompletionRing(16);
    private final CompletionRing twoRing = new CompletionRing(16);
    private final SharedReceives one = queue(XRC_DOMAIN, oneRing);
    private final SharedReceives two = queue(XRC_DOMAIN, twoRing);
    private final SharedReceives foreign = queue(XRC_DOMAIN + 1, new CompletionRing(4));
    private final Settings settings = new Settings();
    private Dialogue d;

    XrcDialogueTest() {
        settings.mtu = Mtu.MTU_256;
    }

    private SharedReceives queue(int xrcDomain, CompletionRing ring) {
        return host.port.createSharedReceives(TestHost.DOMAIN, new WorkQueue(8, ReceiveSlot.bytes(2)), xrcDomain, ring);
    }

    private void target() {
        settings.type = QueuePairType.XRC_TGT;
        settings.xrcDomain = XRC_DOMAIN;
        d = Dialogue.rts(host, settings);
        post(one, 1);
        post(one, 2);
        post(two, 21);
        post(foreign, 31);
    }

    private void initiator() {
        settings.type = QueuePairType.XRC_INI;
        d = Dialogue.rts(host, settings);
    }

    private void post(SharedReceives queue, int id) {
        TestQueuePair.postReceive(queue.queue(), id, Sge.of(d.memory, id * 1024L, 1024));
    }

    private Packet request(Opcode opcode, int psn, SharedReceives queue) {
        return d.request(opcode, psn).sharedReceiveQueue(queue.number()).ack();
    }

    private void expectReceived(CompletionRing ring, String... completions) {
        assertThat(d.end.receiveCompletions(ring)).containsExactly(completions);
    }

    @AfterEach
    void nothingIsWrittenOutside() {
        host.checkGuards();
    }

    @Test
    void numbersAreOf24BitsNeverZeroAndAllDifferent() {
        Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < 500; i++) {
            SharedReceives queue = queue(XRC_DOMAIN, oneRing);
            assertThat(queue.number()).isBetween(1, 0xffffff);
            assertThat(host.port.sharedReceives(queue.number())).isSameAs(queue);
            assertThat(numbers.add(queue.number())).isTrue();
            if (i % 3 == 0) {
                host.port.destroySharedReceives(queue);
                assertThat(host.port.sharedReceives(queue.number())).isNull();
                numbers.remove(queue.number());
            }
        }
        assertThat(host.port.sharedReceives(0)).isNull();
        assertThat(host.port.sharedReceives(0xffffff)).isNull();
        assertThat(host.port
                        .createSharedReceives(TestHost.DOMAIN, new WorkQueue(1, 32), 0, null)
                        .number())
                .isZero();
    }

    @Test
    void sendsReachTheQueueThatTheyName() {
        target();
        d.send(request(Opcode.XRC_SEND_ONLY, 0, two).bytes(5));
        d.expect("ACK +0 msn 1");
        d.send(request(Opcode.XRC_SEND_FIRST, 1, one).bytes(256));
        d.send(request(Opcode.XRC_SEND_LAST_IMM, 2, one).bytes(4).immediate(0x99));
        assertThat(d.out()).last().satisfies(ack -> assertThat(ack.opcode).isEqualTo(Opcode.XRC_ACKNOWLEDGE));
        expectReceived(twoRing, "recv 21 SUCCESS RECV 5");
        expectReceived(oneRing, "recv 1 SUCCESS RECV 260 imm 99");
        assertThat(d.bytes(d.memory, 21 * 1024, 5)).isEqualTo(Packet.pattern(5));
        assertThat(d.bytes(d.memory, 1024, 256)).isEqualTo(Packet.pattern(256));
    }

    @Test
    void writesNeedAQueueOnlyForTheirImmediate() {
        target();
        long address = d.memory.address();
        d.send(request(Opcode.XRC_WRITE_FIRST, 0, foreign)
                .reth(address, d.memory.rkey(), 300)
                .bytes(256));
        d.send(request(Opcode.XRC_WRITE_LAST, 1, foreign).bytes(44));
        d.send(request(Opcode.XRC_WRITE_ONLY_IMM, 2, one)
                .reth(address, d.memory.rkey(), 8)
                .bytes(8)
                .immediate(3));
        d.expect("ACK +2 msn 2");
        expectReceived(oneRing, "recv 1 SUCCESS RECV_RDMA_WITH_IMM 8 imm 3");
    }

    @Test
    void readsAndAtomicsAreAnsweredWithOpcodesOfTheService() {
        target();
        d.memory.segment().set(JAVA_LONG, 0, 40);
        d.send(request(Opcode.XRC_READ_REQUEST, 0, one).reth(d.memory.address(), d.memory.rkey(), 700));
        d.send(request(Opcode.XRC_FETCH_ADD, 3, one).atomic(d.memory.address(), d.memory.rkey(), 2, 0));
        d.send(request(Opcode.XRC_COMPARE_SWAP, 4, one).atomic(d.memory.address(), d.memory.rkey(), 7, 42));
        List<Packet> out = d.out();
        assertThat(out)
                .extracting(packet -> packet.opcode)
                .containsExactly(
                        Opcode.XRC_READ_RESPONSE_FIRST,
                        Opcode.XRC_READ_RESPONSE_MIDDLE,
                        Opcode.XRC_READ_RESPONSE_LAST,
                        Opcode.XRC_ATOMIC_ACKNOWLEDGE,
                        Opcode.XRC_ATOMIC_ACKNOWLEDGE);
        assertThat(out.get(3).original).isEqualTo(40);
        assertThat(out.get(4).original).isEqualTo(42);
        assertThat(d.memory.segment().get(JAVA_LONG, 0)).isEqualTo(7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"no such number", "other domain", "destroyed", "old number"})
    void aQueueThatTheTargetMayNotUseIsRefused(String why) {
        target();
        if (why.equals("destroyed")) {
            host.port.destroySharedReceives(two);
        }
        int number = switch (why) {
            case "other domain" -> foreign.number();
            case "no such number" -> 0;
            case "old number" -> two.number() ^ 0x10000;
            default -> two.number();
        };
        d.expectRefused(
                d.request(Opcode.XRC_SEND_ONLY, 0).sharedReceiveQueue(number).bytes(4), "NAK 61 +0 msn 0");
        expectReceived(oneRing);
        expectReceived(twoRing);
        assertThat(foreign.posted()).isEqualTo(1);
        assertThat(host.events).contains("OPERATION_NOT_ENABLED");
    }

    @Test
    void anEmptyQueueIsNotReadyAndTheOthersAre() {
        target();
        d.send(request(Opcode.XRC_SEND_ONLY, 0, two).bytes(1));
        d.send(request(Opcode.XRC_SEND_ONLY, 1, two).bytes(2));
        d.expect("RNR 2c +1 msn 1");
        post(two, 22);
        d.send(request(Opcode.XRC_SEND_ONLY, 1, two).bytes(2));
        d.send(request(Opcode.XRC_SEND_ONLY, 2, one).bytes(3));
        d.expect("ACK +2 msn 3");
        expectReceived(twoRing, "recv 21 SUCCESS RECV 1", "recv 22 SUCCESS RECV 2");
        expectReceived(oneRing, "recv 1 SUCCESS RECV 3");
    }

    /** A queue that goes in the middle of a message takes the connection with it; nothing is reported to it. */
    @Test
    void aQueueDestroyedUnderAMessageEndsTheConnection() {
        target();
        d.send(request(Opcode.XRC_SEND_FIRST, 0, one).bytes(256));
        d.out();
        host.port.destroySharedReceives(one);
        d.expectState(QueuePairState.ERR);
        d.send(request(Opcode.XRC_SEND_LAST, 1, one).bytes(1));
        d.expectNothing();
        expectReceived(oneRing);
        TestQueuePair other = new TestQueuePair(host, settings);
        other.connect(d.now, Dialogue.HIGH, Dialogue.PEER_LOW, Dialogue.PEER_QP);
        d.send(request(Opcode.XRC_SEND_ONLY, 0, two).bytes(1), other.any.qpNumber());
        expectReceived(twoRing, "recv 21 SUCCESS RECV 1");
        host.port.destroySharedReceives(two);
        assertThat(other.any.state()).as("nothing under way").isEqualTo(QueuePairState.RTS);
        d.out();
    }

    @Test
    void aReceiveOfAnErrorIsReportedWhereItsQueueReports() {
        target();
        d.send(request(Opcode.XRC_SEND_FIRST, 0, two).bytes(256));
        d.out();
        d.expectRefused(request(Opcode.XRC_SEND_ONLY, 1, one).bytes(4), "NAK 61 +1 msn 0");
        expectReceived(twoRing, "recv 21 REM_INV_REQ_ERR");
        expectReceived(oneRing);
        assertThat(one.posted()).as("receives of others stay").isEqualTo(2);
    }

    /** The initiator's side of the same: what goes out, and what its answers complete. */
    @Test
    void anInitiatorNamesTheQueueInEveryRequest() {
        initiator();
        d.end.sharedReceiveQueue = 0x1234;
        d.end.post(Work.send(1, Sge.of(d.memory, 0, 300)));
        d.end.post(Work.write(2, 0x5000, 7, Sge.of(d.memory, 0, 8))
                .as(SendOpcode.RDMA_WRITE_WITH_IMM)
                .immediate(6));
        d.end.post(Work.read(3, 0x6000, 8, Sge.of(d.memory, 2048, 300)));
        d.end.post(Work.fetchAdd(4, 0x7000, 9, 2, Sge.of(d.memory, 4096, 8)));
        List<Packet> out = d.out();
        assertThat(out.stream().map(d::describe))
                .containsExactly(
                        "SEND_FIRST +0 srq 4660 256B",
                        "SEND_LAST +1 A srq 4660 44B",
                        "WRITE_ONLY_IMM +2 A srq 4660 len 8 imm 6 8B",
                        "READ_REQUEST +3 A srq 4660 len 300",
                        "FETCH_ADD +5 A srq 4660");
        assertThat(out).allMatch(packet -> packet.opcode.name().startsWith("XRC_"));
        d.send(d.response(Opcode.XRC_ACKNOWLEDGE, 2));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS");
        d.send(d.response(Opcode.XRC_READ_RESPONSE_FIRST, 3).bytes(256));
        d.send(d.response(Opcode.XRC_READ_RESPONSE_LAST, 4).bytes(44));
        d.send(d.response(Opcode.XRC_ATOMIC_ACKNOWLEDGE, 5).original(40));
        d.expectCompletions("3 SUCCESS", "4 SUCCESS");
        assertThat(d.bytes(d.memory, 2048, 256)).isEqualTo(Packet.pattern(256));
        assertThat(d.memory.segment().get(JAVA_LONG, 4096)).isEqualTo(40);
    }

    @Test
    void anInitiatorTakesNoRequestsAndNoAnswersOfRc() {
        initiator();
        d.end.post(Work.send(1, Sge.of(d.memory, 0, 3)));
        d.out();
        d.send(request(Opcode.XRC_SEND_ONLY, 0, one).bytes(4));
        d.send(d.response(Opcode.RC_ACKNOWLEDGE, 0));
        d.expectNothing();
        d.expectCompletions();
        assertThat(d.dropped(Counter.DROP_WRONG_SERVICE)).isEqualTo(2);
        d.send(d.response(Opcode.XRC_ACKNOWLEDGE, 0));
        d.expectCompletions("1 SUCCESS");
    }
}
