// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.memory.Region;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairState;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How the responder answers requests that are right, repeated, early or ahead of a receive. Item numbers are those of
 * the list of known faults.
 */
final class ResponderDialogueTest {
    private static Dialogue small(int rqPsn) {
        Settings settings = new Settings();
        settings.mtu = Mtu.MTU_256;
        settings.rqPsn = rqPsn;
        return Dialogue.rts(settings);
    }

    private static Dialogue small() {
        return small(0x2000);
    }

    private static void postReceives(Dialogue d, int count, int bytes) {
        for (int i = 0; i < count; i++) {
            d.end.postReceive(100 + i, Sge.of(d.memory, i * 4096L, bytes));
        }
    }

    private Packet writeOnly(Dialogue d, int psn, int offset, int bytes) {
        return d.request(Opcode.RC_WRITE_ONLY, psn)
                .reth(d.memory.address() + offset, d.memory.rkey(), bytes)
                .bytes(bytes)
                .ack();
    }

    private Packet readRequest(Dialogue d, int psn, int offset, int bytes) {
        return d.request(Opcode.RC_READ_REQUEST, psn)
                .reth(d.memory.address() + offset, d.memory.rkey(), bytes)
                .ack();
    }

    private Packet fetchAdd(Dialogue d, int psn, int offset, long add) {
        return d.request(Opcode.RC_FETCH_ADD, psn)
                .atomic(d.memory.address() + offset, d.memory.rkey(), add, 0)
                .ack();
    }

    @ParameterizedTest
    @ValueSource(ints = {0x2000, 0xfffffe, 0xffffff, 0})
    void placesASendOfThreePacketsAndAcknowledgesIt(int psn) {
        Dialogue d = small(psn);
        postReceives(d, 1, 1000);
        byte[] message = Packet.pattern(600);
        d.send(d.request(Opcode.RC_SEND_FIRST, 0).payload(java.util.Arrays.copyOfRange(message, 0, 256)));
        d.send(d.request(Opcode.RC_SEND_MIDDLE, 1).payload(java.util.Arrays.copyOfRange(message, 256, 512)));
        d.expectNothing();
        d.send(d.request(Opcode.RC_SEND_LAST_IMM, 2)
                .payload(java.util.Arrays.copyOfRange(message, 512, 600))
                .immediate(0xabcd)
                .ack());
        d.expect("ACK +2 msn 1");
        d.expectCompletions("recv 100 SUCCESS RECV 600 imm abcd");
        assertThat(d.bytes(d.memory, 0, 600)).isEqualTo(message);
    }

    /** 6.A 15: an operation of no bytes has one PSN. */
    @ParameterizedTest
    @ValueSource(ints = {0x2000, 0xffffff})
    void zeroLengthOperationsTakeOnePsn(int psn) {
        Dialogue d = small(psn);
        postReceives(d, 1, 10);
        d.send(d.request(Opcode.RC_SEND_ONLY, 0).ack());
        d.expect("ACK +0 msn 1");
        d.send(d.request(Opcode.RC_WRITE_ONLY, 1).ack());
        d.expect("ACK +1 msn 2");
        d.send(d.request(Opcode.RC_READ_REQUEST, 2).ack());
        d.expect("READ_RESPONSE_ONLY +2 0B");
        d.send(d.request(Opcode.RC_WRITE_ONLY, 3).ack());
        d.expect("ACK +3 msn 4");
        d.expectCompletions("recv 100 SUCCESS RECV 0");
    }

    /** 6.B 25. */
    @Test
    void repeatedSendIsAcknowledgedWithTheLastPsnAndNotDeliveredAgain() {
        Dialogue d = small();
        postReceives(d, 3, 100);
        Packet first = d.request(Opcode.RC_SEND_ONLY, 0).bytes(10).ack();
        d.send(first);
        d.send(d.request(Opcode.RC_SEND_ONLY, 1).bytes(20).ack());
        d.expect("ACK +1 msn 2");
        d.send(first);
        d.expect("ACK +1 msn 2");
        d.expectCompletions("recv 100 SUCCESS RECV 10", "recv 101 SUCCESS RECV 20");
    }

