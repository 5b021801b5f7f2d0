// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairState;
import io.verbena.wire.ib.Aeth;
import io.verbena.wire.ib.Opcode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Timers and retry counters of the requester. Item numbers are those of the list of known faults. */
final class RetryTest {
    private static final long REMOTE = 0x5000_0000L;
    private static final int RKEY = 0x1234_5678;
    private static final long[] RNR_MICROSECONDS = {
        655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1_280, 1_920, 2_560, 3_840, 5_120, 7_680,
        10_240, 15_360, 20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760, 327_680, 491_520
    };
    private final Settings settings = new Settings();

    RetryTest() {
        settings.mtu = Mtu.MTU_256;
    }

    private static Work send(Dialogue d, long wrId, int length) {
        return Work.send(wrId, Sge.of(d.memory, 0, length));
    }

    private static Work read(Dialogue d, long wrId, int length) {
        return Work.read(wrId, REMOTE, RKEY, Sge.of(d.memory, 8192, length));
    }

    /** 2.B: 4.096 us * 2^timeout, from the first packet; the repetition is of the same bytes. */
    @ParameterizedTest
    @ValueSource(ints = {1, 8, 14, 20, 31})
    void repeatsAfterTheAckTimeout(int timeout) {
        settings.timeout = timeout;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 300));
        List<Packet> first = d.out();
        d.advance(d.ackTimeoutNs() - 1);
        d.expectNothing();
        d.advance(1);
        List<Packet> again = d.out();
        assertThat(again).hasSize(2);
        assertThat(again.get(0).payload).isEqualTo(first.get(0).payload);
        assertThat(again.get(1).payload).isEqualTo(first.get(1).payload);
        d.send(d.acknowledge(1));
        d.expectCompletions("1 SUCCESS");
        assertThat(d.dropped(Counter.RETRANSMITTED_PACKETS)).isEqualTo(2);
    }

    @Test
    void timeoutZeroIsNever() {
        settings.timeout = 0;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 4));
        d.out();
        assertThat(d.host.port.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    }

    /** 6.A 8: n retries are n + 1 timeouts; 7 is seven here, as IBTA says. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 7})
    void failsAfterItsRetriesAndFlushes(int retries) {
        settings.retryCount = retries;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 4).flags(0));
        d.end.post(read(d, 2, 4));
        d.end.postReceive(3);
        for (int i = 0; i <= retries; i++) {
            assertThat(d.out()).as("try %s", i).hasSize(2);
            d.expectCompletions();
            d.advance(d.ackTimeoutNs());
        }
        d.expectNothing();
        d.expectCompletions("1 RETRY_EXC_ERR", "2 WR_FLUSH_ERR", "recv 3 WR_FLUSH_ERR");
        d.expectState(QueuePairState.ERR);
        assertThat(d.host.port.nextDeadline()).isGreaterThanOrEqualTo(d.now);
        assertThat(d.qp.window.requestsInFlight() + d.qp.window.readsInFlight()).isZero();
    }

    /** 6.A 9: the counter is per outage. */
    @Test
    void progressResetsTheRetryCounter() {
        settings.retryCount = 2;
        Dialogue d = Dialogue.rts(settings);
        for (int i = 0; i < 10; i++) {
            d.end.post(send(d, i, 4));
            assertThat(d.out()).hasSize(1);
            d.advance(d.ackTimeoutNs());
            assertThat(d.out()).hasSize(1);
            d.advance(d.ackTimeoutNs());
            assertThat(d.out()).hasSize(1);
            d.send(d.acknowledge(i));
            d.expectCompletions(i + " SUCCESS");
        }
    }

    /** 6.A 9: packets of one message are progress too. */
    @Test
    void answersInsideAMessageAreProgress() {
        settings.retryCount = 1;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(read(d, 1, 2048));
        d.out();
        for (int i = 0; i < 7; i++) {
            d.advance(d.ackTimeoutNs());
            d.expect("READ_REQUEST +" + i + " A len " + (2048 - 256 * i));
            d.send(d.response(Opcode.RC_READ_RESPONSE_FIRST, i).bytes(256));
        }
        d.send(d.response(Opcode.RC_READ_RESPONSE_LAST, 7).bytes(256));
        d.expectCompletions("1 SUCCESS");
    }

    /** 2.B: goes back to the PSN of the NAK, with the opcode of that place. */
    @ParameterizedTest
    @ValueSource(ints = {0x1000, 0xfffffe, 0xffffff})
    void sequenceNakResumesInTheMiddle(int psn) {
        settings.sqPsn = psn;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.write(1, REMOTE, RKEY, Sge.of(d.memory, 0, 1000)));
        d.end.post(send(d, 2, 4));
        assertThat(d.out()).hasSize(5);
        d.send(d.negative(2, Aeth.NAK_PSN_SEQUENCE_ERROR));
        d.expect("WRITE_MIDDLE +2 256B", "WRITE_LAST +3 A 232B", "SEND_ONLY +4 A 4B");
        d.send(d.negative(3, Aeth.NAK_PSN_SEQUENCE_ERROR));
        d.expect("WRITE_LAST +3 A 232B", "SEND_ONLY +4 A 4B");
        d.send(d.acknowledge(4));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS");
        assertThat(d.qp.window.requestsInFlight()).isZero();
    }

    /** 6.A 13: a message of several entries is gathered again from any packet, whole and unchanged. */
    @Test
    void aRepetitionHasTheSameBytes() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(Work.write(
                1, REMOTE, RKEY, Sge.of(d.memory, 0, 100), Sge.of(d.memory, 5000, 500), Sge.of(d.memory, 9001, 300)));
        d.host.port.answerDoorbells(d.now);
        d.frame().wrap(d.buffer(), 0, 4096);
        // The link has room for one packet, then again for the rest.
        assertThat(d.host.port.pollFrame(d.now, d.frame())).isTrue();
        Packet first = Packet.read(d.frame());
        List<Packet> sent = new ArrayList<>(List.of(first));
        sent.addAll(d.out());
        assertThat(sent).hasSize(4);
        for (int from : new int[] {0, 1, 3}) {
            d.send(d.negative(from, Aeth.NAK_PSN_SEQUENCE_ERROR));
            List<Packet> again = d.out();
            assertThat(again)
                    .extracting(packet -> packet.payload)
                    .containsExactlyElementsOf(sent.subList(from, 4).stream()
                            .map(packet -> packet.payload)
                            .toList());
        }
        d.send(d.acknowledge(3));
        d.expectCompletions("1 SUCCESS");
    }

    /** Sequence NAKs without progress use up retries as timeouts do. */
    @Test
    void sequenceNaksWithoutProgressEnd() {
        settings.retryCount = 2;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 4));
        for (int i = 0; i < 3; i++) {
            assertThat(d.out()).hasSize(1);
            d.send(d.negative(0, Aeth.NAK_PSN_SEQUENCE_ERROR));
        }
        d.expectCompletions("1 RETRY_EXC_ERR");
    }

    /** 6.A 3: one retry at once, then the timer. */
    @Test
    void gapInAReadIsRetriedAtOnceOnlyOnce() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(read(d, 1, 1000));
        d.out();
        d.send(d.response(Opcode.RC_READ_RESPONSE_FIRST, 0).bytes(256));
        d.send(d.response(Opcode.RC_READ_RESPONSE_MIDDLE, 2).bytes(256));
        d.expect("READ_REQUEST +1 A len 744");
        d.send(d.response(Opcode.RC_READ_RESPONSE_LAST, 3).bytes(232));
        d.send(d.response(Opcode.RC_READ_RESPONSE_MIDDLE, 2).bytes(256));
        d.expectNothing();
        d.advance(d.ackTimeoutNs());
        d.expect("READ_REQUEST +1 A len 744");
        for (int i = 1; i < 3; i++) {
            d.send(d.response(Opcode.RC_READ_RESPONSE_MIDDLE, i).bytes(256));
        }
        d.send(d.response(Opcode.RC_READ_RESPONSE_LAST, 3).bytes(232));
        d.expectCompletions("1 SUCCESS");
        assertThat(d.bytes(d.memory, 8192, 256)).isEqualTo(Packet.pattern(256));
    }

    /** 6.A 4 and 6: exactly the time asked for, whatever the ACK timer says. */
    @Test
    void waitsExactlyAsLongAsTheReceiverAsks() {
        settings.timeout = 1;
        for (int code = 0; code < 32; code++) {
            Dialogue d = Dialogue.rts(settings);
            d.end.post(send(d, 1, 300));
            d.end.post(send(d, 2, 4));
            assertThat(d.out()).hasSize(3);
            d.send(d.negative(0, Aeth.RNR_NAK | code));
            d.expectNothing();
            d.advance(d.ackTimeoutNs());
            if (RNR_MICROSECONDS[code] * 1000 > d.ackTimeoutNs()) {
                d.expectNothing();
            }
            d.advance(RNR_MICROSECONDS[code] * 1000 - d.ackTimeoutNs() - 1);
            d.expectNothing();
            d.advance(1);
            d.expect("SEND_FIRST +0 256B", "SEND_LAST +1 A 44B", "SEND_ONLY +2 A 4B");
            assertThat(d.dropped(Counter.TIMEOUTS)).isZero();
        }
    }

    /** 6.A 5. */
    @Test
    void sequenceNakAfterAnRnrNakDoesNotEndTheWait() {
        settings.rnrRetry = 1;
        settings.retryCount = 0;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 300));
        d.out();
        d.send(d.negative(0, Aeth.RNR_NAK | 12));
        d.send(d.negative(0, Aeth.NAK_PSN_SEQUENCE_ERROR));
        d.send(d.negative(0, Aeth.RNR_NAK | 12));
        d.advance(639_999);
        d.expectNothing();
        d.advance(1);
        assertThat(d.out()).hasSize(2);
        d.send(d.acknowledge(1));
        d.expectCompletions("1 SUCCESS");
    }

    /** 6.A 7 and 9: packets lost between "not ready" answers do not add up to a dead peer. */
    @Test
    void anRnrNakIsASignOfLife() {
        settings.retryCount = 1;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 4));
        for (int i = 0; i < 20; i++) {
            assertThat(d.out()).hasSize(1);
            d.advance(d.ackTimeoutNs());
            assertThat(d.out()).hasSize(1);
            d.send(d.negative(0, Aeth.RNR_NAK | 1));
            d.advance(10_000);
        }
        d.expectCompletions();
        d.expectState(QueuePairState.RTS);
    }

    /** 6.A 7. */
    @Test
    void rnrRetrySevenIsEndless() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 4));
        for (int i = 0; i < 1000; i++) {
            assertThat(d.out()).hasSize(1);
            d.send(d.negative(0, Aeth.RNR_NAK | 1));
            d.advance(10_000);
        }
        d.expectCompletions();
        d.out();
        d.send(d.acknowledge(0));
        d.expectCompletions("1 SUCCESS");
    }

    /** 6.A 7: two retries, the third NAK ends it. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2, 6})
    void rnrRetriesEnd(int retries) {
        settings.rnrRetry = retries;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 4).flags(0));
        d.end.post(send(d, 2, 4));
        for (int i = 0; i <= retries; i++) {
            assertThat(d.out()).hasSize(2);
            d.expectCompletions();
            d.send(d.negative(0, Aeth.RNR_NAK | 1));
            d.advance(10_000);
        }
        d.expectCompletions("1 RNR_RETRY_EXC_ERR", "2 WR_FLUSH_ERR");
        d.expectState(QueuePairState.ERR);
    }

    @Test
    void progressResetsTheRnrCounter() {
        settings.rnrRetry = 1;
        Dialogue d = Dialogue.rts(settings);
        for (int i = 0; i < 5; i++) {
            d.end.post(send(d, i, 4));
            d.out();
            d.send(d.negative(i, Aeth.RNR_NAK | 1));
            d.advance(10_000);
            assertThat(d.out()).hasSize(1);
            d.send(d.acknowledge(i));
            d.expectCompletions(i + " SUCCESS");
        }
    }

    /** An answer of the first flight that comes after the timeout counts, and what it covers is not sent again. */
    @Test
    void lateAnswerMovesTheCursor() {
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 700));
        d.end.post(read(d, 2, 300));
        d.out();
        d.advance(d.ackTimeoutNs());
        d.send(d.acknowledge(1));
        d.expect("SEND_LAST +2 A 188B", "READ_REQUEST +3 A len 300");
        d.advance(d.ackTimeoutNs());
        d.send(d.acknowledge(2));
        d.send(d.response(Opcode.RC_READ_RESPONSE_FIRST, 3).bytes(256));
        d.expect("READ_REQUEST +4 A len 44");
        d.send(d.response(Opcode.RC_READ_RESPONSE_LAST, 4).bytes(44));
        d.expectCompletions("1 SUCCESS", "2 SUCCESS");
        assertThat(d.qp.window.requestsInFlight() + d.qp.window.readsInFlight()).isZero();
        d.advance(100 * d.ackTimeoutNs());
        d.expectNothing();
    }

    /** A message that is not sent yet because the path is full does not use up retries. */
    @Test
    void waitingForRoomOnThePathIsNotATimeout() {
        settings.timeout = 8;
        Dialogue d = Dialogue.rts(settings);
        d.end.post(send(d, 1, 4));
        d.out();
        d.send(d.negative(0, Aeth.NAK_PSN_SEQUENCE_ERROR));
        d.qp.window.chargeRequest(PathWindow.REQUEST_LIMIT_MAX);
        for (int i = 0; i < 20; i++) {
            d.expectNothing();
            d.advance(d.ackTimeoutNs());
        }
        d.expectCompletions();
        assertThat(d.dropped(Counter.TIMEOUTS)).isZero();
        d.qp.window.releaseRequests(PathWindow.REQUEST_LIMIT_MAX);
        d.host.port.activate(d.qp);
        d.expect("SEND_ONLY +0 A 4B");
    }

    /** An ICMP report ends what is under way at once, and nothing else. */
    @Test
    void unreachablePeerFailsOutstandingWork() {
        Dialogue d = Dialogue.rts(settings);
        d.host.port.onUnreachable(Dialogue.HIGH, Dialogue.PEER_LOW);
        d.expectState(QueuePairState.RTS);
        d.end.post(send(d, 1, 4));
        d.out();
        d.host.port.onUnreachable(Dialogue.HIGH, 99);
        d.expectState(QueuePairState.RTS);
        d.host.port.onUnreachable(Dialogue.HIGH, Dialogue.PEER_LOW);
        d.expectCompletions("1 RETRY_EXC_ERR");
        d.expectState(QueuePairState.ERR);
    }
}
