// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import static io.verbena.sim.TwoHosts.expect;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.cm.ConnectionEvent.Disconnected;
import io.verbena.verbs.cm.ConnectionEvent.TimewaitExit;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.wire.ib.Opcode;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Idle connections whose sides want to know whether the other is there, in virtual time. */
class KeepAliveTest {
    private static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults();
    private static final ConnectionParameters WATCHFUL = DEFAULTS.withKeepAlive(Duration.ofSeconds(4));

    private final TwoHosts hosts = new TwoHosts(11);
    private int questions;
    private int answers;

    KeepAliveTest() {
        hosts.world.intercept(frame -> {
            questions += frame.opcode() == Opcode.RC_WRITE_ONLY ? 1 : 0;
            answers += frame.opcode() == Opcode.RC_ACKNOWLEDGE ? 1 : 0;
        });
    }

    @AfterEach
    void nothingIsLeft() {
        hosts.close();
    }

    @Test
    void anIdlePeerIsAskedAndAnswersBeforeAnyMessageAndAfter() throws InterruptedException {
        hosts.connected(WATCHFUL, DEFAULTS);
        hosts.world.run(Duration.ofMinutes(1));
        assertThat(questions).isBetween(10, 15);
        assertThat(answers).isEqualTo(questions);

        hosts.receive();
        hosts.send();
        hosts.expectArrival();
        hosts.world.run(Duration.ofMinutes(1));
        hosts.receive();
        hosts.send();
        hosts.expectArrival();
        assertThat(questions).isBetween(20, 30);
        hosts.expectNothingMore();
        assertThat(hosts.client.queuePair().state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void twoWhoBothAskSeldomAskBoth() throws InterruptedException {
        hosts.connected(WATCHFUL, WATCHFUL);
        hosts.world.run(Duration.ofMinutes(1));
        assertThat(questions).isBetween(10, 30);
        hosts.expectNothingMore();
    }

    @Test
    void aCableThatIsCutEndsAnIdleConnectionOnce() throws InterruptedException {
        hosts.connected(WATCHFUL, DEFAULTS);
        hosts.world.run(Duration.ofSeconds(30));
        hosts.world.partition(hosts.a, hosts.b);
        Duration time = hosts.time(() -> expect(hosts.channelA, Disconnected.class));
        assertThat(time).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(9));
        assertThat(hosts.client.queuePair().state()).isEqualTo(QueuePairState.ERR);
        expect(hosts.channelA, TimewaitExit.class);
        hosts.world.heal();
        hosts.expectNothingMore();
    }

    @Test
    void aFewLostQuestionsEndNothing() throws InterruptedException {
        hosts.connected(WATCHFUL, DEFAULTS);
        hosts.world.partition(hosts.a, hosts.b);
        hosts.world.run(Duration.ofMillis(6_500));
        hosts.world.heal();
        hosts.expectNothingMore();
        hosts.receive();
        hosts.send();
        hosts.expectArrival();
    }

    @Test
    void whoDoesNotWantItAsksNothing() throws InterruptedException {
        hosts.connected(DEFAULTS, DEFAULTS);
        hosts.world.partition(hosts.a, hosts.b);
        hosts.expectNothingMore();
        assertThat(questions).isZero();
        hosts.world.heal();
    }
}
