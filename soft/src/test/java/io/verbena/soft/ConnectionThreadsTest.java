// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.ConnectionRequest;
import io.verbena.verbs.cm.Listener;
import io.verbena.verbs.cm.PrivateData;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that wait are woken by whoever closes what they wait for, and by interrupts; nothing is left then. */
class ConnectionThreadsTest {
    private static final Duration FOR_EVER = Duration.ofDays(1000);
    private static final ConnectionParameters PATIENT =
            ConnectionParameters.defaults().withTimeout(FOR_EVER);

    private final TwoIds ids = new TwoIds();

    @AfterEach
    void nothingIsLeft() {
        ids.close();
    }

    /** A thread that calls something that waits. */
    private static final class Waiting {
        private final Thread thread;
        private final AtomicReference<Object> end = new AtomicReference<>();

        Waiting(boolean virtual, Callable<? extends @Nullable Object> call) {
            Runnable body = () -> {
                try {
                    Object result = call.call();
                    end.set(result == null ? "null" : result);
                } catch (Exception e) {
                    end.set(e);
                }
            };
            thread = virtual
                    ? Thread.startVirtualThread(body)
                    : Thread.ofPlatform().daemon().start(body);
            while (thread.getState() != Thread.State.TIMED_WAITING && thread.getState() != Thread.State.WAITING) {
                assertThat(end.get()).as("it was to wait").isNull();
                Thread.onSpinWait();
            }
        }

        Waiting interrupt() {
            thread.interrupt();
            return this;
        }

        Object end() throws InterruptedException {
            assertThat(thread.join(TwoIds.LIMIT)).as("the thread ends").isTrue();
            return end.get();
        }

        RdmaException failure() throws InterruptedException {
            assertThat(end()).isInstanceOf(RdmaException.class);
            return (RdmaException) end();
        }
    }

    private ConnectionOptions ofA() {
        return ConnectionOptions.defaults().withDevices(ids.a).withParameters(PATIENT);
    }

    private ConnectionOptions ofB() {
        return ConnectionOptions.defaults().withDevices(ids.b).withParameters(PATIENT);
    }

