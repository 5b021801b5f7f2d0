// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.WorkCompletionStatus.LOC_QP_OP_ERR;
import static io.verbena.verbs.WorkCompletionStatus.RNR_RETRY_EXC_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static io.verbena.verbs.WorkCompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.CmMessage;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionEvent.AddressFailed;
import io.verbena.verbs.cm.ConnectionEvent.AddressResolved;
import io.verbena.verbs.cm.ConnectionEvent.ConnectRequest;
import io.verbena.verbs.cm.ConnectionEvent.ConnectResponse;
import io.verbena.verbs.cm.ConnectionEvent.Disconnected;
import io.verbena.verbs.cm.ConnectionEvent.Established;
import io.verbena.verbs.cm.ConnectionEvent.Rejected;
import io.verbena.verbs.cm.ConnectionEvent.RouteResolved;
import io.verbena.verbs.cm.ConnectionEvent.TimewaitExit;
import io.verbena.verbs.cm.ConnectionEvent.Unreachable;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.Listener;
import io.verbena.verbs.cm.PortSpace;
import io.verbena.verbs.cm.PrivateData;
import io.verbena.verbs.cm.RejectReason;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** CM: connections by address and port, step by step from one thread; {@code a} connects to {@code b}. */
class ConnectionManagerConformanceTest extends ConformanceSuite {
    private static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults();

    private EventChannel channelA;
    private EventChannel channelB;
    private ConnectionId listening;

    @BeforeEach
    void listen() {
        channelA = a.keep(EventChannel.over(a.context));
        channelB = b.keep(EventChannel.over(b.context));
        listening = channelB.createId(PortSpace.TCP);
        listening.bind(new InetSocketAddress(b.gid().toAddress(), 0));
        listening.listen(4);
    }

    private static <T extends ConnectionEvent> T next(EventChannel channel, Class<T> kind) throws InterruptedException {
        ConnectionEvent event = channel.await(limit());
        assertThat(event).isInstanceOf(kind);
        return kind.cast(event);
    }

    /** An id that knows its way, without a queue pair. */
    private ConnectionId resolved(InetSocketAddress target) throws InterruptedException {
        ConnectionId id = channelA.createId(PortSpace.TCP);
        id.resolveAddress(null, target, limit());
        assertThat(next(channelA, AddressResolved.class).id()).isSameAs(id);
        assertThat(id.context()).isSameAs(a.context);
        id.resolveRoute(limit());
        assertThat(next(channelA, RouteResolved.class).id()).isSameAs(id);
        return id;
    }

    private ConnectionId resolved() throws InterruptedException {
        return resolved(listening.localAddress());
    }

    /** The request of a new id with a queue pair. */
    private ConnectRequest requested(ConnectionParameters parameters) throws InterruptedException {
        ConnectionId client = resolved();
        client.createQueuePair(a.domain, a.rcOptions());
        client.connect(parameters);
        ConnectRequest request = next(channelB, ConnectRequest.class);
        assertThat(request.listener()).isSameAs(listening);
        assertThat(request.id().context()).isSameAs(b.context);
        assertThat(request.id().remoteAddress()).isEqualTo(client.localAddress());
        return request;
    }

    private record Ends(ConnectionId client, ConnectionId server) {
        Pair pair() {
            return new Pair(client.queuePair(), server.queuePair());
        }
    }

    private Ends connected(ConnectionParameters ofA, ConnectionParameters ofB) throws InterruptedException {
        ConnectionId server = requested(ofA).id();
        server.createQueuePair(b.domain, b.rcOptions());
        server.accept(ofB);
        Established atA = next(channelA, Established.class);
        assertThat(next(channelB, Established.class).id()).isSameAs(server);
        return new Ends(atA.id(), server);
    }

