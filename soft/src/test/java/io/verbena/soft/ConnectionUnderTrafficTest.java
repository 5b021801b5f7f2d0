// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.SharedReceiveQueueOptions;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.Listener;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that end while something is under way, or while somebody handles one of their events. */
class ConnectionUnderTrafficTest {
    private static final int BYTES = 1 << 20;

    private final TwoIds ids = new TwoIds();

    @AfterEach
    void nothingIsLeft() {
        ids.close();
    }

    /** Packets that still arrive are for a queue pair that is gone; the device goes on. */
    @Test
    void anEndThatIsClosedWhileItsPeerWritesEndsTheWriter() throws InterruptedException {
        List<ConnectionId> ends = ids.connected();
        ConnectionId client = ends.get(0);
        ConnectionId server = ends.get(1);
        CompletionQueue queue = client.queuePair().sendCompletionQueue();
        WorkCompletion completion = new WorkCompletion();
        try (Arena arena = Arena.ofShared();
                MemoryRegion source = client.protectionDomain().register(arena.allocate(BYTES));
                MemoryRegion target = server.protectionDomain()
                        .register(arena.allocate(BYTES), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
            for (int i = 0; i < 4; i++) {
                write(client.queuePair(), i, source, target);
            }
            for (int i = 4; i < 200; i++) {
                assertThat(queue.await(completion, TwoIds.LIMIT)).isTrue();
                assertThat(completion.orThrow().wrId()).isEqualTo(i - 4);
                write(client.queuePair(), i, source, target);
            }
            server.close();
            TwoIds.expect(ids.channelA, ConnectionEvent.Disconnected.class);
            for (int i = 196; i < 200; i++) {
                assertThat(queue.await(completion, TwoIds.LIMIT)).isTrue();
                assertThat(completion.wrId()).isEqualTo(i);
            }
            assertThat(completion.status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
            TwoIds.expect(ids.channelA, ConnectionEvent.TimewaitExit.class);
            assertThat(ids.connected()).as("the device goes on").hasSize(2);
        }
    }

    private static void write(QueuePair pair, int id, MemoryRegion source, MemoryRegion target) {
        pair.postWrite(id, source, 0, BYTES, target.address(), target.rkey(), SendFlags.SIGNALED);
    }

    /** SRQ-4 by way of a disconnect: the event says that the queue pair takes no more receives. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aQueuePairWithSharedReceivesTellsOfItsLastOneWhenItIsDisconnected(boolean byPeer) throws InterruptedException {
        ConnectionId client = ids.resolved();
        ConnectionId server = ids.requestedBy(client);
        try (CompletionQueue queue = ids.b.createCompletionQueue(4);
                SharedReceiveQueue shared =
                        server.protectionDomain().createSharedReceiveQueue(SharedReceiveQueueOptions.of(4))) {
            QueuePair pair = server.createQueuePair(
                    server.protectionDomain(), QueuePairOptions.rc(queue).withSharedReceiveQueue(shared));
            server.accept(ConnectionParameters.defaults());
            TwoIds.expect(ids.channelA, ConnectionEvent.Established.class);
            TwoIds.expect(ids.channelB, ConnectionEvent.Established.class);
            assertThat(ids.b.pollAsyncEvent()).isNull();
            (byPeer ? client : server).disconnect();
            assertThat(ids.b.awaitAsyncEvent(TwoIds.LIMIT)).isEqualTo(new AsyncEvent.LastWqeReached(pair));
            TwoIds.expect(ids.channelB, ConnectionEvent.Disconnected.class);
            assertThat(ids.b.pollAsyncEvent()).isNull();
            server.close();
        }
    }

    /** Whoever handles an event may close its id there and then, before other events of it are taken. */
    @Test
    void anIdIsClosedByWhoHandlesItsEvents() throws InterruptedException {
        ConnectionId client = ids.resolved();
        ConnectionId server = ids.requestedBy(client);
        ids.accept(server);
        TwoIds.expect(ids.channelA, ConnectionEvent.Established.class).id().close();
        ConnectionEvent event = TwoIds.expect(ids.channelB, ConnectionEvent.Established.class);
        event.id().close();
        assertThat(ids.channelB.poll()).as("events of a closed id").isNull();
        ConnectionId other = ids.connected().get(1);
        other.disconnect();
        TwoIds.expect(ids.channelB, ConnectionEvent.Disconnected.class).id().close();
        TwoIds.expect(ids.channelA, ConnectionEvent.Disconnected.class).id().close();
        assertThat(ids.connected()).hasSize(2);
    }

    @Test
    void aConnectionIsClosedByWhoHearsThatItStands() throws Exception {
        try (Listener listener = Listener.listen(TwoIds.addressOf(ids.b, 0), ids.b)) {
            CompletableFuture<Void> closed = Connection.connectAsync(
                            listener.localAddress(),
                            ConnectionOptions.defaults().withDevices(ids.a))
                    .thenAccept(Connection::close);
            try (Connection server = listener.await(TwoIds.LIMIT)
                    .accept(ConnectionOptions.defaults().withDevices(ids.b))) {
                closed.get(20, TimeUnit.SECONDS);
                assertThat(server.awaitDisconnect(TwoIds.LIMIT)).isTrue();
            }
        }
    }

    /** The id is of no use any more; a new one is. */
    @Test
    void aNameThatLeadsNowhereFailsTheAttemptAndNoneAfterIt() throws InterruptedException {
        InetSocketAddress nowhere = InetSocketAddress.createUnresolved("host.invalid", 1);
        ConnectionOptions options = ConnectionOptions.defaults().withDevices(ids.a);
        assertThatThrownBy(() -> Connection.connectAsync(nowhere, options).get(20, TimeUnit.SECONDS))
                .hasMessageContaining("host.invalid");
        try (ConnectionId id = ids.channelA.createId(io.verbena.verbs.cm.PortSpace.TCP)) {
            id.resolveAddress(null, nowhere, TwoIds.LIMIT);
            TwoIds.expect(ids.channelA, ConnectionEvent.AddressFailed.class);
            id.resolveAddress(null, ids.listening.localAddress(), TwoIds.LIMIT);
            TwoIds.expect(ids.channelA, ConnectionEvent.AddressResolved.class);
        }
        assertThat(ids.connected()).hasSize(2);
    }
}
