// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionEvent.Disconnected;
import io.verbena.verbs.cm.ConnectionEvent.Established;
import io.verbena.verbs.cm.ConnectionEvent.TimewaitExit;
import io.verbena.verbs.cm.ConnectionEvent.Unreachable;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import io.verbena.wire.cm.CmAttribute;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What programs see when messages that make and end their connection are lost. */
class LostConnectionMessageTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int PORT = 4000;

    private final World world = World.builder().seed(5).build();
    private final DeviceContext a = world.openDevice("10.0.0.1");
    private final DeviceContext b = world.openDevice("10.0.0.2");
    private final EventChannel channelA = EventChannel.over(a);
    private final EventChannel channelB = EventChannel.over(b);
    private final CompletionQueue cqA = a.createCompletionQueue(16);
    private final CompletionQueue cqB = b.createCompletionQueue(16);
    private final Arena arena = Arena.ofShared();
    /** Messages that are lost, by who sends them. */
    private final Set<CmAttribute> lostFromA = EnumSet.noneOf(CmAttribute.class);

    private final Set<CmAttribute> lostFromB = EnumSet.noneOf(CmAttribute.class);
    /** How many of them are lost. */
    private int dropped = Integer.MAX_VALUE;

    private CmAttribute delayed;

    private ConnectionId client;
    private ConnectionId server;
    private MemoryRegion source;
    private MemoryRegion target;

    LostConnectionMessageTest() {
        world.intercept(this::onFrame);
    }

    @AfterEach
    void nothingIsLeft() {
        lostFromA.clear();
        lostFromB.clear();
        channelA.close();
        channelB.close();
        if (source != null) {
            source.close();
            target.close();
        }
        cqA.close();
        cqB.close();
        a.close();
        b.close();
        world.close();
        arena.close();
    }

    private void onFrame(SimFrame frame) {
        if (frame.opcode() != Opcode.UD_SEND_ONLY || frame.destinationQp() != Mad.QUEUE_PAIR) {
            return;
        }
        long mad = frame.offset() + Opcode.UD_SEND_ONLY.headerBytes();
        CmAttribute attribute = CmAttribute.of(Mad.attribute(frame.buffer(), mad));
        if ((frame.from().equals("a") ? lostFromA : lostFromB).contains(attribute) && dropped > 0) {
            dropped--;
            frame.drop();
        } else if (attribute == delayed) {
            frame.delay(Duration.ofMillis(100).toNanos());
        }
    }

    private static <T extends ConnectionEvent> T expect(EventChannel channel, Class<T> kind)
            throws InterruptedException {
        ConnectionEvent event = channel.await(LONG);
        assertThat(event).isInstanceOf(kind);
        return kind.cast(event);
    }

    /** The client is established, and the server has accepted; its receive is posted. */
    private void accepted() throws InterruptedException {
        ConnectionId listening = channelB.createId(PortSpace.TCP);
        listening.bind(new InetSocketAddress("10.0.0.2", PORT));
        listening.listen(1);
        client = channelA.createId(PortSpace.TCP);
        client.resolveAddress(null, new InetSocketAddress("10.0.0.2", PORT), LONG);
        expect(channelA, ConnectionEvent.AddressResolved.class);
        client.resolveRoute(LONG);
        expect(channelA, ConnectionEvent.RouteResolved.class);
        client.createQueuePair(QueuePairOptions.rc(cqA).withQueueDepth(4, 4));
        client.connect(ConnectionParameters.defaults());
        server = expect(channelB, ConnectionEvent.ConnectRequest.class).id();
        server.createQueuePair(QueuePairOptions.rc(cqB).withQueueDepth(4, 4));
        source = client.protectionDomain().register(arena.allocate(8), AccessFlag.LOCAL_WRITE);
        target = server.protectionDomain().register(arena.allocate(8), AccessFlag.LOCAL_WRITE);
        server.queuePair().postReceive(1, target, 0, 8);
        server.accept(ConnectionParameters.defaults());
        expect(channelA, Established.class);
    }

    private void send() {
        client.queuePair().postSend(2, source, 0, 8, SendFlags.SIGNALED);
    }

    private void expectArrival() throws InterruptedException {
        WorkCompletion completion = new WorkCompletion();
        assertThat(cqB.await(completion, LONG)).isTrue();
        assertThat(completion.orThrow().wrId()).isEqualTo(1);
        assertThat(cqA.await(completion, LONG)).isTrue();
        assertThat(completion.orThrow().wrId()).isEqualTo(2);
    }

    private void expectNothingMore(EventChannel channel) {
        world.run(Duration.ofMinutes(2));
        assertThat(channel.poll()).isNull();
    }

    /** CONFORMANCE 47. */
    @Test
    void dataEstablishesWhenTheRtuIsLost() throws InterruptedException {
        lostFromA.add(CmAttribute.RTU);
        accepted();
        long start = world.now();
        send();
        expect(channelB, Established.class);
        assertThat(Duration.ofNanos(world.now() - start)).isLessThan(Duration.ofMillis(1));
        expectArrival();
        assertThat(server.queuePair().state()).isEqualTo(QueuePairState.RTS);
        expectNothingMore(channelB);
        expectNothingMore(channelA);
    }

    @Test
    void anRtuBehindTheDataEstablishesNotTwice() throws InterruptedException {
        delayed = CmAttribute.RTU;
        accepted();
        send();
        expectArrival();
        expect(channelB, Established.class);
        expectNothingMore(channelB);
        expectNothingMore(channelA);
    }

    @Test
    void dataBehindTheRtuEstablishesNotTwice() throws InterruptedException {
        accepted();
        expect(channelB, Established.class);
        send();
        expectArrival();
        expectNothingMore(channelB);
        expectNothingMore(channelA);
    }

    @Test
    void theReplyThatIsRepeatedBringsTheRtuAgain() throws InterruptedException {
        lostFromA.add(CmAttribute.RTU);
        accepted();
        long start = world.now();
        lostFromA.clear();
        world.run(Duration.ofMillis(100));
        assertThat(channelB.poll()).isNull();
        expect(channelB, Established.class);
        assertThat(Duration.ofNanos(world.now() - start)).isBetween(Duration.ofMillis(200), Duration.ofMillis(300));
        expectNothingMore(channelB);
        expectNothingMore(channelA);
    }

    private void establishedAlone() throws InterruptedException {
        lostFromA.add(CmAttribute.RTU);
        lostFromB.add(CmAttribute.REJ);
        accepted();
        expect(channelB, Unreachable.class);
        expect(channelB, TimewaitExit.class);
        assertThat(channelA.poll()).as("it cannot know").isNull();
        assertThat(client.queuePair().state()).isEqualTo(QueuePairState.RTS);
    }

    /** The other side's queue pair is in error and silent. */
    @Test
    void whoIsEstablishedAloneLearnsItWhenItSends() throws InterruptedException {
        establishedAlone();
        send();
        WorkCompletion completion = new WorkCompletion();
        assertThat(cqA.await(completion, LONG)).isTrue();
        assertThat(completion.status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        expect(channelA, Disconnected.class);
        expect(channelA, TimewaitExit.class);
        expectNothingMore(channelA);
        expectNothingMore(channelB);
    }

    @Test
    void whoIsEstablishedAloneCanDisconnect() throws InterruptedException {
        establishedAlone();
        long start = world.now();
        client.disconnect();
        expect(channelA, Disconnected.class);
        assertThat(Duration.ofNanos(world.now() - start)).isLessThan(Duration.ofMillis(1));
        expect(channelA, TimewaitExit.class);
        expectNothingMore(channelA);
        expectNothingMore(channelB);
    }

    @Test
    void aReleaseThatNobodyAnswersEndsOnBothSides() throws InterruptedException {
        accepted();
        expect(channelB, Established.class);
        lostFromB.add(CmAttribute.DREP);
        client.disconnect();
        expect(channelB, Disconnected.class);
        expect(channelA, Disconnected.class);
        expect(channelA, TimewaitExit.class);
        expect(channelB, TimewaitExit.class);
        expectNothingMore(channelA);
        expectNothingMore(channelB);
    }

    /** Nothing of the client is left open but its device, which closes in so much time. */
    private Duration closeClient() {
        channelA.close();
        source.close();
        cqA.close();
        long start = world.now();
        a.close();
        return Duration.ofNanos(world.now() - start);
    }

    @Test
    void aDeviceThatClosesSaysGoodByeAgainWhenItWasNotHeard() throws InterruptedException {
        accepted();
        expect(channelB, Established.class);
        dropped = 2;
        lostFromA.add(CmAttribute.DREQ);
        assertThat(closeClient()).isBetween(Duration.ofMillis(20), Duration.ofMillis(21));
        assertThat(channelB.poll()).isInstanceOf(Disconnected.class);
    }

    @Test
    void aDeviceThatClosesWaitsNotLongForAPeerThatIsGone() throws InterruptedException {
        accepted();
        expect(channelB, Established.class);
        world.partition(a, b);
        assertThat(closeClient()).isBetween(Duration.ofMillis(30), Duration.ofMillis(31));
        world.heal();
    }

    @Test
    void aDeviceWhosePeersHaveHeardClosesAtOnce() throws InterruptedException {
        accepted();
        expect(channelB, Established.class);
        client.disconnect();
        expect(channelA, Disconnected.class);
        assertThat(closeClient()).isZero();
    }
}
