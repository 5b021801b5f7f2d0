// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import static io.verbena.sim.TwoHosts.expect;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.verbs.cm.ConnectionEvent.Disconnected;
import io.verbena.verbs.cm.ConnectionEvent.Established;
import io.verbena.verbs.cm.ConnectionEvent.TimewaitExit;
import io.verbena.verbs.cm.ConnectionEvent.Unreachable;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.wire.cm.CmAttribute;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What programs see when messages that make and end their connection are lost. */
class LostConnectionMessageTest {
    private final TwoHosts hosts = new TwoHosts(5);
    /** Messages that are lost, by who sends them. */
    private final Set<CmAttribute> lostFromA = EnumSet.noneOf(CmAttribute.class);

    private final Set<CmAttribute> lostFromB = EnumSet.noneOf(CmAttribute.class);
    /** How many of them are lost. */
    private int dropped = Integer.MAX_VALUE;

    private CmAttribute delayed;

    LostConnectionMessageTest() {
        hosts.world.intercept(this::onFrame);
    }

    @AfterEach
    void nothingIsLeft() {
        lostFromA.clear();
        lostFromB.clear();
        hosts.close();
    }

    private void onFrame(SimFrame frame) {
        CmAttribute attribute = TwoHosts.attribute(frame);
        if ((frame.from().equals("a") ? lostFromA : lostFromB).contains(attribute) && dropped > 0) {
            dropped--;
            frame.drop();
        } else if (attribute != null && attribute == delayed) {
            frame.delay(Duration.ofMillis(100).toNanos());
        }
    }

    /** The client is established, and the server has accepted; its receive is posted. */
    private void accepted() throws InterruptedException {
        hosts.accepted(ConnectionParameters.defaults(), ConnectionParameters.defaults());
        hosts.receive();
    }

    /** CONFORMANCE 47. */
    @Test
    void dataEstablishesWhenTheRtuIsLost() throws InterruptedException {
        lostFromA.add(CmAttribute.RTU);
        accepted();
        long start = hosts.world.now();
        hosts.send();
        expect(hosts.channelB, Established.class);
        assertThat(Duration.ofNanos(hosts.world.now() - start)).isLessThan(Duration.ofMillis(1));
        hosts.expectArrival();
        assertThat(hosts.server.queuePair().state()).isEqualTo(QueuePairState.RTS);
        hosts.expectNothingMore();
    }

    @Test
    void anRtuBehindTheDataEstablishesNotTwice() throws InterruptedException {
        delayed = CmAttribute.RTU;
        accepted();
        hosts.send();
        hosts.expectArrival();
        expect(hosts.channelB, Established.class);
        hosts.expectNothingMore();
    }

    @Test
    void dataBehindTheRtuEstablishesNotTwice() throws InterruptedException {
        accepted();
        expect(hosts.channelB, Established.class);
        hosts.send();
        hosts.expectArrival();
        hosts.expectNothingMore();
    }

    @Test
    void theReplyThatIsRepeatedBringsTheRtuAgain() throws InterruptedException {
        lostFromA.add(CmAttribute.RTU);
        accepted();
        long start = hosts.world.now();
        lostFromA.clear();
        hosts.world.run(Duration.ofMillis(100));
        assertThat(hosts.channelB.poll()).isNull();
        expect(hosts.channelB, Established.class);
        assertThat(Duration.ofNanos(hosts.world.now() - start))
                .isBetween(Duration.ofMillis(200), Duration.ofMillis(300));
        hosts.expectNothingMore();
    }

    private void establishedAlone() throws InterruptedException {
        lostFromA.add(CmAttribute.RTU);
        lostFromB.add(CmAttribute.REJ);
        accepted();
        expect(hosts.channelB, Unreachable.class);
        expect(hosts.channelB, TimewaitExit.class);
        assertThat(hosts.channelA.poll()).as("it cannot know").isNull();
        assertThat(hosts.client.queuePair().state()).isEqualTo(QueuePairState.RTS);
    }

    /** The other side's queue pair is in error and silent. */
    @Test
    void whoIsEstablishedAloneLearnsItWhenItSends() throws InterruptedException {
        establishedAlone();
        hosts.send();
        assertThat(hosts.completion(hosts.cqA).status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        expect(hosts.channelA, Disconnected.class);
        expect(hosts.channelA, TimewaitExit.class);
        hosts.expectNothingMore();
    }

    @Test
    void whoIsEstablishedAloneCanDisconnect() throws InterruptedException {
        establishedAlone();
        long start = hosts.world.now();
        hosts.client.disconnect();
        expect(hosts.channelA, Disconnected.class);
        assertThat(Duration.ofNanos(hosts.world.now() - start)).isLessThan(Duration.ofMillis(1));
        expect(hosts.channelA, TimewaitExit.class);
        hosts.expectNothingMore();
    }

    @Test
    void aReleaseThatNobodyAnswersEndsOnBothSides() throws InterruptedException {
        accepted();
        expect(hosts.channelB, Established.class);
        lostFromB.add(CmAttribute.DREP);
        hosts.client.disconnect();
        expect(hosts.channelB, Disconnected.class);
        expect(hosts.channelA, Disconnected.class);
        expect(hosts.channelA, TimewaitExit.class);
        expect(hosts.channelB, TimewaitExit.class);
        hosts.expectNothingMore();
    }

    private Duration closeDevice() throws InterruptedException {
        hosts.closeClient();
        return hosts.time(hosts.a::close);
    }

    @Test
    void aDeviceThatClosesSaysGoodByeAgainWhenItWasNotHeard() throws InterruptedException {
        accepted();
        expect(hosts.channelB, Established.class);
        dropped = 2;
        lostFromA.add(CmAttribute.DREQ);
        assertThat(closeDevice()).isBetween(Duration.ofMillis(20), Duration.ofMillis(21));
        assertThat(hosts.channelB.poll()).isInstanceOf(Disconnected.class);
    }

    @Test
    void aDeviceThatClosesWaitsNotLongForAPeerThatIsGone() throws InterruptedException {
        accepted();
        expect(hosts.channelB, Established.class);
        hosts.world.partition(hosts.a, hosts.b);
        assertThat(closeDevice()).isBetween(Duration.ofMillis(30), Duration.ofMillis(31));
        hosts.world.heal();
    }

    @Test
    void aDeviceWhosePeersHaveHeardClosesAtOnce() throws InterruptedException {
        accepted();
        expect(hosts.channelB, Established.class);
        hosts.client.disconnect();
        expect(hosts.channelA, Disconnected.class);
        assertThat(closeDevice()).isZero();
    }
}