    @Test
    @Conforms({"CM-1", "CM-2"})
    void aLifeFromRequestToTimewaitCarriesEveryOperation() throws InterruptedException {
        Ends ends = connected(DEFAULTS, DEFAULTS);
        Pair pair = ends.pair();
        assertCarriesTraffic(pair);
        a.fill(0, 200, 1);
        pair.b().postReceive(1, b.region, 1000, 200);
        pair.a().postSend(2, a.region, 0, 200, SIGNALED);
        a.expect(SUCCESS);
        b.expect(SUCCESS);
        b.assertHolds(1000, 200, 1);
        b.fill(3000, 300, 2);
        pair.a().postRead(3, a.region, 4000, 300, b.region.address() + 3000, b.region.rkey(), SIGNALED);
        a.expect(SUCCESS);
        a.assertHolds(4000, 300, 2);

        pair.b().postReceive(5, b.region, 0, 8);
        ends.client().disconnect();
        b.expect(WR_FLUSH_ERR);
        for (EventChannel channel : new EventChannel[] {channelA, channelB}) {
            next(channel, Disconnected.class);
            next(channel, TimewaitExit.class);
            assertThat(channel.poll()).isNull();
        }
        assertThat(pair.a().state()).isEqualTo(QueuePairState.ERR);
        assertThat(pair.b().state()).isEqualTo(QueuePairState.ERR);
    }

    /** The simple form waits in both threads. */
    @Test
    @Conforms("CM-1")
    void theSimpleFormConnectsAndCarriesTraffic() throws Exception {
        assumeTrue(provider.worksBesideTheProgram(), "a second thread that waits");
        try (Listener listener = Listener.listen(new InetSocketAddress(b.gid().toAddress(), 0), b.context)) {
            CompletableFuture<Connection> connecting = Connection.connectAsync(
                    listener.localAddress(), ConnectionOptions.defaults().withDevices(a.context));
            try (Connection server = listener.await(limit()).accept();
                    Connection client = connecting.get(20, TimeUnit.SECONDS);
                    MemoryRegion source = client.protectionDomain().register(a.memory);
                    MemoryRegion target = server.protectionDomain().register(b.memory, Side.ALL)) {
                a.fill(0, 100, 5);
                server.queuePair().postReceive(1, target, 0, 100);
                client.queuePair().postSend(2, source, 0, 100, SIGNALED);
                a.expect(client.completions(), SUCCESS);
                b.expect(server.completions(), SUCCESS);
                b.assertHolds(0, 100, 5);
                client.disconnect();
                assertThat(server.awaitDisconnect(limit())).isTrue();
            }
        }
    }

    @Test
    @Conforms("CM-3")
    void aRejectionTellsWhyAndWhatTheProgramSaid() throws InterruptedException {
        requested(DEFAULTS).id().reject(PrivateData.utf8("full"));
        Rejected rejected = next(channelA, Rejected.class);
        assertThat(rejected.reason()).isEqualTo(RejectReason.CONSUMER_DEFINED);
        assertThat(rejected.number()).isEqualTo(28);
        assertThat(rejected.privateData().utf8()).isEqualTo("full");
    }

    @Test
    @Conforms("CM-3")
    void aPortThatNobodyListensToIsRejected() throws InterruptedException {
        int port = listening.localAddress().getPort() ^ 1;
        ConnectionId id = resolved(new InetSocketAddress(b.gid().toAddress(), port));
        id.connect(DEFAULTS, 0x123456, 1);
        Rejected rejected = next(channelA, Rejected.class);
        assertThat(rejected.reason()).isEqualTo(RejectReason.INVALID_SERVICE_ID);
        assertThat(rejected.number()).isEqualTo(8);
    }

    /** Nobody answers the request; the time of the caller is what counts. */
    @Test
    @Conforms("CM-2")
    void anAttemptEndsWithItsTime() throws InterruptedException {
        long start = a.context.clockNanos();
        ConnectRequest request = requested(DEFAULTS.withTimeout(Duration.ofMillis(700)));
        next(channelA, Unreachable.class);
        assertThat(Duration.ofNanos(a.context.clockNanos() - start)).isGreaterThan(Duration.ofMillis(690));
        assertThat(next(channelB, Rejected.class).id()).isSameAs(request.id());
        request.id().close();
    }

    @ParameterizedTest
    @ValueSource(ints = {14, 21})
    @Conforms("CM-4")
    void theAcknowledgementTimeoutAskedForIsTheQueuePairs(int exponent) throws InterruptedException {
        ConnectRequest request = requested(DEFAULTS.withAckTimeout(exponent));
        assertThat(request.parameters().ackTimeout()).isEqualTo(exponent);
        request.id().createQueuePair(b.domain, b.rcOptions());
        request.id().accept(DEFAULTS.withAckTimeout(12));
        ConnectionId client = next(channelA, Established.class).id();
        next(channelB, Established.class);
        assertThat(client.queuePair().query().timeout()).isEqualTo(exponent);
        assertThat(request.id().queuePair().query().timeout()).isEqualTo(12);
    }

