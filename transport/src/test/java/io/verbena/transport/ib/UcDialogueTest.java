// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.memory.Region;
import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.wire.ib.Opcode;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An unreliable connection: what is lost is lost, what is wrong is dropped, and nobody is answered. */
final class UcDialogueTest {
    private final Settings settings = new Settings();
    private Dialogue d;

    UcDialogueTest() {
        settings.type = QueuePairType.UC;
        settings.mtu = Mtu.MTU_256;
    }

    private void open() {
        d = Dialogue.rts(settings);
        for (int i = 0; i < 3; i++) {
            d.end.postReceive(100 + i, Sge.of(d.memory, 32768 + i * 4096L, 1024));
        }
    }

    @AfterEach
    void nothingIsAnsweredOrWrittenOutside() {
        d.expectNothing();
        d.host.checkGuards();
    }

    private void only(int psn, int bytes) {
        d.send(d.request(Opcode.UC_SEND_ONLY, psn).bytes(bytes));
    }

    /** The queue pair goes on as if nothing had happened: the next message takes the oldest receive. */
    private void expectDroppedAndNextTaken(int nextPsn) {
        d.expectNothing();
        d.expectCompletions();
        d.expectState(QueuePairState.RTS);
        only(nextPsn, 17);
        d.expectCompletions("recv 100 SUCCESS RECV 17");
        assertThat(d.bytes(d.memory, 32768, 17)).isEqualTo(Packet.pattern(17));
    }

    @ParameterizedTest
    @ValueSource(ints = {0x2000, 0xfffffe, 0xffffff, 0})
    void placesASendOfThreePacketsAndAnswersNothing(int psn) {
        settings.rqPsn = psn;
        open();
        byte[] message = Packet.pattern(600);
        d.send(d.request(Opcode.UC_SEND_FIRST, 0).payload(Arrays.copyOfRange(message, 0, 256)));
        d.send(d.request(Opcode.UC_SEND_MIDDLE, 1).payload(Arrays.copyOfRange(message, 256, 512)));
        d.send(d.request(Opcode.UC_SEND_LAST_IMM, 2)
                .payload(Arrays.copyOfRange(message, 512, 600))
                .immediate(0xabcd)
                .ack());
        d.expectNothing();
        d.expectCompletions("recv 100 SUCCESS RECV 600 imm abcd");
        assertThat(d.bytes(d.memory, 32768, 600)).isEqualTo(message);
        assertThat(d.end.any.expectedPsn()).isEqualTo((psn + 3) & 0xffffff);
    }

    @Test
    void placesAWriteOfThreePacketsAndReportsItsImmediate() {
        open();
        byte[] message = Packet.pattern(520);
        d.memory.segment().asSlice(0, 1024).fill((byte) 0);
        d.send(d.request(Opcode.UC_WRITE_FIRST, 0)
                .reth(d.memory.address() + 8, d.memory.rkey(), 520)
                .payload(Arrays.copyOfRange(message, 0, 256)));
        d.send(d.request(Opcode.UC_WRITE_MIDDLE, 1).payload(Arrays.copyOfRange(message, 256, 512)));
        d.expectCompletions();
        d.send(d.request(Opcode.UC_WRITE_LAST_IMM, 2)
                .payload(Arrays.copyOfRange(message, 512, 520))
                .immediate(7));
        d.expectCompletions("recv 100 SUCCESS RECV_RDMA_WITH_IMM 520 imm 7");
        assertThat(d.bytes(d.memory, 8, 520)).isEqualTo(message);
        assertThat(d.bytes(d.memory, 528, 64)).containsOnly(0);
    }

    /** UC-1: a lost packet loses its message and no other. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void oneLostPacketLosesItsMessageOnly(int lost) {
        open();
        Opcode[] packets = {Opcode.UC_SEND_FIRST, Opcode.UC_SEND_MIDDLE, Opcode.UC_SEND_LAST};
        for (int psn = 0; psn < packets.length; psn++) {
            if (psn != lost) {
                d.send(d.request(packets[psn], psn).bytes(256));
            }
        }
        expectDroppedAndNextTaken(3);
        assertThat(d.dropped(Counter.DROP_INCOMPLETE_MESSAGE)).isPositive();
    }

    /** The end of one message and the beginning of the next are lost: the two halves are not one message. */
    @ParameterizedTest
    @ValueSource(strings = {"UC_SEND_", "UC_WRITE_"})
    void halvesOfTwoMessagesAreNotJoined(String operation) {
        open();
        byte[] before = d.bytes(d.memory, 256, 256);
        d.send(d.request(Opcode.valueOf(operation + "FIRST"), 0)
                .reth(d.memory.address(), d.memory.rkey(), 356)
                .bytes(256));
        d.send(d.request(Opcode.valueOf(operation + "LAST"), 3).payload(new byte[100]));
        assertThat(d.bytes(d.memory, 256, 256)).isEqualTo(before);
        expectDroppedAndNextTaken(4);
    }

