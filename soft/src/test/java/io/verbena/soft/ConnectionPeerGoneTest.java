// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.Listener;
import io.verbena.verbs.cm.PortSpace;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A process that is killed says nothing; each of its connections ends with one event nevertheless. */
class ConnectionPeerGoneTest {
    /** Short timeouts, for a machine without reports of unreachable ports. */
    private static final ConnectionParameters PARAMETERS =
            ConnectionParameters.defaults().withAckTimeout(12).withRetries(3, 7);

    @Test
    void aKilledPeerEndsABusyConnectionAtOnceAndAnIdleOneWhenItPosts() throws Exception {
        Process peer = startPeer();
        try (DeviceContext device = TwoDevices.openFree();
                CompletionQueue cq = device.createCompletionQueue(256);
                EventChannel channel = EventChannel.over(device);
                Arena arena = Arena.ofShared()) {
            BufferedReader output = peer.inputReader(StandardCharsets.US_ASCII);
            InetSocketAddress target = new InetSocketAddress(output.readLine(), Integer.parseInt(output.readLine()));
            ConnectionId busy = connect(channel, cq, target);
            ConnectionId idle = connect(channel, cq, target);
            try (MemoryRegion region = busy.protectionDomain().register(arena.allocate(1 << 16))) {
                // The peer posts no receives: the sender waits for them without end.
                post(busy, region, 20);
                peer.destroyForcibly();
                assertThat(peer.waitFor(20, TimeUnit.SECONDS)).isTrue();
                assertEnds(channel, busy);
                assertFlushed(cq, 20);
                assertThat(idle.queuePair().state()).isEqualTo(QueuePairState.RTS);
                assertThat(channel.poll()).as("it does not know yet").isNull();

                post(idle, region, 1);
                assertEnds(channel, idle);
                assertFlushed(cq, 1);
                // Both say good-bye in vain, again and again; that is no second end.
                assertThat(TwoIds.untilTimewaitExit(channel)).containsExactly("TimewaitExit");
                assertThat(TwoIds.untilTimewaitExit(channel)).containsExactly("TimewaitExit");
            }
        } finally {
            peer.destroyForcibly();
        }
    }

    private static ConnectionId connect(EventChannel channel, CompletionQueue cq, InetSocketAddress target)
            throws InterruptedException {
        ConnectionId id = channel.createId(PortSpace.TCP);
        id.resolveAddress(null, target, TwoIds.LIMIT);
        TwoIds.expect(channel, ConnectionEvent.AddressResolved.class);
        id.resolveRoute(TwoIds.LIMIT);
        TwoIds.expect(channel, ConnectionEvent.RouteResolved.class);
        id.createQueuePair(QueuePairOptions.rc(cq).withQueueDepth(32, 4));
        id.connect(PARAMETERS);
        TwoIds.expect(channel, ConnectionEvent.Established.class);
        return id;
    }

    private static void post(ConnectionId id, MemoryRegion region, int count) {
        QueuePair pair = id.queuePair();
        for (int i = 0; i < count; i++) {
            pair.postSend(i, region, 0, 1 << 16, SendFlags.SIGNALED);
        }
    }

    private static void assertEnds(EventChannel channel, ConnectionId id) throws InterruptedException {
        ConnectionEvent.Disconnected event = TwoIds.expect(channel, ConnectionEvent.Disconnected.class);
        assertThat(event.id()).isSameAs(id);
        assertThat(event.why()).contains("peer is gone");
    }

    private static void assertFlushed(CompletionQueue cq, int count) throws InterruptedException {
        WorkCompletion completion = new WorkCompletion();
        for (int i = 0; i < count; i++) {
            assertThat(cq.await(completion, TwoIds.LIMIT)).isTrue();
            assertThat(completion.wrId()).isEqualTo(i);
            assertThat(completion.status())
                    .isEqualTo(i == 0 ? WorkCompletionStatus.RETRY_EXC_ERR : WorkCompletionStatus.WR_FLUSH_ERR);
        }
        assertThat(cq.poll(completion)).isFalse();
    }

    private static Process startPeer() throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx128m",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Peer.class.getName())
                .redirectError(Redirect.INHERIT)
                .start();
    }

    /** Accepts two connections and does nothing with them. */
    static final class Peer {
        private Peer() {}

        public static void main(String[] arguments) throws InterruptedException, IOException {
            List<Connection> connections = new ArrayList<>();
            try (DeviceContext device = TwoDevices.openFree();
                    Listener listener = Listener.listen(TwoIds.addressOf(device, 0), device)) {
                System.out.println(listener.localAddress().getAddress().getHostAddress());
                System.out.println(listener.localAddress().getPort());
                System.out.flush();
                for (int i = 0; i < 2; i++) {
                    connections.add(listener.await(TwoIds.LIMIT).accept());
                }
                // Until the parent kills this process or ends itself.
                int end = System.in.read();
                System.out.println(end + " " + connections.size());
            }
        }
    }
}
