// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import io.verbena.verbs.cm.PrivateData;
import io.verbena.verbs.cm.RejectReason;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Port space UDP: the queue pair of a datagram service is asked for, and used. */
class DatagramServiceTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int QKEY = 0x01234567;

    private final DeviceContext here = TwoDevices.openFree();
    private final DeviceContext there = TwoDevices.openFree();
    private final EventChannel client = EventChannel.over(here);
    private final EventChannel server = EventChannel.over(there);
    private InetSocketAddress service = new InetSocketAddress(0);

    @BeforeEach
    void listen() {
        ConnectionId listener = server.createId(PortSpace.UDP);
        listener.bind(new InetSocketAddress(there.queryGid(1, 0).toAddress(), 0));
        listener.listen(10);
        service = listener.localAddress();
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        here.close();
        there.close();
    }

    private ConnectionId resolved() throws InterruptedException {
        ConnectionId id = client.createId(PortSpace.UDP);
        id.resolveAddress(null, service, LONG);
        assertThat(client.await(LONG)).isInstanceOf(ConnectionEvent.AddressResolved.class);
        id.resolveRoute(LONG);
        assertThat(client.await(LONG)).isInstanceOf(ConnectionEvent.RouteResolved.class);
        return id;
    }

    @Test
    void aDatagramReachesTheQueuePairThatWasAskedFor() throws Exception {
        ConnectionId id = resolved();
        try (CompletionQueue sent = here.createCompletionQueue(4);
                CompletionQueue received = there.createCompletionQueue(4);
                Arena arena = Arena.ofShared();
                MemoryRegion source = id.protectionDomain().register(arena.allocate(64), AccessFlag.LOCAL_WRITE)) {
            id.createQueuePair(QueuePairOptions.ud(sent));
            id.connect(ConnectionParameters.defaults().withPrivateData(PrivateData.utf8("who are you?")));
            ConnectionEvent.ConnectRequest request = (ConnectionEvent.ConnectRequest) server.await(LONG);
            assertThat(request.parameters().privateData().utf8()).isEqualTo("who are you?");
            assertThat(request.parameters().privateData().length()).isEqualTo(180);
            ConnectionId answering = request.id();
            try (MemoryRegion target =
                    answering.protectionDomain().register(arena.allocate(128), AccessFlag.LOCAL_WRITE)) {
                answering.createQueuePair(QueuePairOptions.ud(received)).postReceive(1, target, 0, 128);
                answering.accept(ConnectionParameters.defaults().withPrivateData(PrivateData.utf8("it is me")));
                ConnectionEvent.DatagramResolved answer = (ConnectionEvent.DatagramResolved) client.await(LONG);
                assertThat(answer.qkey()).isEqualTo(QKEY);
                assertThat(answer.qpNumber()).isEqualTo(answering.queuePair().qpNumber());
                assertThat(answer.privateData().utf8()).isEqualTo("it is me");
                assertThat(answer.privateData().length()).isEqualTo(136);
                source.segment().setString(0, "a datagram");
                try (AddressHandle way = id.protectionDomain().createAddressHandle(answer.address())) {
                    id.queuePair()
                            .postSendTo(
                                    2,
                                    source.address(),
                                    64,
                                    source.lkey(),
                                    way,
                                    answer.qpNumber(),
                                    answer.qkey(),
                                    SendFlags.SIGNALED);
                    WorkCompletion completion = new WorkCompletion();
                    assertThat(sent.await(completion, LONG)).isTrue();
                    assertThat(received.await(completion, LONG)).isTrue();
                    assertThat(completion.orThrow().byteLength()).isEqualTo(64 + GlobalRouteHeader.BYTES);
                    assertThat(target.segment().getString(GlobalRouteHeader.BYTES))
                            .isEqualTo("a datagram");
                }
                answering.close();
            }
            id.close();
        }
    }

    @Test
    void aQuestionIsRefusedByTheProgramOrForWantOfOne() throws Exception {
        ConnectionId id = resolved();
        id.connect(ConnectionParameters.defaults(), 0, 0);
        ConnectionEvent.ConnectRequest request = (ConnectionEvent.ConnectRequest) server.await(LONG);
        request.id().reject(PrivateData.utf8("no"));
        assertThat(client.await(LONG)).isInstanceOfSatisfying(ConnectionEvent.Rejected.class, rejected -> {
            assertThat(rejected.reason()).isEqualTo(RejectReason.CONSUMER_DEFINED);
            assertThat(rejected.privateData().utf8()).isEqualTo("no");
        });
        service = new InetSocketAddress(service.getAddress(), service.getPort() ^ 1);
        resolved().connect(ConnectionParameters.defaults(), 0, 0);
        assertThat(client.await(LONG))
                .isInstanceOfSatisfying(
                        ConnectionEvent.Rejected.class,
                        rejected -> assertThat(rejected.reason()).isEqualTo(RejectReason.INVALID_SERVICE_ID));
    }
}