    /** 6.B 29: on UC the message is dropped, and one that begins inside another is taken. */
    @Test
    void aMessageThatBeginsInAnotherTakesItsPlace() {
        open();
        d.send(d.request(Opcode.UC_SEND_FIRST, 0).bytes(256));
        only(1, 9);
        d.expectCompletions("recv 100 SUCCESS RECV 9");
        d.send(d.request(Opcode.UC_SEND_MIDDLE, 2).bytes(256));
        d.send(d.request(Opcode.UC_SEND_LAST, 3).bytes(1));
        d.expectCompletions();
        assertThat(d.dropped(Counter.DROP_INCOMPLETE_MESSAGE)).isEqualTo(3);
    }

    /** 6.B 25: on UC a repetition has no effect and no answer. */
    @ParameterizedTest
    @ValueSource(ints = {0x2000, 0xfffffe})
    void repetitionsAreDropped(int psn) {
        settings.rqPsn = psn;
        open();
        only(0, 10);
        only(0, 10);
        d.send(d.request(Opcode.UC_SEND_FIRST, 1).bytes(256));
        d.send(d.request(Opcode.UC_SEND_FIRST, 1).bytes(256));
        only(0, 10);
        d.send(d.request(Opcode.UC_SEND_LAST, 2).bytes(3));
        d.send(d.request(Opcode.UC_SEND_LAST, 2).bytes(3));
        d.expectCompletions("recv 100 SUCCESS RECV 10", "recv 101 SUCCESS RECV 259");
        assertThat(d.dropped(Counter.DUPLICATE_REQUESTS)).isEqualTo(4);
    }

    /** 6.B 30: on UC the message is dropped. */
    @ParameterizedTest
    @CsvSource({
        "UC_SEND_ONLY, 257",
        "UC_SEND_ONLY_IMM, 257",
        "UC_SEND_FIRST, 255",
        "UC_SEND_FIRST, 257",
        "UC_SEND_FIRST, 0",
        "UC_WRITE_ONLY, 257",
        "UC_WRITE_FIRST, 252",
        "UC_WRITE_ONLY_IMM, 257"
    })
    void firstPacketOfWrongLengthIsDropped(Opcode opcode, int payload) {
        open();
        byte[] before = d.bytes(d.memory, 0, 4096);
        d.send(d.request(opcode, 0)
                .reth(d.memory.address(), d.memory.rkey(), Math.max(payload, 300))
                .bytes(payload));
        assertThat(d.bytes(d.memory, 0, 4096)).isEqualTo(before);
        expectDroppedAndNextTaken(1);
    }

    /** 6.B 30. */
    @ParameterizedTest
    @CsvSource({"MIDDLE, 255", "MIDDLE, 0", "MIDDLE, 260", "LAST, 0", "LAST, 257"})
    void laterPacketOfWrongLengthDropsTheMessage(String position, int payload) {
        for (String operation : List.of("UC_SEND_", "UC_WRITE_")) {
            open();
            d.send(d.request(Opcode.valueOf(operation + "FIRST"), 0)
                    .reth(d.memory.address(), d.memory.rkey(), 900)
                    .bytes(256));
            d.send(d.request(Opcode.valueOf(operation + position), 1).bytes(payload));
            d.send(d.request(Opcode.valueOf(operation + "LAST"), 2).bytes(4));
            expectDroppedAndNextTaken(3);
        }
    }

