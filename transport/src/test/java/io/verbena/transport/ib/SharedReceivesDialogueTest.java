// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.memory.Region;
import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.wire.ib.Opcode;
import java.util.Collections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Receives that several reliable connections take from. */
final class SharedReceivesDialogueTest {
    private static final int MAX_SGE = 4;

    private final TestHost host = new TestHost(Dialogue.HIGH, 1, 42);
    private final SharedReceives shared =
            host.port.createSharedReceives(TestHost.DOMAIN, new WorkQueue(16, ReceiveSlot.bytes(MAX_SGE)), 0, null);
    private final Dialogue d;
    private final TestQueuePair second;

    SharedReceivesDialogueTest() {
        Settings settings = new Settings();
        settings.mtu = Mtu.MTU_256;
        settings.shared = shared;
        d = Dialogue.rts(host, settings);
        second = new TestQueuePair(host, settings);
        second.connect(d.now, Dialogue.HIGH, Dialogue.PEER_LOW, Dialogue.PEER_QP);
    }

    @AfterEach
    void nothingIsWrittenOutside() {
        host.checkGuards();
    }

    private void post(int from, int count, int bytes) {
        for (int i = from; i < from + count; i++) {
            TestQueuePair.postReceive(shared.queue(), i, Sge.of(d.memory, i * 1024L, bytes));
        }
    }

    private Packet only(int psn, int bytes) {
        return d.request(Opcode.RC_SEND_ONLY, psn).bytes(bytes).ack();
    }

    private void toSecond(Packet packet) {
        d.send(packet, second.any.qpNumber());
    }

    /** SRQ-1: each message takes one receive, at its first packet; messages may end in another order. */
    @Test
    void messagesOfSeveralQueuePairsTakeReceivesInTheOrderInWhichTheyBegin() {
        post(0, 4, 1024);
        d.send(d.request(Opcode.RC_SEND_FIRST, 0).bytes(256));
        toSecond(only(0, 7));
        toSecond(d.request(Opcode.RC_SEND_FIRST, 1).bytes(256));
        d.send(d.request(Opcode.RC_SEND_LAST, 1).bytes(9));
        d.send(only(2, 11));
        toSecond(d.request(Opcode.RC_SEND_LAST, 2).bytes(1));
        d.expectCompletions("recv 0 SUCCESS RECV 265", "recv 3 SUCCESS RECV 11");
        assertThat(second.completions()).containsExactly("recv 1 SUCCESS RECV 7", "recv 2 SUCCESS RECV 257");
        assertThat(d.bytes(d.memory, 2048, 256)).isEqualTo(Packet.pattern(256));
        assertThat(shared.posted()).isZero();
        d.out();
    }

    @Test
    void withoutAReceiveEveryQueuePairSaysSo() {
        d.send(only(0, 8));
        d.expect("RNR 2c +0 msn 0");
        toSecond(only(0, 8));
        d.expect("RNR 2c +0 msn 0");
        post(0, 1, 8);
        toSecond(only(0, 8));
        d.expect("ACK +0 msn 1");
        d.send(only(0, 8));
        d.expect("RNR 2c +0 msn 0");
    }

    /** SRQ-3: 7 asked for, 10 posted, 4 taken: one event. */
    @Test
    void theLimitIsOneEventAndIsArmedAgainByHand() {
        post(0, 10, 64);
        shared.armLimit(7);
        for (int psn = 0; psn < 3; psn++) {
            d.send(only(psn, 1));
        }
        assertThat(host.events).isEmpty();
        assertThat(shared.limit()).isEqualTo(7);
        d.send(only(3, 1));
        d.send(only(4, 1));
        assertThat(host.events).containsExactly("SRQ_LIMIT");
        assertThat(shared.limit()).isZero();
        shared.armLimit(6);
        assertThat(host.events).as("five are left").containsExactly("SRQ_LIMIT", "SRQ_LIMIT");
        shared.armLimit(5);
        shared.armLimit(0);
        d.send(only(5, 1));
        assertThat(host.events).hasSize(2);
        d.out();
    }

    /** 6.B 40: what is posted stays, in order, also when the ring had wrapped. */
    @ParameterizedTest
    @ValueSource(ints = {5, 16, 100})
    void resizingKeepsWhatIsPosted(int depth) {
        post(0, 14, 64);
        for (int psn = 0; psn < 14; psn++) {
            d.send(only(psn, 1));
        }
        d.out();
        d.end.completions();
        post(20, 5, 64);
        shared.resize(new WorkQueue(depth, shared.slotBytes()));
        assertThat(shared.posted()).isEqualTo(5);
        assertThat(shared.queue().hasRoom(0)).isEqualTo(depth > 5);
        d.send(only(14, 2));
        assertThat(shared.queue().hasRoom(0)).isTrue();
        post(25, 1, 64);
        for (int psn = 15; psn < 20; psn++) {
            d.send(only(psn, 2));
        }
        d.expectCompletions(
                "recv 20 SUCCESS RECV 2",
                "recv 21 SUCCESS RECV 2",
                "recv 22 SUCCESS RECV 2",
                "recv 23 SUCCESS RECV 2",
                "recv 24 SUCCESS RECV 2",
                "recv 25 SUCCESS RECV 2");
        d.out();
    }

