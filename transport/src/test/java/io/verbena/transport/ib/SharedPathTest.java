// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.memory.Region;
import io.verbena.verbs.WorkCompletion;
import io.verbena.wire.ib.Aeth;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queue pairs that share the room of one path. */
final class SharedPathTest {
    private static TestQueuePair beside(Dialogue d) {
        TestQueuePair other = new TestQueuePair(d.host, new Settings());
        other.connect(d.now, Dialogue.HIGH, Dialogue.PEER_LOW, 0x99);
        return other;
    }

    /** Fills the path with the first queue pair's work; the second has some that must wait. */
    private static TestQueuePair fillPath(Dialogue d) {
        TestQueuePair other = beside(d);
        for (int i = 0; i < 4; i++) {
            d.end.post(Work.send(i, Sge.of(d.memory, 0, 60_000)));
        }
        assertThat(d.out()).isNotEmpty();
        other.post(Work.send(9, Sge.of(d.memory, 0, 60_000)));
        d.expectNothing();
        assertThat(other.qp.waitingForWindow).isTrue();
        return other;
    }

    @Test
    void destroyingAQueuePairGivesItsRoomToOthers() {
        Dialogue d = Dialogue.rts();
        TestQueuePair other = fillPath(d);
        d.host.port.destroyQueuePair(d.qp);
        assertThat(d.out()).isNotEmpty();
        assertThat(other.qp.send.chargedRequests).isEqualTo(other.qp.window.requestsInFlight());
    }

    @Test
    void aReceiverThatIsNotReadyLendsItsRoomToOthers() {
        Dialogue d = Dialogue.rts();
        TestQueuePair other = fillPath(d);
        d.send(d.negative(0, Aeth.RNR_NAK));
        assertThat(d.out()).isNotEmpty();
        assertThat(other.qp.send.chargedRequests).isPositive().isEqualTo(other.qp.window.requestsInFlight());
    }

    @Test
    void resetAndErrorGiveTheRoomBack() {
        Dialogue d = Dialogue.rts();
        TestQueuePair other = fillPath(d);
        d.send(d.negative(0, Aeth.NAK_REMOTE_OPERATIONAL_ERROR));
        assertThat(d.out()).isNotEmpty();
        assertThat(other.qp.send.chargedRequests).isEqualTo(other.qp.window.requestsInFlight());
    }

    /**
     * An acknowledgement, a request of the peer or new work must not cost a queue pair the place that it waited for.
     */
    @Test
    void whoIsBusyWhenItsTurnComesKeepsTheTurn() {
        Dialogue d = Dialogue.rts();
        TestQueuePair other = fillPath(d);
        TestQueuePair third = beside(d);
        third.post(Work.send(9, Sge.of(d.memory, 0, 60_000)));
        d.expectNothing();
        d.send(d.acknowledge(0));
        assertThat(d.out())
                .as("the first one waits no more, and is behind the others then")
                .hasSize(1);
        other.post(Work.send(9, Sge.of(d.memory, 0, 60_000)));
        d.host.port.answerDoorbells(d.now);
        assertThat(other.qp.active).isTrue();
        d.send(d.acknowledge(1));
        assertThat(d.out()).hasSize(1);
        assertThat(other.qp.send.chargedRequests).isPositive();
        assertThat(third.qp.send.chargedRequests).isZero();
    }

    /** Busy queue pairs to one peer get equal shares, with a large path and with a small one. */
    @ParameterizedTest
    @ValueSource(ints = {0, 6})
    void busyQueuePairsShareThePathEqually(int losses) {
        Pair pair = new Pair(11);
        Region source = pair.a.region(64 << 10);
        Region target = pair.b.region(64 << 10);
        int count = 6;
        TestQueuePair[] senders = new TestQueuePair[count];
        for (int i = 0; i < count; i++) {
            senders[i] = pair.connect(new Settings(), new Settings())[0];
        }
        for (int i = 0; i < losses; i++) {
            senders[0].qp.window.onLoss();
        }
        long[] done = new long[count];
        long end = pair.now + 40_000_000;
        while (pair.now < end) {
            for (int i = 0; i < count; i++) {
                while (senders[i].hasRoom()) {
                    senders[i].post(Work.write(i, target.address(), target.rkey(), Sge.of(source, 0, 40_000)));
                }
                for (WorkCompletion one = senders[i].poll(senders[i].sendRing);
                        one != null;
                        one = senders[i].poll(senders[i].sendRing)) {
                    assertThat(one.isSuccess()).isTrue();
                    done[i]++;
                }
            }
            pair.step(pair.now + 10_000);
        }
        long least = Arrays.stream(done).min().orElse(0);
        long most = Arrays.stream(done).max().orElse(0);
        assertThat(least).as("shares %s", Arrays.toString(done)).isGreaterThan(most * 6 / 10);
        assertThat(pair.a.port.counter(Counter.TIMEOUTS)).isZero();
    }

    @Test
    void costIsNeverLessThanTheFrame() {
        for (int payload = 0; payload <= 4096; payload++) {
            assertThat(PathWindow.cost(payload)).isGreaterThan(payload + 100);
            assertThat(PathWindow.cost(payload + 1)).isGreaterThanOrEqualTo(PathWindow.cost(payload));
        }
    }

    @Test
    void limitsShrinkWithLossAndGrowWithProgress() {
        PathWindow window = new PathWindow();
        for (int i = 0; i < 20; i++) {
            window.onLoss();
        }
        window.chargeRequest(1);
        assertThat(window.admitsRequest(19 << 10)).isTrue();
        assertThat(window.admitsRequest(20 << 10)).isFalse();
        window.releaseRequests(1);
        assertThat(window.admitsRequest(1L << 40))
                .as("one always may when nothing is under way")
                .isTrue();
        for (int i = 0; i < 10_000; i++) {
            window.chargeRequest(4096);
            window.releaseRequests(4096);
        }
        window.chargeRequest(1);
        assertThat(window.admitsRequest(PathWindow.REQUEST_LIMIT_MAX - 1)).isTrue();
        assertThat(window.admitsRequest(PathWindow.REQUEST_LIMIT_MAX)).isFalse();
    }
}