    /** 6.B 30: no byte past the length that the RETH names is written. */
    @ParameterizedTest
    @CsvSource({"UC_WRITE_LAST, 300, 45", "UC_WRITE_LAST, 300, 43", "UC_WRITE_MIDDLE, 512, 256"})
    void writeThatDoesNotAddUpIsDropped(Opcode second, int length, int payload) {
        open();
        d.memory.segment().asSlice(0, 1024).fill((byte) 1);
        d.send(d.request(Opcode.UC_WRITE_FIRST, 0)
                .reth(d.memory.address(), d.memory.rkey(), length)
                .bytes(256));
        d.send(d.request(second, 1).bytes(payload));
        assertThat(d.bytes(d.memory, 256, 600)).containsOnly(1);
        expectDroppedAndNextTaken(2);
    }

    /** 6.B 33: what may not be written is not, and nothing else happens. */
    @ParameterizedTest
    @ValueSource(strings = {"not enabled", "no right", "no such key", "past the end", "other domain"})
    void writesWithoutTheRightAreDropped(String why) {
        if (why.equals("not enabled")) {
            settings.accessFlags = AccessFlag.LOCAL_WRITE.code();
        }
        open();
        Region target = switch (why) {
            case "no right" -> d.host.register(d.host.allocate(64), AccessFlag.LOCAL_WRITE.code(), TestHost.DOMAIN);
            case "other domain" -> d.host.register(d.host.allocate(64), TestHost.ALL, TestHost.DOMAIN + 1);
            default -> d.host.region(64);
        };
        int key = why.equals("no such key") ? target.rkey() ^ 1 : target.rkey();
        long offset = why.equals("past the end") ? 60 : 0;
        d.send(d.request(Opcode.UC_WRITE_ONLY_IMM, 0)
                .reth(target.address() + offset, key, 8)
                .bytes(8)
                .immediate(1));
        assertThat(d.bytes(target, 0, 64)).containsOnly(0);
        assertThat(d.host.events).isEmpty();
        expectDroppedAndNextTaken(1);
    }