    /** 6.B 40: a receive with fewer entries than another one before it in the same slot. */
    @Test
    void entriesOfAnEarlierReceiveDoNotCount() {
        for (int i = 0; i < 16; i++) {
            Sge[] four = Collections.nCopies(MAX_SGE, Sge.of(d.memory, 0, 16)).toArray(Sge[]::new);
            TestQueuePair.postReceive(shared.queue(), i, four);
            d.send(only(i, 64));
        }
        d.out();
        assertThat(d.end.completions()).hasSize(16);
        TestQueuePair.postReceive(shared.queue(), 77, Sge.of(d.memory, 0, 16));
        d.expectRefused(only(16, 17), "NAK 61 +16 msn 16");
        d.expectCompletions("recv 77 LOC_LEN_ERR");
    }

    /** 6.B 41: once, after the receive under way, and the receives in the queue stay there. */
    @Test
    void aQueuePairInErrorTellsThatItTakesNoMoreReceives() {
        post(0, 4, 1024);
        d.send(d.request(Opcode.RC_SEND_FIRST, 0).bytes(256));
        d.end.modify(d.now, QueuePairState.ERR, null, new QueuePairAttributes());
        d.expectCompletions("recv 0 WR_FLUSH_ERR");
        assertThat(host.events).containsExactly("LAST_WQE_REACHED");
        d.end.modify(d.now, QueuePairState.ERR, null, new QueuePairAttributes());
        d.send(d.request(Opcode.RC_SEND_LAST, 1).bytes(1));
        d.out();
        assertThat(host.events).filteredOn("LAST_WQE_REACHED"::equals).hasSize(1);
        toSecond(only(0, 3));
        assertThat(second.completions()).containsExactly("recv 1 SUCCESS RECV 3");
        d.out();
    }

    /** 6.B 41: in every way that leads to the error state, from RESET too. */
    @ParameterizedTest
    @EnumSource(
            value = QueuePairState.class,
            names = {"RESET", "INIT", "RTR", "RTS"})
    void theEventComesFromEveryState(QueuePairState from) {
        TestQueuePair fresh = new TestQueuePair(host, d.settings);
        if (from != QueuePairState.RESET) {
            fresh.toInit(d.now);
        }
        if (from.compareTo(QueuePairState.INIT) > 0) {
            fresh.toRtr(d.now, Dialogue.HIGH, Dialogue.PEER_LOW, Dialogue.PEER_QP);
        }
        if (from == QueuePairState.RTS) {
            fresh.toRts(d.now);
        }
        assertThat(fresh.any.state()).isEqualTo(from);
        fresh.modify(d.now, QueuePairState.ERR, null, new QueuePairAttributes());
        assertThat(host.events).containsExactly("LAST_WQE_REACHED");
    }

    /** A receive that cannot be written is reported by the queue pair that took it; the others go on. */
    @Test
    void aBadReceiveHitsOneQueuePairOnly() {
        Region readable = host.register(host.allocate(64), 0, TestHost.DOMAIN);
        TestQueuePair.postReceive(shared.queue(), 1, Sge.of(readable, 0, 64));
        post(2, 1, 64);
        d.expectRefused(only(0, 8), "NAK 63 +0 msn 0");
        d.expectCompletions("recv 1 LOC_PROT_ERR");
        toSecond(only(0, 8));
        assertThat(second.completions()).containsExactly("recv 2 SUCCESS RECV 8");
        assertThat(host.events).filteredOn("LAST_WQE_REACHED"::equals).hasSize(1);
        d.out();
    }

    /** The receives belong to the queue's domain, not to that of the queue pair. */
    @Test
    void keysAreThoseOfTheQueuesDomain() {
        SharedReceives other = host.port.createSharedReceives(99, new WorkQueue(4, ReceiveSlot.bytes(1)), 0, null);
        Settings settings = new Settings();
        settings.shared = other;
        TestQueuePair third = new TestQueuePair(host, settings);
        third.connect(d.now, Dialogue.HIGH, Dialogue.PEER_LOW, Dialogue.PEER_QP);
        Region region = host.register(host.allocate(64), TestHost.ALL, 99);
        TestQueuePair.postReceive(other.queue(), 1, Sge.of(region, 0, 64));
        TestQueuePair.postReceive(other.queue(), 2, Sge.of(d.memory, 0, 64));
        d.send(only(0, 8), third.any.qpNumber());
        assertThat(third.completions()).containsExactly("recv 1 SUCCESS RECV 8");
        d.send(only(1, 8), third.any.qpNumber());
        assertThat(third.completions()).containsExactly("recv 2 LOC_PROT_ERR");
        d.out();
    }
}
