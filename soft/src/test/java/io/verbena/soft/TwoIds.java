// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import io.verbena.verbs.cm.PrivateData;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Two devices on free loopback addresses with an event channel and a completion queue each; one listens. Closing them
 * fails when something of a device is left.
 */
final class TwoIds implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(20);

    final DeviceContext a = TwoDevices.openFree();
    final DeviceContext b = TwoDevices.openFree();
    final EventChannel channelA = EventChannel.over(a);
    final EventChannel channelB = EventChannel.over(b);
    final ConnectionId listening = channelB.createId(PortSpace.TCP);
    private final CompletionQueue cqA = a.createCompletionQueue(64);
    private final CompletionQueue cqB = b.createCompletionQueue(64);

    TwoIds() {
        listening.bind(addressOf(b, 0));
        listening.listen(8);
    }

    static InetSocketAddress addressOf(DeviceContext device, int port) {
        return new InetSocketAddress(device.gidTable(1).getFirst().gid().toAddress(), port);
    }

    /** An id that knows its way to the listener, with a queue pair. */
    ConnectionId resolved() throws InterruptedException {
        return resolved(listening.localAddress());
    }

    ConnectionId resolved(InetSocketAddress target) throws InterruptedException {
        ConnectionId id = channelA.createId(PortSpace.TCP);
        id.resolveAddress(null, target, LIMIT);
        expect(channelA, ConnectionEvent.AddressResolved.class);
        id.resolveRoute(LIMIT);
        expect(channelA, ConnectionEvent.RouteResolved.class);
        id.createQueuePair(QueuePairOptions.rc(cqA).withQueueDepth(4, 4));
        return id;
    }

    /** The id asks; returns its request at the listener. */
    ConnectionId requestedBy(ConnectionId id) throws InterruptedException {
        id.connect(ConnectionParameters.defaults().withPrivateData(PrivateData.utf8("please")));
        return expect(channelB, ConnectionEvent.ConnectRequest.class).id();
    }

    /** Accepts without waiting for anything. */
    void accept(ConnectionId requested) {
        requested.createQueuePair(QueuePairOptions.rc(cqB).withQueueDepth(4, 4));
        requested.accept(ConnectionParameters.defaults());
    }

    /** Both ends of a connection that stands. */
    List<ConnectionId> connected() throws InterruptedException {
        ConnectionId client = resolved();
        ConnectionId server = requestedBy(client);
        accept(server);
        expect(channelA, ConnectionEvent.Established.class);
        expect(channelB, ConnectionEvent.Established.class);
        return List.of(client, server);
    }

    /** The next event, which must be of this kind. */
    static <T extends ConnectionEvent> T expect(EventChannel channel, Class<T> kind) throws InterruptedException {
        ConnectionEvent event = channel.await(LIMIT);
        assertThat(event).isInstanceOf(kind);
        return kind.cast(event);
    }

    /** The kinds of all events up to the last one that a connection can have. */
    static List<String> untilTimewaitExit(EventChannel channel) throws InterruptedException {
        List<String> kinds = new ArrayList<>();
        ConnectionEvent event;
        do {
            event = channel.await(LIMIT);
            kinds.add(event == null ? "nothing" : event.getClass().getSimpleName());
        } while (event != null && !(event instanceof ConnectionEvent.TimewaitExit));
        return kinds;
    }

    @Override
    public void close() {
        channelA.close();
        channelB.close();
        cqA.close();
        cqB.close();
        a.close();
        b.close();
    }
}