    @Test
    void withoutAReceiveTheMessageIsDroppedAndTheNextIsTaken() {
        d = Dialogue.rts(settings);
        d.send(d.request(Opcode.UC_SEND_FIRST, 0).bytes(256));
        d.end.postReceive(100, Sge.of(d.memory, 32768, 1024));
        d.send(d.request(Opcode.UC_SEND_LAST, 1).bytes(1));
        expectDroppedAndNextTaken(2);
        assertThat(d.dropped(Counter.DROP_NO_RECEIVE)).isEqualTo(1);
        d.send(d.request(Opcode.UC_WRITE_ONLY_IMM, 3).immediate(1));
        d.expectCompletions();
        assertThat(d.dropped(Counter.DROP_NO_RECEIVE)).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 200})
    void aMessageLongerThanItsReceiveIsDroppedAndTheReceiveServesTheNext(int tooLong) {
        d = Dialogue.rts(settings);
        d.end.postReceive(100, Sge.of(d.memory, 32768, 256));
        d.send(d.request(Opcode.UC_SEND_FIRST, 0).bytes(256));
        d.send(d.request(Opcode.UC_SEND_LAST, 1).bytes(tooLong));
        expectDroppedAndNextTaken(2);
    }

    /** The receiver's own mistake: class E. */
    @Test
    void aReceiveThatMayNotBeWrittenIsAnErrorOfThisSide() {
        d = Dialogue.rts(settings);
        Region readable = d.host.register(d.host.allocate(64), 0, TestHost.DOMAIN);
        d.end.postReceive(1, Sge.of(readable, 0, 64));
        d.end.postReceive(2, Sge.of(d.memory, 0, 64));
        only(0, 8);
        d.expectCompletions("recv 1 LOC_PROT_ERR", "recv 2 WR_FLUSH_ERR");
        d.expectState(QueuePairState.ERR);
    }

    /** Class E: a queue pair that kept the receive of a lost message would keep it from all others. */
    @Test
    void aSharedReceiveOfALostMessageComesBackWithAnError() {
        TestHost host = new TestHost(Dialogue.HIGH, 1, 42);
        WorkQueue queue = new WorkQueue(8, ReceiveSlot.bytes(2));
        settings.shared = host.port.createSharedReceives(TestHost.DOMAIN, queue, 0, null);
        d = Dialogue.rts(host, settings);
        for (int i = 0; i < 3; i++) {
            TestQueuePair.postReceive(queue, 100 + i, Sge.of(d.memory, i * 1024L, 1024));
        }
        d.send(d.request(Opcode.UC_SEND_FIRST, 0).bytes(256));
        only(2, 5);
        d.expectCompletions("recv 100 REM_INV_REQ_ERR", "recv 101 SUCCESS RECV 5");
        d.expectState(QueuePairState.RTS);
    }

    @ParameterizedTest
    @EnumSource(names = {"RC_SEND_ONLY", "RC_READ_REQUEST", "RC_ACKNOWLEDGE", "UD_SEND_ONLY", "XRC_SEND_ONLY"})
    void packetsOfOtherServicesAreDropped(Opcode opcode) {
        open();
        d.send(d.request(opcode, 0));
        assertThat(d.dropped(Counter.DROP_WRONG_SERVICE)).isEqualTo(1);
        expectDroppedAndNextTaken(0);
    }

    @Test
    void theFirstPacketInRtrIsAnEvent() {
        d = Dialogue.rtr(settings);
        d.end.postReceive(1, Sge.of(d.memory, 0, 64));
        only(0, 3);
        only(1, 3);
        assertThat(d.host.events).containsExactly("COMM_EST");
        d.expectCompletions("recv 1 SUCCESS RECV 3");
    }

    @ParameterizedTest
    @ValueSource(ints = {0x1000, 0xfffffe})
    void sendsMessagesPacketByPacketAndCompletesThemWhenTheyAreOut(int psn) {
        settings.sqPsn = psn;
        open();
        d.end.post(Work.send(1, Sge.of(d.memory, 0, 100), Sge.of(d.memory, 1000, 500))
                .flags(SendFlags.SIGNALED | SendFlags.SOLICITED));
        d.end.post(Work.write(2, 0x5000, 7, Sge.of(d.memory, 0, 256)).flags(SendFlags.SIGNALED | SendFlags.SOLICITED));
        d.end.post(Work.write(3, 0x5000, 7, Sge.of(d.memory, 0, 257))
                .as(SendOpcode.RDMA_WRITE_WITH_IMM)
                .immediate(0x77));
        d.end.post(Work.send(4).as(SendOpcode.SEND_WITH_IMM).immediate(5).flags(0));
        List<Packet> out = d.out();
        assertThat(out.stream().map(d::describe))
                .containsExactly(
                        "SEND_FIRST +0 256B",
                        "SEND_MIDDLE +1 256B",
                        "SEND_LAST +2 SE 88B",
                        "WRITE_ONLY +3 len 256 256B",
                        "WRITE_FIRST +4 len 257 256B",
                        "WRITE_LAST_IMM +5 imm 77 1B",
                        "SEND_ONLY_IMM +6 imm 5 0B");
        assertThat(out).allMatch(packet -> packet.destinationQp == Dialogue.PEER_QP);
        assertThat(out.get(4).address).isEqualTo(0x5000);
        assertThat(out.get(4).rkey).isEqualTo(7);
        byte[] all = new byte[600];
        System.arraycopy(out.get(0).payload, 0, all, 0, 256);
        System.arraycopy(out.get(1).payload, 0, all, 256, 256);
        System.arraycopy(out.get(2).payload, 0, all, 512, 88);
        assertThat(Arrays.copyOf(all, 100)).isEqualTo(d.bytes(d.memory, 0, 100));
        assertThat(Arrays.copyOfRange(all, 100, 600)).isEqualTo(d.bytes(d.memory, 1000, 500));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
        assertThat(d.end.any.nextPsn()).isEqualTo((psn + 7) & 0xffffff);
        assertThat(d.host.port.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aLocalErrorStopsTheSendQueueAndNotTheReceives() {
        open();
        Sge bad = new Sge(d.memory.address(), 8, d.memory.lkey() ^ 1);
        d.end.post(Work.send(1, Sge.of(d.memory, 0, 8)).flags(0));
        d.end.post(Work.send(2, bad).flags(0));
        d.end.post(Work.send(3, Sge.of(d.memory, 0, 8)).flags(0));
        d.expect("SEND_ONLY +0 8B");
        d.expectState(QueuePairState.SQE);
        d.expectCompletions("2 LOC_PROT_ERR", "3 WR_FLUSH_ERR");
        only(0, 4);
        d.expectCompletions("recv 100 SUCCESS RECV 4");
        d.end.post(Work.send(4, Sge.of(d.memory, 0, 8)).flags(0));
        d.expectNothing();
        d.expectCompletions("4 WR_FLUSH_ERR");
        d.end.modify(d.now, QueuePairState.RTS, null, new QueuePairAttributes());
        d.end.post(Work.send(5, Sge.of(d.memory, 0, 8)));
        d.expect("SEND_ONLY +1 8B");
        d.expectCompletions("5 SUCCESS");
    }

    /** 6.A 19. */
    @ParameterizedTest
    @EnumSource(names = {"RDMA_READ", "ATOMIC_FETCH_AND_ADD", "SEND_WITH_INV"})
    void whatTheServiceCannotDoIsAnErrorOfTheRequest(SendOpcode opcode) {
        open();
        d.end.post(Work.send(1, Sge.of(d.memory, 0, 8)).as(opcode));
        d.expectNothing();
        d.expectCompletions("1 LOC_QP_OP_ERR");
        d.expectState(QueuePairState.SQE);
    }

    @Test
    void memoryThatGoesInTheMiddleOfAMessageEndsIt() {
        open();
        Region source = d.host.region(1024);
        d.end.post(Work.send(1, Sge.of(source, 0, 600)));
        d.end.post(Work.send(2, Sge.of(d.memory, 0, 8)));
        d.host.port.answerDoorbells(d.now);
        d.frame().wrap(d.buffer(), 0, 4096);
        assertThat(d.host.port.pollFrame(d.now, d.frame())).isTrue();
        d.host.port.keys().remove(source);
        d.expectNothing();
        d.expectCompletions("1 LOC_PROT_ERR", "2 WR_FLUSH_ERR");
        d.expectState(QueuePairState.SQE);
    }

    @Test
    void aDrainingQueueFinishesWhatItBeganAndBeginsNothing() {
        open();
        d.end.post(Work.send(1, Sge.of(d.memory, 0, 600)));
        d.end.post(Work.send(2, Sge.of(d.memory, 0, 8)));
        d.host.port.answerDoorbells(d.now);
        d.frame().wrap(d.buffer(), 0, 4096);
        assertThat(d.host.port.pollFrame(d.now, d.frame())).isTrue();
        d.end.modify(d.now, QueuePairState.SQD, null, new QueuePairAttributes());
        assertThat(d.host.events).isEmpty();
        d.expect("SEND_MIDDLE +1 256B", "SEND_LAST +2 88B");
        assertThat(d.host.events).containsExactly("SQ_DRAINED");
        d.expectCompletions("1 SUCCESS");
        only(0, 4);
        d.expectCompletions("recv 100 SUCCESS RECV 4");
        d.end.modify(d.now, QueuePairState.RTS, null, new QueuePairAttributes());
        d.expect("SEND_ONLY +3 8B");
        d.end.modify(d.now, QueuePairState.SQD, null, new QueuePairAttributes());
        d.end.modify(d.now, QueuePairState.SQD, null, new QueuePairAttributes());
        assertThat(d.host.events).as("one event a drain").containsExactly("SQ_DRAINED", "SQ_DRAINED");
    }

    @Test
    void errorFlushesAndResetForgets() {
        open();
        d.send(d.request(Opcode.UC_SEND_FIRST, 0).bytes(256));
        d.end.post(Work.send(1, Sge.of(d.memory, 0, 8)).flags(0));
        d.end.modify(d.now, QueuePairState.ERR, null, new QueuePairAttributes());
        d.expectNothing();
        d.expectCompletions(
                "1 WR_FLUSH_ERR", "recv 100 WR_FLUSH_ERR", "recv 101 WR_FLUSH_ERR", "recv 102 WR_FLUSH_ERR");
        d.send(d.request(Opcode.UC_SEND_LAST, 1).bytes(1));
        assertThat(d.dropped(Counter.DROP_WRONG_STATE)).isEqualTo(1);
        d.end.modify(d.now, QueuePairState.RESET, null, new QueuePairAttributes());
        d.end.connect(d.now, Dialogue.HIGH, Dialogue.PEER_LOW, Dialogue.PEER_QP);
        d.send(d.request(Opcode.UC_SEND_LAST, 0).bytes(1));
        d.end.postReceive(5, Sge.of(d.memory, 0, 8));
        only(1, 3);
        d.expectCompletions("recv 5 SUCCESS RECV 3");
    }
}