    private Listener listener() {
        return Listener.listen(TwoIds.addressOf(ids.b, 0), ids.b);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closingAChannelWakesWhoWaitsForItsEvents(boolean virtual) throws InterruptedException {
        Waiting waiting = new Waiting(virtual, () -> ids.channelA.await(FOR_EVER));
        ids.channelA.close();
        assertThat(waiting.end()).isEqualTo("null");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closingAListenerEndsTheWaitForRequests(boolean virtual) throws InterruptedException {
        Listener listener = listener();
        Waiting waiting = new Waiting(virtual, () -> listener.await(FOR_EVER));
        Waiting other = new Waiting(virtual, () -> listener.await(FOR_EVER));
        listener.close();
        assertThat(waiting.failure().reason()).isEqualTo(RdmaException.Reason.CLOSED);
        assertThat(other.failure().reason()).isEqualTo(RdmaException.Reason.CLOSED);
        assertThatThrownBy(() -> listener.await(Duration.ZERO)).hasMessageContaining("closed");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anInterruptEndsTheWaitForRequests(boolean virtual) throws InterruptedException {
        try (Listener listener = listener()) {
            Waiting waiting = new Waiting(virtual, () -> listener.await(FOR_EVER));
            assertThat(waiting.interrupt().end()).isInstanceOf(InterruptedException.class);
            assertThat(listener.await(Duration.ZERO)).isNull();
        }
    }

    /** Nobody answers the request that the step-wise listener gets. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anInterruptEndsAnAttemptToConnect(boolean virtual) throws InterruptedException {
        InetSocketAddress target = ids.listening.localAddress();
        Waiting waiting = new Waiting(virtual, () -> Connection.connect(target, ofA()));
        ConnectionId asked = TwoIds.expect(ids.channelB, ConnectionEvent.ConnectRequest.class)
                .id();
        assertThat(waiting.interrupt().end()).isInstanceOf(InterruptedException.class);
        assertThat(TwoIds.expect(ids.channelB, ConnectionEvent.Rejected.class).id())
                .isSameAs(asked);
    }

    @Test
    void aThreadThatIsInterruptedAlreadyDoesNotConnectAndDoesNotHarmTheDevice() throws InterruptedException {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> Connection.connect(ids.listening.localAddress(), ofA()))
                .isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        ConnectionId id = ids.channelA.createId(io.verbena.verbs.cm.PortSpace.TCP);
        id.resolveAddress(null, ids.listening.localAddress(), TwoIds.LIMIT);
        id.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(ids.channelA.poll()).as("events of a closed id").isNull();
        assertThat(ids.connected()).hasSize(2);
    }

    /** The other side never says that it is ready. */
    private Waiting accepting(boolean virtual, Listener listener, AtomicReference<Connection> accepted)
            throws InterruptedException {
        ConnectionId client = ids.channelA.createId(io.verbena.verbs.cm.PortSpace.TCP);
        client.resolveAddress(null, listener.localAddress(), TwoIds.LIMIT);
        client.resolveRoute(TwoIds.LIMIT);
        client.connect(PATIENT, 0x123456, 1);
        ConnectionRequest request = listener.await(TwoIds.LIMIT);
        Waiting waiting = new Waiting(virtual, () -> request.accept(ofB().withPrepare(accepted::set)));
        TwoIds.expect(ids.channelA, ConnectionEvent.AddressResolved.class);
        TwoIds.expect(ids.channelA, ConnectionEvent.RouteResolved.class);
        TwoIds.expect(ids.channelA, ConnectionEvent.ConnectResponse.class);
        return waiting;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anInterruptEndsTheWaitForTheOtherSideToBeReady(boolean virtual) throws InterruptedException {
        try (Listener listener = listener()) {
            Waiting waiting = accepting(virtual, listener, new AtomicReference<>());
            assertThat(waiting.interrupt().end()).isInstanceOf(InterruptedException.class);
            TwoIds.expect(ids.channelA, ConnectionEvent.Rejected.class);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closingAConnectionEndsItsWaits(boolean virtual) throws InterruptedException {
        try (Listener listener = listener()) {
            AtomicReference<Connection> accepted = new AtomicReference<>();
            Waiting accepting = accepting(virtual, listener, accepted);
            accepted.get().close();
            assertThat(accepting.failure().reason()).isEqualTo(RdmaException.Reason.CLOSED);
            TwoIds.expect(ids.channelA, ConnectionEvent.Rejected.class);

            AtomicReference<Connection> asking = new AtomicReference<>();
            InetSocketAddress target = ids.listening.localAddress();
            Waiting connecting = new Waiting(virtual, () -> Connection.connect(target, ofA().withPrepare(asking::set)));
            TwoIds.expect(ids.channelB, ConnectionEvent.ConnectRequest.class);
            asking.get().close();
            assertThat(connecting.failure().reason()).isEqualTo(RdmaException.Reason.CLOSED);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closingAConnectionEndsTheWaitsForItsEnd(boolean virtual) throws Exception {
        try (Listener listener = listener();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Connection> connecting = threads.submit(() -> Connection.connect(listener.localAddress(), ofA()));
            Connection server = listener.await(TwoIds.LIMIT).accept(ofB());
            Connection client = connecting.get(20, TimeUnit.SECONDS);
            Waiting one = new Waiting(virtual, () -> server.awaitDisconnect(FOR_EVER));
            Waiting two = new Waiting(virtual, () -> server.awaitDisconnect(FOR_EVER));
            assertThat(server.awaitDisconnect(Duration.ZERO)).isFalse();
            assertThat(two.interrupt().end()).isInstanceOf(InterruptedException.class);
            Waiting three = new Waiting(virtual, () -> server.awaitDisconnect(FOR_EVER));
            server.close();
            assertThat(one.end()).isEqualTo(true);
            assertThat(three.end()).isEqualTo(true);
            assertThat(server.awaitDisconnect(FOR_EVER)).isTrue();
            assertThat(client.awaitDisconnect(FOR_EVER)).isTrue();
            client.close();
        }
    }

    /** While the request waits a peer gives up; that is nothing that a server waits for. */
    @Test
    void aListenerDoesNotReturnWhatIsNoRequest() throws Exception {
        try (Listener listener = listener();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            ConnectionId fickle = ids.channelA.createId(io.verbena.verbs.cm.PortSpace.TCP);
            fickle.resolveAddress(null, listener.localAddress(), TwoIds.LIMIT);
            fickle.resolveRoute(TwoIds.LIMIT);
            fickle.connect(PATIENT, 0x123456, 1);
            ConnectionRequest first = listener.await(TwoIds.LIMIT);
            fickle.close();
            Future<Connection> connecting = threads.submit(() -> Connection.connect(listener.localAddress(), ofA()));
            ConnectionRequest second = listener.await(TwoIds.LIMIT);
            assertThat(second).isNotNull();
            assertThatThrownBy(() -> first.accept(ofB()))
                    .isInstanceOfSatisfying(
                            RdmaException.class,
                            e -> assertThat(e.reason()).isEqualTo(RdmaException.Reason.DISCONNECTED));
            try (Connection server = second.accept(ofB());
                    Connection client = connecting.get(20, TimeUnit.SECONDS)) {
                assertThat(server.remoteAddress()).isEqualTo(client.localAddress());
            }
        }
    }

    @Test
    void manyVirtualThreadsConnectAndAcceptAtOnce() throws Exception {
        int count = 60;
        try (Listener listener = listener();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> clients = new ArrayList<>();
            List<Future<Integer>> servers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                PrivateData number = PrivateData.of((byte) i);
                clients.add(threads.submit(() -> {
                    try (Connection client =
                            Connection.connect(listener.localAddress(), ofA().withPrivateData(number))) {
                        assertThat(client.awaitDisconnect(TwoIds.LIMIT)).isTrue();
                        return (int) ByteBuffer.wrap(client.peer().privateData().bytes())
                                .get();
                    }
                }));
                servers.add(threads.submit(() -> {
                    ConnectionRequest request = listener.await(TwoIds.LIMIT);
                    byte theirs = request.privateData().bytes()[0];
                    try (Connection server = request.accept(ofB().withPrivateData(PrivateData.of(theirs)))) {
                        server.disconnect();
                        assertThat(server.awaitDisconnect(TwoIds.LIMIT)).isTrue();
                        return (int) theirs;
                    }
                }));
            }
            for (int i = 0; i < count; i++) {
                assertThat(clients.get(i).get(60, TimeUnit.SECONDS)).isEqualTo(i);
            }
            List<Integer> served = new ArrayList<>();
            for (Future<Integer> server : servers) {
                served.add(server.get(60, TimeUnit.SECONDS));
            }
            assertThat(served).doesNotHaveDuplicates().hasSize(count);
        }
    }
}
