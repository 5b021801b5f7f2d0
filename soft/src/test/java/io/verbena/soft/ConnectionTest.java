// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.ConnectionRejectedException;
import io.verbena.verbs.cm.ConnectionRequest;
import io.verbena.verbs.cm.Listener;
import io.verbena.verbs.cm.PrivateData;
import io.verbena.verbs.cm.RejectReason;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The simple form of the connection manager, between devices of this process. */
class ConnectionTest {
    private static final Duration LONG = Duration.ofSeconds(8);

    /** Connects from an address of its own. */
    private static ConnectionOptions from() {
        return ConnectionOptions.defaults().withSource(freeAddress());
    }

    private static InetSocketAddress freeAddress() {
        return new InetSocketAddress(TestAddresses.free(), 0);
    }

    @Test
    void connectsSendsAndDisconnects() throws Exception {
        try (Listener listener = Listener.listen(freeAddress())) {
            CompletableFuture<Connection> connecting =
                    Connection.connectAsync(listener.localAddress(), from().withPrivateData(PrivateData.utf8("hello")));
            ConnectionRequest request = listener.await(LONG);
            assertThat(request.privateData().utf8()).isEqualTo("hello");
            assertThat(request.privateData().length()).isEqualTo(56);
            try (Arena arena = Arena.ofShared();
                    Connection server = request.accept(from().withPrivateData(PrivateData.utf8("welcome")));
                    Connection client = connecting.get(20, TimeUnit.SECONDS);
                    MemoryRegion source =
                            client.protectionDomain().register(arena.allocate(64), AccessFlag.LOCAL_WRITE);
                    MemoryRegion target =
                            server.protectionDomain().register(arena.allocate(64), AccessFlag.LOCAL_WRITE)) {
                assertThat(client.peer().privateData().utf8()).isEqualTo("welcome");
                source.segment().setString(0, "over RDMA");
                server.queuePair().postReceive(1, target, 0, 64);
                client.queuePair().postSend(2, source, 0, 64, SendFlags.SIGNALED);
                WorkCompletion completion = new WorkCompletion();
                assertThat(client.completions().await(completion, LONG)).isTrue();
                assertThat(completion.orThrow().wrId()).isEqualTo(2);
                assertThat(server.completions().await(completion, LONG)).isTrue();
                assertThat(target.segment().getString(0)).isEqualTo("over RDMA");
                client.disconnect();
                client.disconnect();
                assertThat(server.awaitDisconnect(LONG)).isTrue();
                assertThat(client.awaitDisconnect(LONG)).isTrue();
            }
        }
    }

    @Test
    void isRefusedWhereNobodyListens() throws Exception {
        try (Listener listener = Listener.listen(freeAddress())) {
            InetSocketAddress address = listener.localAddress();
            InetSocketAddress other = new InetSocketAddress(address.getAddress(), address.getPort() ^ 1);
            assertThatThrownBy(() -> Connection.connect(other, from()))
                    .isInstanceOfSatisfying(
                            ConnectionRejectedException.class,
                            e -> assertThat(e.rejectReason()).isEqualTo(RejectReason.INVALID_SERVICE_ID))
                    .hasMessageContaining("nobody listens");
        }
    }

    @Test
    void isUnreachableWhereNobodyAnswers() {
        ConnectionParameters hasty = ConnectionParameters.defaults().withTimeout(Duration.ofMillis(300));
        assertThatThrownBy(() -> Connection.connect(
                        new InetSocketAddress(TestAddresses.free(), 7471), from().withParameters(hasty)))
                .isInstanceOfSatisfying(
                        RdmaException.class, e -> assertThat(e.reason()).isEqualTo(RdmaException.Reason.UNREACHABLE));
    }

    @Test
    void aRejectionArrivesWithItsPrivateData() throws Exception {
        try (Listener listener = Listener.listen(freeAddress())) {
            CompletableFuture<Connection> connecting = Connection.connectAsync(listener.localAddress(), from());
            listener.await(LONG).reject(PrivateData.utf8("not today"));
            assertThatThrownBy(() -> connecting.get(20, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(ConnectionRejectedException.class, e -> {
                        assertThat(e.rejectReason()).isEqualTo(RejectReason.CONSUMER_DEFINED);
                        assertThat(e.privateData().utf8()).isEqualTo("not today");
                    });
        }
    }
}
