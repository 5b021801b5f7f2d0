// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.memory.Region;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.wire.ib.Aeth;
import io.verbena.wire.ib.Opcode;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the requester sends, and what answers make of it. Item numbers are those of the list of known faults. */
final class RequesterDialogueTest {
    private static final long REMOTE = 0x5000_0000L;
    private static final int RKEY = 0x1234_5678;
    private final Settings settings = new Settings();

    RequesterDialogueTest() {
        settings.mtu = Mtu.MTU_256;
    }

    private Sge part(Dialogue d, int offset, int length) {
        return Sge.of(d.memory, offset, length);
    }

    private Work send(Dialogue d, long wrId, int length) {
        return Work.send(wrId, part(d, 0, length));
    }

    private Work write(Dialogue d, long wrId, int length) {
        return Work.write(wrId, REMOTE, RKEY, part(d, 0, length));
    }

    private Work read(Dialogue d, long wrId, int length) {
        return Work.read(wrId, REMOTE, RKEY, part(d, 8192, length));
    }

    private Work fetchAdd(Dialogue d, long wrId) {
        return Work.fetchAdd(wrId, REMOTE, RKEY, 5, part(d, 8192, 8));
    }

    /** 6.A 18 and 14: sizes around the MTU, PSNs around the wrap. */
    @ParameterizedTest
    @ValueSource(ints = {0x1000, 0xfffffe, 0xffffff})
    void cutsMessagesAtTheMtu(int psn) {
        settings.sqPsn = psn;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 255));
        d.end.post(send(d, 2, 256));
        d.end.post(send(d, 3, 257).as(SendOpcode.SEND_WITH_IMM).immediate(9));
        d.end.post(write(d, 4, 600));
        d.expect(
                "SEND_ONLY +0 A 255B",
                "SEND_ONLY +1 A 256B",
                "SEND_FIRST +2 256B",
                "SEND_LAST_IMM +3 A imm 9 1B",
                "WRITE_FIRST +4 len 600 256B",
                "WRITE_MIDDLE +5 256B",
                "WRITE_LAST +6 A 88B");
        d.send(d.acknowledge(6));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS", "3 SUCCESS", "4 SUCCESS");
    }

    /** 6.A 15. */
    @Test
    void zeroLengthOperationsTakeOnePsn() {
        settings.sqPsn = 0xffffff;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.send(1));
        d.end.post(Work.write(2, 0, 0));
        d.end.post(Work.read(3, 0, 0));
        d.end.post(Work.send(4).as(SendOpcode.SEND_WITH_IMM).immediate(1));
        d.expect(
                "SEND_ONLY +0 A 0B",
                "WRITE_ONLY +1 A len 0 0B",
                "READ_REQUEST +2 A len 0",
                "SEND_ONLY_IMM +3 A imm 1 0B");
        d.send(d.acknowledge(1));
        d.send(d.response(Opcode.RC_READ_RESPONSE_ONLY, 2));
        d.send(d.acknowledge(3));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS", "3 SUCCESS", "4 SUCCESS");
    }

    @Test
    void gathersEntriesAndCopiesInlineDataAtPosting() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.send(1, part(d, 100, 3), part(d, 0, 0), part(d, 10, 300), part(d, 7, 2)));
        d.end.post(send(d, 2, 20).flags(SendFlags.INLINE | SendFlags.SIGNALED | SendFlags.SOLICITED));
        byte[] memory = d.bytes(d.memory, 0, 400);
        d.host.port.answerDoorbells(d.now);
        List<Packet> out = d.out();
        byte[] message = Arrays.copyOf(out.get(0).payload, 305);
        System.arraycopy(out.get(1).payload, 0, message, 256, 49);
        assertThat(Arrays.copyOf(message, 3)).isEqualTo(Arrays.copyOfRange(memory, 100, 103));
        assertThat(Arrays.copyOfRange(message, 3, 303)).isEqualTo(Arrays.copyOfRange(memory, 10, 310));
        assertThat(Arrays.copyOfRange(message, 303, 305)).isEqualTo(Arrays.copyOfRange(memory, 7, 9));
        assertThat(d.describe(out.get(2))).isEqualTo("SEND_ONLY +2 A SE 20B");
    }

    /** 6.A 21: what inline data was does not change when the buffer does. */
    @Test
    void inlineDataOfARetransmissionIsThatOfThePosting() {
        Dialogue d = Dialogue.rts(settings);
        byte[] before = d.bytes(d.memory, 0, 20);
        d.end.post(send(d, 2, 20).flags(SendFlags.INLINE));
        d.memory.segment().fill((byte) 0);
        assertThat(d.out().get(0).payload).isEqualTo(before);
        d.advance(d.ackTimeoutNs());
        assertThat(d.out().get(0).payload).isEqualTo(before);
    }

    @Test
    void scattersAReadAndCompletesItAtItsLastByte() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.read(1, REMOTE, RKEY, part(d, 1000, 100), part(d, 2000, 0), part(d, 3000, 500)));
        d.expect("READ_REQUEST +0 A len 600");
        byte[] data = Packet.pattern(600);
        d.send(d.response(Opcode.RC_READ_RESPONSE_FIRST, 0).payload(Arrays.copyOf(data, 256)));
        d.send(d.response(Opcode.RC_READ_RESPONSE_MIDDLE, 1).payload(Arrays.copyOfRange(data, 256, 512)));
        d.expectCompletions();
        d.send(d.response(Opcode.RC_READ_RESPONSE_LAST, 2).payload(Arrays.copyOfRange(data, 512, 600)));
        d.expectCompletions("1 SUCCESS");
        assertThat(d.bytes(d.memory, 1000, 100)).isEqualTo(Arrays.copyOf(data, 100));
        assertThat(d.bytes(d.memory, 3000, 500)).isEqualTo(Arrays.copyOfRange(data, 100, 600));
    }

    @Test
    void atomicsReturnTheOldValueInHostOrder() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(fetchAdd(d, 1));
        d.end.post(Work.compareSwap(2, REMOTE, RKEY, 0x11, 0x22, part(d, 8200, 8)));
        List<Packet> out = d.out();
        assertThat(out.get(0).swapOrAdd).isEqualTo(5);
        assertThat(out.get(1).compare).isEqualTo(0x11);
        assertThat(out.get(1).swapOrAdd).isEqualTo(0x22);
        d.send(d.response(Opcode.RC_ATOMIC_ACKNOWLEDGE, 0).original(0x0102030405060708L));
        d.send(d.response(Opcode.RC_ATOMIC_ACKNOWLEDGE, 1).original(-2));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS");
        assertThat(d.memory.segment().get(JAVA_LONG, 8192)).isEqualTo(0x0102030405060708L);
        assertThat(d.memory.segment().get(JAVA_LONG, 8200)).isEqualTo(-2);
    }

    /** 6.A 16: a peer that answers nothing sees a bounded number of packets, the last of which asks for an answer. */
    @Test
    void stopsAtItsWindowAndAsksForAnAcknowledgement() {
        settings.mtu = Mtu.MTU_1024;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 60_000));
        d.end.post(send(d, 2, 60_000));
        d.end.post(send(d, 3, 60_000));
        List<Packet> out = d.out();
        long cost =
                out.stream().mapToLong(p -> PathWindow.cost(p.payload.length)).sum();
        assertThat(cost).isEqualTo(d.qp.window.requestsInFlight()).isLessThanOrEqualTo(PathWindow.REQUEST_LIMIT_MAX);
        assertThat(out.get(out.size() - 1).ackRequest).isTrue();
        d.send(d.acknowledge(out.size() - 1));
        assertThat(d.out()).isNotEmpty();
    }

    /**
     * 6.A 2: the acknowledgement completes the WRITE before the READ; the READ is asked for again, and what follows it.
     */
    @Test
    void acknowledgementThatPassesAReadIsAnImpliedNak() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(write(d, 40, 4));
        d.end.post(read(d, 41, 4));
        d.end.post(write(d, 42, 4));
        assertThat(d.out()).hasSize(3);
        d.send(d.acknowledge(2));
        d.expectCompletions("40 SUCCESS");
        d.expect("READ_REQUEST +1 A len 4", "WRITE_ONLY +2 A len 4 4B");
        d.send(d.response(Opcode.RC_READ_RESPONSE_ONLY, 1).bytes(4));
        d.expectCompletions("41 SUCCESS");
        d.send(d.acknowledge(2));
        d.expectCompletions("42 SUCCESS");
    }

    /** 6.A 10: for an atomic too, and by a READ response. */
    @Test
    void answerToALaterRequestIsAnImpliedNak() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(fetchAdd(d, 1));
        d.end.post(read(d, 2, 4));
        assertThat(d.out()).hasSize(2);
        d.send(d.response(Opcode.RC_READ_RESPONSE_ONLY, 1).bytes(4));
        d.expect("FETCH_ADD +0 A", "READ_REQUEST +1 A len 4");
        d.expectCompletions();
        d.send(d.response(Opcode.RC_ATOMIC_ACKNOWLEDGE, 0));
        d.send(d.response(Opcode.RC_READ_RESPONSE_ONLY, 1).bytes(4));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS");
    }

    /** 6.A 11. */
    @Test
    void ghostAcknowledgementsChangeNothing() {
        Dialogue d = Dialogue.rts(settings);
        d.send(d.acknowledge(0));
        d.end.post(send(d, 1, 4));
        d.end.post(send(d, 2, 4));
        assertThat(d.out()).hasSize(2);
        d.send(d.acknowledge(2));
        d.send(d.acknowledge(-1));
        d.send(d.negative(5, Aeth.NAK_INVALID_REQUEST));
        d.send(d.negative(-1, Aeth.NAK_INVALID_REQUEST));
        d.send(d.acknowledge(1 << 22));
        d.expectNothing();
        d.expectCompletions();
        assertThat(d.dropped(Counter.DROP_UNEXPECTED_RESPONSE)).isEqualTo(6);
        d.send(d.acknowledge(1));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS");
    }

    /** 6.A 1: the rest of the READ is asked for, and its answer may begin with FIRST, MIDDLE (rxe), LAST or ONLY. */
    @ParameterizedTest
    @CsvSource({"RC_READ_RESPONSE_FIRST", "RC_READ_RESPONSE_MIDDLE"})
    void resumedReadMayBeginWithMiddle(Opcode opcode) {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(read(d, 1, 1000));
        d.expect("READ_REQUEST +0 A len 1000");
        d.send(d.response(Opcode.RC_READ_RESPONSE_FIRST, 0).bytes(256));
        d.advance(d.ackTimeoutNs());
        List<Packet> again = d.out();
        assertThat(again.stream().map(d::describe)).containsExactly("READ_REQUEST +1 A len 744");
        assertThat(again.get(0).address).isEqualTo(REMOTE + 256);
        d.send(d.response(opcode, 1).bytes(256));
        d.send(d.response(Opcode.RC_READ_RESPONSE_MIDDLE, 2).bytes(256));
        d.advance(d.ackTimeoutNs());
        d.expect("READ_REQUEST +3 A len 232");
        d.send(d.response(
                        opcode == Opcode.RC_READ_RESPONSE_FIRST
                                ? Opcode.RC_READ_RESPONSE_ONLY
                                : Opcode.RC_READ_RESPONSE_LAST,
                        3)
                .bytes(232));
        d.expectCompletions("1 SUCCESS");
        assertThat(d.qp.window.readsInFlight()).isZero();
    }

    /** 2.C: a READ answered twice. */
    @Test
    void secondTrainOfAReadIsIgnored() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(read(d, 1, 300));
        d.end.post(read(d, 2, 4));
        d.out();
        for (int i = 0; i < 2; i++) {
            d.send(d.response(Opcode.RC_READ_RESPONSE_FIRST, 0).bytes(256));
            d.send(d.response(Opcode.RC_READ_RESPONSE_LAST, 1).bytes(44));
        }
        d.expectCompletions("1 SUCCESS");
        d.expectNothing();
        assertThat(d.dropped(Counter.DROP_UNEXPECTED_RESPONSE)).isEqualTo(2);
    }

    /** 6.A 11: an answer of the wrong kind, length or place in the train, at the PSN that is due. */
    @ParameterizedTest
    @CsvSource({
        "RC_READ_RESPONSE_FIRST, 255",
        "RC_READ_RESPONSE_FIRST, 257",
        "RC_READ_RESPONSE_FIRST, 0",
        "RC_READ_RESPONSE_MIDDLE, 300",
        "RC_READ_RESPONSE_ONLY, 256",
        "RC_READ_RESPONSE_LAST, 256",
        "RC_READ_RESPONSE_ONLY, 600",
        "RC_ATOMIC_ACKNOWLEDGE, 0"
    })
    void wrongAnswerToAReadIsABadResponse(Opcode opcode, int bytes) {
        Dialogue d = Dialogue.rts(settings);
        byte[] before = d.bytes(d.memory, 8192, 1024);
        d.end.post(read(d, 1, 600).flags(0));
        d.end.post(send(d, 2, 4));
        d.out();
        d.send(d.response(opcode, 0).bytes(bytes));
        d.expectCompletions("1 BAD_RESP_ERR", "2 WR_FLUSH_ERR");
        d.expectState(QueuePairState.ERR);
        assertThat(d.bytes(d.memory, 8192, 1024)).isEqualTo(before);
        assertThat(d.qp.window.readsInFlight() + d.qp.window.requestsInFlight()).isZero();
    }

    /** 6.A 11. */
    @ParameterizedTest
    @EnumSource(names = {"RC_READ_RESPONSE_ONLY", "RC_READ_RESPONSE_MIDDLE", "RC_ATOMIC_ACKNOWLEDGE"})
    void dataInAnswerToASendIsABadResponse(Opcode opcode) {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 4));
        d.out();
        d.send(d.response(opcode, 0).bytes(opcode.hasPayload() ? 4 : 0));
        d.expectCompletions("1 BAD_RESP_ERR");
    }

    /** 2.B: the AETH of a READ response must be an ACK. */
    @ParameterizedTest
    @ValueSource(ints = {0x61, 0x2c, 0x40})
    void readResponseWithANakIsABadResponse(int syndrome) {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(read(d, 1, 4));
        d.out();
        d.send(d.response(Opcode.RC_READ_RESPONSE_ONLY, 0).bytes(4).aeth(syndrome, 1));
        d.expectCompletions("1 BAD_RESP_ERR");
    }

    /** 1.12 and 2.B: the NAK acknowledges what is before it; errors complete though they are not signalled (6.A 20). */
    @ParameterizedTest
    @CsvSource({
        "0x61, REM_INV_REQ_ERR",
        "0x62, REM_ACCESS_ERR",
        "0x63, REM_OP_ERR",
        "0x64, REM_INV_RD_REQ_ERR",
        "0x65, BAD_RESP_ERR",
        "0x7f, BAD_RESP_ERR"
    })
    void nakFailsTheRequestAndFlushesTheRest(int syndrome, String status) {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 4));
        d.end.post(send(d, 2, 4).flags(0));
        d.end.post(send(d, 3, 4).flags(0));
        d.end.postReceive(9);
        d.out();
        d.send(d.negative(1, syndrome));
        d.expectCompletions("1 SUCCESS", "2 " + status, "3 WR_FLUSH_ERR", "recv 9 WR_FLUSH_ERR");
        d.expectState(QueuePairState.ERR);
        assertThat(d.qp.window.requestsInFlight()).isZero();
        d.advance(100 * d.ackTimeoutNs());
        d.expectNothing();
    }

    /** 6.A 12. */
    @Test
    void nakInsideAReadTrainFailsTheReadAtOnce() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(read(d, 1, 1000));
        d.out();
        d.send(d.response(Opcode.RC_READ_RESPONSE_FIRST, 0).bytes(256));
        d.send(d.negative(1, Aeth.NAK_REMOTE_ACCESS_ERROR));
        d.expectCompletions("1 REM_ACCESS_ERR");
        d.expectState(QueuePairState.ERR);
        assertThat(d.qp.window.readsInFlight()).isZero();
    }

    /** Never more READs and atomics outstanding than max_rd_atomic; what follows them waits in line. */
    @Test
    void keepsToItsReadDepth() {
        settings.maxRdAtomic = 2;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(read(d, 1, 4));
        d.end.post(fetchAdd(d, 2));
        d.end.post(read(d, 3, 4));
        d.end.post(send(d, 4, 4));
        d.expect("READ_REQUEST +0 A len 4", "FETCH_ADD +1 A");
        d.send(d.response(Opcode.RC_READ_RESPONSE_ONLY, 0).bytes(4));
        d.expect("READ_REQUEST +2 A len 4", "SEND_ONLY +3 A 4B");
        d.send(d.response(Opcode.RC_ATOMIC_ACKNOWLEDGE, 1));
        d.send(d.response(Opcode.RC_READ_RESPONSE_ONLY, 2).bytes(4));
        d.send(d.acknowledge(3));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS", "3 SUCCESS", "4 SUCCESS");
    }

    /** A long READ is asked for in parts that do not move, and at most max_rd_atomic parts at a time. */
    @Test
    void longReadIsAskedForInParts() {
        settings.mtu = Mtu.MTU_4096;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.read(1, REMOTE, RKEY, part(d, 0, 61_440)));
        List<Packet> first = d.out();
        int packets = 0;
        long cost = 0;
        for (Packet request : first) {
            int covers = (int) ((request.length + 4095) / 4096);
            assertThat(Psn.diff(request.psn, settings.sqPsn)).isEqualTo(packets);
            assertThat(request.address).isEqualTo(REMOTE + packets * 4096L);
            packets += covers;
            cost += covers * PathWindow.cost(4096);
        }
        assertThat(packets).isEqualTo(15);
        assertThat(d.qp.window.readsInFlight()).isEqualTo(cost).isLessThanOrEqualTo(PathWindow.READ_LIMIT_MAX);
        int part = (int) (first.get(0).length / 4096);
        for (int i = 0; i < 15; i++) {
            boolean ends = i == part - 1 || i == 14;
            Opcode opcode = ends ? Opcode.RC_READ_RESPONSE_LAST : Opcode.RC_READ_RESPONSE_MIDDLE;
            d.send(d.response(opcode, i).bytes(4096));
        }
        d.expectCompletions("1 SUCCESS");
        assertThat(d.qp.window.readsInFlight()).isZero();
    }

    @Test
    void fenceWaitsForReadsAndAtomics() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(read(d, 1, 300));
        d.end.post(send(d, 2, 4));
        d.end.post(send(d, 3, 4).flags(SendFlags.FENCE | SendFlags.SIGNALED));
        d.expect("READ_REQUEST +0 A len 300", "SEND_ONLY +2 A 4B");
        d.send(d.response(Opcode.RC_READ_RESPONSE_FIRST, 0).bytes(256));
        d.expectNothing();
        d.send(d.response(Opcode.RC_READ_RESPONSE_LAST, 1).bytes(44));
        d.expect("SEND_ONLY +3 A 4B");
    }

    /** 1.12: no packet for a bad local key; it is reported after the work before it. */
    @ParameterizedTest
    @ValueSource(strings = {"key", "rkey", "domain", "range", "right"})
    void badLocalKeyIsReportedAfterEarlierWork(String what) {
        Dialogue d = Dialogue.rts(settings);
        int access = what.equals("right") ? AccessFlag.REMOTE_WRITE.code() : TestHost.ALL;
        Region region =
                d.host.register(d.memory.segment().asSlice(0, 64), access, what.equals("domain") ? 1 : TestHost.DOMAIN);
        int key = what.equals("rkey") ? region.rkey() : region.lkey() ^ (what.equals("key") ? 1 : 0);
        Sge bad = new Sge(region.address(), what.equals("range") ? 65 : 64, key);
        d.end.post(send(d, 1, 4));
        d.end.post(
                what.equals("right")
                        ? Work.read(2, REMOTE, RKEY, bad)
                        : Work.send(2, part(d, 0, 8), bad).flags(0));
        d.end.post(send(d, 3, 4));
        d.expect("SEND_ONLY +0 A 4B");
        d.expectCompletions();
        d.expectState(QueuePairState.RTS);
        d.send(d.acknowledge(0));
        d.expectCompletions("1 SUCCESS", "2 LOC_PROT_ERR", "3 WR_FLUSH_ERR");
        d.expectState(QueuePairState.ERR);
    }

    @Test
    void badLocalKeyWithNothingBeforeItIsReportedAtOnce() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.send(1, new Sge(d.memory.address(), 4, 0x55)));
        d.expectNothing();
        d.expectCompletions("1 LOC_PROT_ERR");
    }

    /** A READ whose buffer is deregistered before its answer comes. */
    @Test
    void readIntoARegionThatIsDeregisteredFailsLocally() {
        Dialogue d = Dialogue.rts(settings);
        Region region = d.host.region(64);
        d.end.post(Work.read(1, REMOTE, RKEY, Sge.of(region, 0, 64)));
        d.out();
        d.host.port.keys().remove(region);
        d.send(d.response(Opcode.RC_READ_RESPONSE_ONLY, 0).bytes(64));
        d.expectCompletions("1 LOC_PROT_ERR");
        assertThat(d.bytes(region, 0, 64)).containsOnly(0);
    }

    /** 6.A 19: READs need a depth. */
    @Test
    void readWithoutDepthIsALocalOperationError() {
        settings.maxRdAtomic = 0;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(read(d, 1, 4).flags(0));
        d.end.post(send(d, 2, 4));
        d.expectNothing();
        d.expectCompletions("1 LOC_QP_OP_ERR", "2 WR_FLUSH_ERR");
    }

    /** 6.A 24. */
    @Test
    void postingInErrorIsFlushed() {
        Dialogue d = Dialogue.rts(settings);
        d.end.modify(d.now, QueuePairState.ERR, null, new io.verbena.verbs.QueuePairAttributes());
        d.end.post(send(d, 1, 4).flags(0));
        d.end.postReceive(2);
        d.expectNothing();
        d.expectCompletions("1 WR_FLUSH_ERR", "recv 2 WR_FLUSH_ERR");
        for (int i = 0; i < 40; i++) {
            d.end.post(send(d, i, 4));
            d.expectNothing();
            d.expectCompletions(i + " WR_FLUSH_ERR");
        }
    }

    /** After RESET a queue pair works again from its new PSNs, without old work or old completions' slots. */
    @Test
    void resetForgetsEverything() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(read(d, 1, 1000));
        d.end.post(send(d, 2, 300));
        d.end.postReceive(3);
        assertThat(d.out()).hasSize(3);
        d.end.modify(d.now, QueuePairState.RESET, null, new io.verbena.verbs.QueuePairAttributes());
        assertThat(d.qp.window.requestsInFlight() + d.qp.window.readsInFlight()).isZero();
        d.expectCompletions();
        d.end.connect(d.now, Dialogue.HIGH, Dialogue.PEER_LOW, Dialogue.PEER_QP);
        for (int i = 0; i < settings.sendDepth; i++) {
            d.end.post(send(d, 10 + i, 4));
        }
        assertThat(d.out()).hasSize(settings.sendDepth);
        d.send(d.acknowledge(settings.sendDepth - 1));
        assertThat(d.end.completions()).hasSize(settings.sendDepth);
        d.advance(10 * d.ackTimeoutNs());
        d.expectNothing();
    }

    /** Sends wait until RTS; nothing leaves from RTR. */
    @Test
    void nothingIsSentBeforeRts() {
        Dialogue d = Dialogue.rtr(settings);
        d.end.post(send(d, 1, 4));
        d.expectNothing();
        d.end.toRts(d.now);
        d.expect("SEND_ONLY +0 A 4B");
    }
}