    /** 0 is without end, so whoever names an end gets it. */
    @Test
    @Conforms("CM-4")
    void aPatientCallerDoesNotMakeTheOtherSideWaitWithoutEnd() throws InterruptedException {
        Ends ends = connected(DEFAULTS.withAckTimeout(0), DEFAULTS.withAckTimeout(14));
        assertThat(ends.client().queuePair().query().timeout()).isZero();
        assertThat(ends.server().queuePair().query().timeout()).isEqualTo(14);
    }

    /** SPDK issue 2261: a requester that had more READs under way than was agreed was refused the ninth. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 16})
    @Conforms("CM-4")
    void asManyReadsAreUnderWayAsBothSidesAgreedTo(int reads) throws InterruptedException {
        Ends ends = connected(DEFAULTS.withReads(3, 16), DEFAULTS.withReads(reads, 5));
        QueuePairAttributes client = ends.client().queuePair().query();
        QueuePairAttributes server = ends.server().queuePair().query();
        assertThat(client.maxRdAtomic()).isEqualTo(reads);
        assertThat(server.maxDestRdAtomic()).isEqualTo(reads);
        assertThat(client.maxDestRdAtomic()).isEqualTo(3);
        assertThat(server.maxRdAtomic()).isEqualTo(3);
        b.fill(0, 32 * 64, 9);
        for (int i = 0; i < 32; i++) {
            ends.client()
                    .queuePair()
                    .postRead(i, a.region, 64L * i, 64, b.region.address() + 64L * i, b.region.rkey(), SIGNALED);
        }
        for (int i = 0; i < 32; i++) {
            assertThat(a.expect(SUCCESS).wrId()).isEqualTo(i);
        }
        a.assertHolds(0, 32 * 64, 9);
    }

    /** It cannot be carried out, and must not wait for ever either. */
    @Test
    @Conforms("CM-4")
    void aReadFailsWhereNoneWereAgreed() throws InterruptedException {
        Ends ends = connected(DEFAULTS, DEFAULTS.withReads(0, 0));
        QueuePair pair = ends.client().queuePair();
        assertThat(pair.query().maxRdAtomic()).isZero();
        assertCarriesTraffic(ends.pair());
        pair.postRead(1, a.region, 0, 8, b.region.address(), b.region.rkey(), SIGNALED);
        a.expect(LOC_QP_OP_ERR);
        next(channelA, Disconnected.class);
        next(channelB, Disconnected.class);
    }