    /** 6.B 25: the repetition is acknowledged though it does not ask for that. */
    @Test
    void repeatedWriteIsAcknowledgedAndNotCarriedOutAgain() {
        Dialogue d = small();
        Packet write = writeOnly(d, 0, 0, 16);
        d.send(write);
        d.expect("ACK +0 msn 1");
        d.memory.segment().asSlice(0, 16).fill((byte) 0);
        write.ackRequest = false;
        d.send(write);
        d.expect("ACK +0 msn 1");
        assertThat(d.bytes(d.memory, 0, 16)).containsOnly(0);
    }

    /** 6.B 26: the data is what memory holds now; as often as asked. */
    @Test
    void repeatedReadIsAnsweredInWholeAndFromTheMiddle() {
        Dialogue d = small();
        d.send(readRequest(d, 0, 0, 700));
        String[] whole = {"READ_RESPONSE_FIRST +0 256B", "READ_RESPONSE_MIDDLE +1 256B", "READ_RESPONSE_LAST +2 188B"};
        d.expect(whole);
        d.memory.segment().fill((byte) 9);
        d.send(readRequest(d, 0, 0, 700));
        List<Packet> again = d.out();
        assertThat(again.stream().map(d::describe)).containsExactly(whole);
        assertThat(again.get(2).payload).containsOnly(9);
        d.send(readRequest(d, 1, 256, 444));
        d.expect("READ_RESPONSE_FIRST +1 256B", "READ_RESPONSE_LAST +2 188B");
        d.send(readRequest(d, 2, 512, 188));
        d.expect("READ_RESPONSE_ONLY +2 188B");
        d.send(readRequest(d, 0, 0, 700));
        d.expect(whole);
    }

    /** 6.B 26: a repetition may ask for a part, and gets that part. */
    @Test
    void repeatedReadOfAPartIsAnsweredWithThatPart() {
        Dialogue d = small();
        d.send(readRequest(d, 0, 0, 1024));
        assertThat(d.out()).hasSize(4);
        d.send(readRequest(d, 1, 256, 300));
        d.expect("READ_RESPONSE_FIRST +1 256B", "READ_RESPONSE_LAST +2 44B");
        d.send(readRequest(d, 1, 256, 768));
        d.expect("READ_RESPONSE_FIRST +1 256B", "READ_RESPONSE_MIDDLE +2 256B", "READ_RESPONSE_LAST +3 256B");
    }

    /** 6.B 26. */
    @Test
    void repeatedReadOutsideTheOriginalIsDropped() {
        Dialogue d = small();
        d.send(readRequest(d, 0, 0, 700));
        d.out();
        d.send(readRequest(d, 0, 0, 701));
        d.send(readRequest(d, 1, 255, 100));
        d.send(readRequest(d, 1, 256, 445));
        Packet otherKey = readRequest(d, 0, 0, 700);
        otherKey.rkey++;
        d.send(otherKey);
        d.expectNothing();
        assertThat(d.dropped(Counter.DROP_STALE_DUPLICATE)).isEqualTo(4);
        d.expectState(QueuePairState.RTS);
    }

    /** 6.B 26: READs that were repeated by the network do not count against max_dest_rd_atomic. */
    @Test
    void repeatedReadsLeaveRoomForNewOnes() {
        Settings settings = new Settings();
        settings.maxDestRdAtomic = 2;
        Dialogue d = Dialogue.rts(settings);
        d.send(readRequest(d, 0, 0, 10));
        d.send(readRequest(d, 1, 0, 11));
        d.expect("READ_RESPONSE_ONLY +0 10B", "READ_RESPONSE_ONLY +1 11B");
        d.send(readRequest(d, 0, 0, 10));
        d.send(readRequest(d, 1, 0, 11));
        d.send(readRequest(d, 2, 0, 12));
        d.expect("READ_RESPONSE_ONLY +1 11B", "READ_RESPONSE_ONLY +2 12B");
        assertThat(d.qp.responder.resources.unanswered()).isZero();
        d.expectState(QueuePairState.RTS);
    }

