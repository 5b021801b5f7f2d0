// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.QueuePair;
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
import java.net.InetSocketAddress;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** CM: {@code a} asks for the queue pair of a datagram service at {@code b}. */
class DatagramServiceConformanceTest extends ConformanceSuite {
    private static final int GRH = GlobalRouteHeader.BYTES;
    private static final int AT = 1000;

    private EventChannel channelA;
    private EventChannel channelB;
    private ConnectionId client;

    @BeforeEach
    void listen() throws InterruptedException {
        channelA = a.keep(EventChannel.over(a.context));
        channelB = b.keep(EventChannel.over(b.context));
        ConnectionId listening = channelB.createId(PortSpace.UDP);
        listening.bind(new InetSocketAddress(b.gid().toAddress(), 0));
        listening.listen(4);
        client = channelA.createId(PortSpace.UDP);
        client.resolveAddress(null, listening.localAddress(), limit());
        next(channelA, ConnectionEvent.AddressResolved.class);
        client.resolveRoute(limit());
        next(channelA, ConnectionEvent.RouteResolved.class);
        client.createQueuePair(a.domain, QueuePairOptions.ud(a.cq));
    }

    private static <T extends ConnectionEvent> T next(EventChannel channel, Class<T> kind) throws InterruptedException {
        ConnectionEvent event = channel.await(limit());
        assertThat(event).isInstanceOf(kind);
        return kind.cast(event);
    }

    private ConnectionEvent.ConnectRequest ask() throws InterruptedException {
        client.connect(ConnectionParameters.defaults().withPrivateData(PrivateData.utf8("where?")));
        return next(channelB, ConnectionEvent.ConnectRequest.class);
    }

    @Test
    @Conforms("CM-6")
    void datagramsPassBothWaysByWhatTheEventsTell() throws InterruptedException {
        ConnectionEvent.ConnectRequest request = ask();
        assertThat(request.parameters().privateData().utf8()).isEqualTo("where?");
        QueuePair there = request.id().createQueuePair(b.domain, QueuePairOptions.ud(b.cq));
        there.postReceive(1, b.region, AT, 200);
        request.id().accept(ConnectionParameters.defaults().withPrivateData(PrivateData.utf8("here")));
        ConnectionEvent.DatagramResolved answer = next(channelA, ConnectionEvent.DatagramResolved.class);
        assertThat(answer.id()).isSameAs(client);
        assertThat(answer.qpNumber()).isEqualTo(there.qpNumber());
        assertThat(answer.privateData().utf8()).isEqualTo("here");

        QueuePair here = client.queuePair();
        here.postReceive(2, a.region, AT, 200);
        AddressHandle way = a.keep(a.domain.createAddressHandle(answer.address()));
        a.fill(0, 50, 3);
        here.postSendTo(
                3, a.region.address(), 50, a.region.lkey(), way, answer.qpNumber(), answer.qkey(), SendFlags.SIGNALED);
        a.expect(SUCCESS);
        WorkCompletion received = b.expect(SUCCESS);
        b.assertHolds(AT + GRH, 50, 3);

        AddressHandle back = b.keep(b.domain.createAddressHandle(
                GlobalRouteHeader.read(b.memory, AT).wayBack()));
        b.fill(0, 30, 8);
        there.postSendTo(
                4,
                b.region.address(),
                30,
                b.region.lkey(),
                back,
                received.sourceQp(),
                answer.qkey(),
                SendFlags.SIGNALED);
        b.expect(SUCCESS);
        assertThat(a.expect(SUCCESS).wrId()).isEqualTo(2);
        a.assertHolds(AT + GRH, 30, 8);
    }

    @Test
    @Conforms("CM-6")
    void aQuestionCanBeRefused() throws InterruptedException {
        ask().id().reject(PrivateData.utf8("gone"));
        ConnectionEvent.Rejected rejected = next(channelA, ConnectionEvent.Rejected.class);
        assertThat(rejected.reason()).isEqualTo(RejectReason.CONSUMER_DEFINED);
        assertThat(rejected.privateData().utf8()).isEqualTo("gone");
    }
}