    /** A sender that waits without end for a receive ends with its connection, whoever ends that. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Conforms("CM-2")
    void aSenderThatWaitsForAReceiveEndsWithTheConnection(boolean bySender) throws InterruptedException {
        Ends ends = connected(DEFAULTS, DEFAULTS.withRetries(7, 7));
        ends.client().queuePair().postSend(1, a.region, 0, 8, SIGNALED);
        a.assertNoCompletion();
        (bySender ? ends.client() : ends.server()).disconnect();
        assertThat(a.expect(WR_FLUSH_ERR).wrId()).isEqualTo(1);
        next(channelA, Disconnected.class);
        next(channelB, Disconnected.class);
    }

    @Test
    @Conforms("CM-2")
    void aSenderThatMayNotWaitForAReceiveEndsTheConnection() throws InterruptedException {
        Ends ends = connected(DEFAULTS, DEFAULTS.withRetries(7, 0));
        ends.client().queuePair().postSend(1, a.region, 0, 8, SIGNALED);
        a.expect(RNR_RETRY_EXC_ERR);
        assertThat(next(channelA, Disconnected.class).why()).contains("failed");
        next(channelB, Disconnected.class);
        next(channelA, TimewaitExit.class);
        next(channelB, TimewaitExit.class);
        assertThat(channelA.poll()).isNull();
        assertThat(channelB.poll()).isNull();
    }

    @Test
    @Conforms("CM-5")
    void queuePairsThatWereMadeElsewhereAreConnected() throws InterruptedException {
        QueuePair ofA = a.queuePair(a.rcOptions());
        QueuePair ofB = b.queuePair(b.rcOptions());
        ConnectionId client = resolved();
        ofA.modify(client.attributes(QueuePairState.INIT));
        client.connect(DEFAULTS, ofA.qpNumber(), 0xfffff0);
        ConnectionId server = next(channelB, ConnectRequest.class).id();
        assertRefused(RdmaException.Reason.INVALID_STATE, () -> server.attributes(QueuePairState.RTR));
        ofB.modify(server.attributes(QueuePairState.INIT));
        server.accept(DEFAULTS.withPrivateData(PrivateData.utf8("yes")), ofB.qpNumber(), 5);
        ofB.modify(server.attributes(QueuePairState.RTR));
        ofB.modify(server.attributes(QueuePairState.RTS));
        ConnectResponse response = next(channelA, ConnectResponse.class);
        assertThat(response.parameters().privateData().utf8()).isEqualTo("yes");
        ofA.modify(client.attributes(QueuePairState.RTR));
        ofA.modify(client.attributes(QueuePairState.RTS));
        client.establish();
        next(channelA, Established.class);
        next(channelB, Established.class);
        assertCarriesTraffic(new Pair(ofA, ofB));
        server.disconnect();
        next(channelA, Disconnected.class);
        next(channelB, Disconnected.class);
        assertThat(ofA.state()).as("not the id's to end").isEqualTo(QueuePairState.RTS);
    }

    @Test
    @Conforms("CM-7")
    void aNameLeadsWhereItsAddressLeads() throws InterruptedException {
        InetSocketAddress address = listening.localAddress();
        InetSocketAddress name =
                InetSocketAddress.createUnresolved(address.getAddress().getHostAddress(), address.getPort());
        ConnectionId id = resolved(name);
        assertThat(id.remoteAddress()).isEqualTo(address);
        id.connect(DEFAULTS, 0x123456, 1);
        next(channelB, ConnectRequest.class);

        ConnectionId lost = channelA.createId(PortSpace.TCP);
        lost.resolveAddress(null, InetSocketAddress.createUnresolved("host.invalid", 1), limit());
        AddressFailed failed = next(channelA, AddressFailed.class);
        assertThat(failed.id()).isSameAs(lost);
        assertThat(failed.cause()).hasMessageContaining("host.invalid");
        // It can be tried again.
        lost.resolveAddress(null, address, limit());
        next(channelA, AddressResolved.class);
    }

    private static PrivateData random(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return PrivateData.of(bytes);
    }

    private static byte[] padded(PrivateData data, int length) {
        return Arrays.copyOf(data.bytes(), length);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    @Conforms("CM-8")
    void privateDataOfEveryLengthArrives(long seed) throws InterruptedException {
        Random random = new Random(seed);
        int requestMax = listening.privateDataMax(CmMessage.REQUEST);
        int replyMax = listening.privateDataMax(CmMessage.REPLY);
        int rejectMax = listening.privateDataMax(CmMessage.REJECT);
        PrivateData ask = random(random, seed == 1 ? requestMax : random.nextInt(requestMax));
        PrivateData answer = random(random, seed == 1 ? replyMax : random.nextInt(replyMax));
        PrivateData refusal = random(random, seed == 1 ? rejectMax : random.nextInt(rejectMax));

        ConnectRequest request = requested(DEFAULTS.withPrivateData(ask));
        assertThat(request.parameters().privateData().bytes()).isEqualTo(padded(ask, requestMax));
        request.id().createQueuePair(b.domain, b.rcOptions());
        request.id().accept(DEFAULTS.withPrivateData(answer));
        Established established = next(channelA, Established.class);
        assertThat(established.parameters().privateData().bytes()).isEqualTo(padded(answer, replyMax));
        next(channelB, Established.class);
        requested(DEFAULTS).id().reject(refusal);
        assertThat(next(channelA, Rejected.class).privateData().bytes()).isEqualTo(padded(refusal, rejectMax));
    }

    @Test
    @Conforms("CM-8")
    void moreThanAMessageTakesIsRefusedWithTheLimit() throws InterruptedException {
        ConnectionId client = resolved();
        int most = client.privateDataMax(CmMessage.REQUEST);
        PrivateData tooMuch = PrivateData.of(new byte[most + 1]);
        assertThatThrownBy(() -> client.connect(DEFAULTS.withPrivateData(tooMuch), 0x123456, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(String.valueOf(most));
    }
}