    /** 6.B 27. */
    @ParameterizedTest
    @ValueSource(ints = {0x2000, 0xffffff})
    void atomicIsCarriedOutOnceAndItsOldValueRepeated(int psn) {
        Dialogue d = small(psn);
        MemorySegment at = d.memory.segment();
        at.set(JAVA_LONG, 0, 40);
        d.send(fetchAdd(d, 0, 0, 2));
        d.expect("ATOMIC_ACKNOWLEDGE +0 = 40");
        d.send(fetchAdd(d, 0, 0, 2));
        d.expect("ATOMIC_ACKNOWLEDGE +0 = 40");
        Packet swap = d.request(Opcode.RC_COMPARE_SWAP, 1).atomic(d.memory.address(), d.memory.rkey(), 7, 42);
        d.send(swap);
        d.send(swap);
        d.expect("ATOMIC_ACKNOWLEDGE +1 = 42");
        d.send(d.request(Opcode.RC_COMPARE_SWAP, 2).atomic(d.memory.address(), d.memory.rkey(), 9, 42));
        d.expect("ATOMIC_ACKNOWLEDGE +2 = 7");
        assertThat(at.get(JAVA_LONG, 0)).isEqualTo(7);
    }

    /** 6.B 27: beyond what is remembered, a repetition is dropped. */
    @Test
    void atomicThatIsForgottenIsDropped() {
        Dialogue d = small();
        for (int i = 0; i < 5; i++) {
            d.send(fetchAdd(d, i, 0, 1));
            assertThat(d.out()).hasSize(1);
        }
        d.send(fetchAdd(d, 0, 0, 1));
        d.expectNothing();
        assertThat(d.dropped(Counter.DROP_STALE_DUPLICATE)).isEqualTo(1);
        d.send(fetchAdd(d, 1, 0, 1));
        assertThat(d.out()).hasSize(1);
    }

    /** 6.B 28. */
    @ParameterizedTest
    @ValueSource(ints = {0x2000, 0xfffffe})
    void oneNakForAnOutageUntilAPacketIsInOrder(int psn) {
        Dialogue d = small(psn);
        d.send(writeOnly(d, 2, 0, 4));
        d.expect("NAK 60 +0 msn 0");
        d.send(writeOnly(d, 3, 0, 4));
        d.send(writeOnly(d, 1, 0, 4));
        d.expectNothing();
        assertThat(d.dropped(Counter.DROP_OUT_OF_SEQUENCE)).isEqualTo(2);
        d.send(writeOnly(d, 0, 0, 4));
        d.expect("ACK +0 msn 1");
        d.send(writeOnly(d, 5, 0, 4));
        d.expect("NAK 60 +1 msn 1");
    }

    @Test
    void acknowledgesOnlyWhenAsked() {
        Dialogue d = small();
        Packet write = writeOnly(d, 0, 0, 4);
        write.ackRequest = false;
        d.send(write);
        d.expectNothing();
        d.send(writeOnly(d, 1, 0, 4));
        d.expect("ACK +1 msn 2");
    }

    /** 6.A 6: the NAK carries the timer of this side; the message is taken once a receive is there. */
    @Test
    void sendWithoutReceiveDrawsOneRnrNak() {
        Dialogue d = small();
        Packet first = d.request(Opcode.RC_SEND_FIRST, 0).bytes(256);
        Packet last = d.request(Opcode.RC_SEND_LAST, 1).bytes(1).ack();
        d.send(first);
        d.send(last);
        d.expect("RNR 2c +0 msn 0");
        d.send(first);
        d.expect("RNR 2c +0 msn 0");
        postReceives(d, 1, 300);
        d.send(first);
        d.send(last);
        d.expect("ACK +1 msn 1");
        d.expectCompletions("recv 100 SUCCESS RECV 257");
    }

