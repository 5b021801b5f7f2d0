// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import static io.verbena.sim.TwoHosts.expect;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.verbs.cm.ConnectionEvent.Disconnected;
import io.verbena.verbs.cm.ConnectionEvent.TimewaitExit;
import io.verbena.verbs.cm.ConnectionParameters;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the numbers that a connection is made with do to it, in virtual time. */
class ConnectionParametersTest {
    private static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults();

    private final TwoHosts hosts = new TwoHosts(9);

    @AfterEach
    void nothingIsLeft() {
        hosts.close();
    }

    /** The server asks for waits of 10.24 ms; a retry count of 7 has no end. */
    @ParameterizedTest
    @CsvSource({"0, 1, false", "0, 1000, false", "3, 1, true", "3, 1000, false", "7, 1, true", "7, 1000, true"})
    void aReceiveMayBeLateByAsMuchAsTheRetriesTake(int rnrRetries, long lateMs, boolean arrives)
            throws InterruptedException {
        hosts.connected(DEFAULTS, DEFAULTS.withRetries(7, rnrRetries).withMinRnrTimer(20));
        hosts.send();
        hosts.world.run(Duration.ofMillis(lateMs));
        if (arrives) {
            hosts.receive();
            hosts.expectArrival();
            hosts.expectNothingMore();
        } else {
            assertThat(hosts.completion(hosts.cqA).status()).isEqualTo(WorkCompletionStatus.RNR_RETRY_EXC_ERR);
            assertThat(hosts.client.queuePair().state()).isEqualTo(QueuePairState.ERR);
            expect(hosts.channelA, Disconnected.class);
            expect(hosts.channelB, Disconnected.class);
            expect(hosts.channelA, TimewaitExit.class);
            expect(hosts.channelB, TimewaitExit.class);
            hosts.expectNothingMore();
        }
    }

    /** What ends a wait without end. */
    enum End {
        CLIENT_DISCONNECTS {
            @Override
            void end(TwoHosts hosts) {
                hosts.client.disconnect();
            }
        },
        SERVER_DISCONNECTS {
            @Override
            void end(TwoHosts hosts) {
                hosts.server.disconnect();
            }
        },
        SERVER_CLOSES {
            @Override
            void end(TwoHosts hosts) {
                hosts.server.close();
            }
        },
        QUEUE_PAIR_TO_ERROR {
            @Override
            void end(TwoHosts hosts) {
                hosts.client.queuePair().modify(new QueuePairAttributes().state(QueuePairState.ERR));
            }
        };

        abstract void end(TwoHosts hosts);
    }

    /** In five seconds a sender that waits for ever asks as often as it was told to, 10.24 ms apart, and no more. */
    @ParameterizedTest
    @EnumSource
    void anEndlessWaitForAReceiveCostsLittleAndEndsAtOnce(End end) throws InterruptedException {
        hosts.connected(DEFAULTS, DEFAULTS.withRetries(7, 7).withMinRnrTimer(20));
        long before = hosts.world.steps();
        hosts.send();
        hosts.world.run(Duration.ofSeconds(5));
        assertThat(hosts.world.steps() - before).as("things that happened").isBetween(400L, 4_000L);
        Duration time = hosts.time(() -> {
            end.end(hosts);
            assertThat(hosts.completion(hosts.cqA).status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        });
        assertThat(time).isLessThan(Duration.ofMillis(11));
    }

    /** A sender whose peer is silent tries eight times, each for at least 4.096 us times 2 to this power. */
    @ParameterizedTest
    @ValueSource(ints = {10, 14, 18})
    void theAcknowledgementTimeoutDecidesWhenASilentPeerIsGivenUp(int exponent) throws InterruptedException {
        hosts.connected(DEFAULTS.withAckTimeout(exponent), DEFAULTS.withAckTimeout(exponent));
        assertThat(hosts.client.queuePair().query().timeout()).isEqualTo(exponent);
        hosts.world.partition(hosts.a, hosts.b);
        Duration time = hosts.time(() -> {
            hosts.send();
            assertThat(hosts.completion(hosts.cqA).status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        });
        long wait = 4_096L << exponent;
        assertThat(time).isBetween(Duration.ofNanos(8 * wait), Duration.ofNanos(8 * 4 * wait));
        expect(hosts.channelA, Disconnected.class);
        hosts.world.heal();
    }

    /** The table of IBTA volume 1, 9.7.5.2.8: code 0 is the longest wait. */
    @ParameterizedTest
    @CsvSource({"0, 655_360", "1, 10", "12, 640", "20, 10_240", "31, 491_520"})
    void theReceiverSaysHowLongTheSenderWaits(int code, String microseconds) throws InterruptedException {
        long wait = Long.parseLong(microseconds.replace("_", "")) * 1_000;
        hosts.connected(DEFAULTS, DEFAULTS.withRetries(7, 1).withMinRnrTimer(code));
        Duration time = hosts.time(() -> {
            hosts.send();
            assertThat(hosts.completion(hosts.cqA).status()).isEqualTo(WorkCompletionStatus.RNR_RETRY_EXC_ERR);
        });
        assertThat(time).isBetween(Duration.ofNanos(wait), Duration.ofNanos(2 * wait + 1_000_000));
    }
}