    /** 2.C: a WRITE with immediate takes its receive at the last packet. */
    @Test
    void writeWithImmediateMeetsRnrAtItsLastPacket() {
        Dialogue d = small();
        byte[] data = Packet.pattern(300);
        d.send(d.request(Opcode.RC_WRITE_FIRST, 0)
                .reth(d.memory.address(), d.memory.rkey(), 300)
                .payload(java.util.Arrays.copyOf(data, 256)));
        Packet last = d.request(Opcode.RC_WRITE_LAST_IMM, 1)
                .payload(java.util.Arrays.copyOfRange(data, 256, 300))
                .immediate(5)
                .ack();
        d.send(last);
        d.expect("RNR 2c +1 msn 0");
        postReceives(d, 1, 0);
        d.send(last);
        d.expect("ACK +1 msn 1");
        d.expectCompletions("recv 100 SUCCESS RECV_RDMA_WITH_IMM 300 imm 5");
        assertThat(d.bytes(d.memory, 0, 300)).isEqualTo(data);
    }

    /** 6.B 35: SEND, WRITE and WRITE with immediate count at their last packet, a READ when it is begun, once. */
    @Test
    void messageSequenceNumberCountsCompletedRequests() {
        Dialogue d = small();
        postReceives(d, 2, 300);
        d.send(d.request(Opcode.RC_WRITE_FIRST, 0)
                .reth(d.memory.address(), d.memory.rkey(), 257)
                .bytes(256)
                .ack());
        d.expect("ACK +0 msn 0");
        d.send(d.request(Opcode.RC_WRITE_LAST, 1).bytes(1).ack());
        d.expect("ACK +1 msn 1");
        d.send(readRequest(d, 2, 0, 300));
        List<Packet> answer = d.out();
        assertThat(answer.get(0).msn).isEqualTo(2);
        d.send(readRequest(d, 2, 0, 300));
        assertThat(d.out().get(0).msn).isEqualTo(2);
        d.send(fetchAdd(d, 4, 0, 1));
        assertThat(d.out().get(0).msn).isEqualTo(3);
        d.send(d.request(Opcode.RC_SEND_FIRST, 5).bytes(256).ack());
        d.expect("ACK +5 msn 3");
        d.send(d.request(Opcode.RC_SEND_LAST, 6).bytes(1).ack());
        d.expect("ACK +6 msn 4");
        d.send(d.request(Opcode.RC_WRITE_ONLY_IMM, 7).reth(0, 0, 0).ack());
        d.expect("ACK +7 msn 5");
    }

    /** 6.A 14. */
    @Test
    void readWrapsThePsn() {
        Dialogue d = small(0xfffffe);
        d.send(readRequest(d, 0, 0, 1000));
        d.expect(
                "READ_RESPONSE_FIRST +0 256B",
                "READ_RESPONSE_MIDDLE +1 256B",
                "READ_RESPONSE_MIDDLE +2 256B",
                "READ_RESPONSE_LAST +3 232B");
        assertThat(d.qp.expectedPsn()).isEqualTo(2);
        d.send(readRequest(d, 2, 512, 488));
        d.expect("READ_RESPONSE_FIRST +2 256B", "READ_RESPONSE_LAST +3 232B");
    }

    /** The answers keep the order of the requests. */
    @Test
    void acknowledgementFollowsTheReadBeforeIt() {
        Dialogue d = small();
        d.send(readRequest(d, 0, 0, 300));
        d.send(fetchAdd(d, 2, 0, 0));
        d.send(writeOnly(d, 3, 512, 4));
        assertThat(d.out().stream().map(p -> p.opcode))
                .containsExactly(
                        Opcode.RC_READ_RESPONSE_FIRST,
                        Opcode.RC_READ_RESPONSE_LAST,
                        Opcode.RC_ATOMIC_ACKNOWLEDGE,
                        Opcode.RC_ACKNOWLEDGE);
    }

    /** 2.C: data that arrives in RTR is taken and acknowledged, and raises one event. */
    @Test
    void dataInRtrIsAccepted() {
        Dialogue d = Dialogue.rtr(new Settings());
        postReceives(d, 1, 100);
        d.send(d.request(Opcode.RC_SEND_ONLY, 0).bytes(10).ack());
        d.expect("ACK +0 msn 1");
        d.send(readRequest(d, 1, 0, 10));
        d.expect("READ_RESPONSE_ONLY +1 10B");
        d.expectCompletions("recv 100 SUCCESS RECV 10");
        assertThat(d.host.events).containsExactly("COMM_EST");
    }

    /** 6.B 34: the region goes away in the middle of the answer. */
    @Test
    void readOfARegionThatIsDeregisteredEndsInANak() {
        Dialogue d = small();
        d.send(readRequest(d, 0, 0, 700));
        d.send(fetchAdd(d, 3, 0, 1));
        d.frame().wrap(d.buffer(), 0, 4096);
        assertThat(d.host.port.pollFrame(d.now, d.frame())).isTrue();
        d.host.port.keys().remove(d.memory);
        d.expect("NAK 62 +1 msn 2");
        d.expectState(QueuePairState.ERR);
        d.expectNothing();
        assertThat(d.qp.responder.resources.unanswered()).isZero();
    }

    /** A region whose arena was closed is an access error, not an exception. */
    @ParameterizedTest
    @ValueSource(strings = {"WRITE", "READ", "ATOMIC"})
    void closedMemoryIsAnAccessError(String operation) {
        Dialogue d = small();
        Region gone;
        try (Arena arena = Arena.ofShared()) {
            gone = d.host.register(arena.allocate(64, 8), TestHost.ALL, TestHost.DOMAIN);
        }
        d.send(
                switch (operation) {
                    case "WRITE" ->
                        d.request(Opcode.RC_WRITE_ONLY, 0)
                                .reth(gone.address(), gone.rkey(), 8)
                                .bytes(8)
                                .ack();
                    case "READ" -> d.request(Opcode.RC_READ_REQUEST, 0).reth(gone.address(), gone.rkey(), 8);
                    default -> d.request(Opcode.RC_FETCH_ADD, 0).atomic(gone.address(), gone.rkey(), 1, 0);
                });
        List<Packet> out = d.out();
        assertThat(out).hasSize(1);
        assertThat(d.describe(out.get(0))).startsWith("NAK 62 +0");
        d.expectState(QueuePairState.ERR);
    }

    /** 2.A: the migration bit of a peer may be 0 or 1 (6.B 43); membership bit of the P_Key too. */
    @Test
    void migrationBitAndPartitionMembershipDoNotMatter() {
        Dialogue d = small();
        Packet write = writeOnly(d, 0, 0, 4);
        write.migRequest = true;
        write.partitionKey = 0x7fff;
        d.send(write);
        d.expect("ACK +0 msn 1");
    }

    /** Padding is not part of the message. */
    @Test
    void paddingIsNotWritten() {
        Dialogue d = small();
        d.memory.segment().fill((byte) 3);
        d.send(writeOnly(d, 0, 8, 5));
        d.expect("ACK +0 msn 1");
        assertThat(d.memory.segment().get(JAVA_BYTE, 12)).isEqualTo(Packet.pattern(5)[4]);
        assertThat(d.bytes(d.memory, 13, 8)).containsOnly(3);
        assertThat(d.bytes(d.memory, 0, 8)).containsOnly(3);
    }
}
