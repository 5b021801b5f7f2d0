// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.CmMessage;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.PortSpace;
import io.verbena.verbs.cm.PrivateData;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What callers can say, and what they see when nobody answers. */
class ConnectionPrivateDataTest {
    private final TwoIds ids = new TwoIds();

    @AfterEach
    void nothingIsLeft() {
        ids.close();
    }

    private static PrivateData bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i + 1);
        }
        return PrivateData.of(bytes);
    }

    private static ConnectionParameters with(int length) {
        return ConnectionParameters.defaults().withPrivateData(bytes(length));
    }

    private static void assertArrived(PrivateData arrived, int length, int room) {
        assertThat(arrived.bytes()).isEqualTo(Arrays.copyOf(bytes(length).bytes(), room));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 56})
    void privateDataOfARequestArrives(int length) throws InterruptedException {
        ConnectionId client = ids.resolved();
        assertThat(client.privateDataMax(CmMessage.REQUEST)).isEqualTo(56);
        client.connect(with(length));
        ConnectionEvent.ConnectRequest request = TwoIds.expect(ids.channelB, ConnectionEvent.ConnectRequest.class);
        assertArrived(request.parameters().privateData(), length, 56);
        request.id().reject(bytes(148));
        ConnectionEvent.Rejected rejected = TwoIds.expect(ids.channelA, ConnectionEvent.Rejected.class);
        assertArrived(rejected.privateData(), 148, 148);
    }

    @Test
    void moreThanAMessageTakesIsRefusedWithTheLimitAndChangesNothing() throws InterruptedException {
        ConnectionId client = ids.resolved();
        assertThatThrownBy(() -> client.connect(with(57)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("57")
                .hasMessageContaining("56");
        ConnectionId server = ids.requestedBy(client);
        assertThatThrownBy(() -> server.reject(bytes(149)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("148");
        assertThatThrownBy(() -> server.accept(with(197)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("196");
        ids.accept(server);
        TwoIds.expect(ids.channelA, ConnectionEvent.Established.class);
    }

    @Test
    void theSimpleFormSaysTheLimitToo() {
        ConnectionOptions options =
                ConnectionOptions.defaults().withDevices(ids.a).withPrivateData(bytes(57));
        assertThatThrownBy(() -> Connection.connect(ids.listening.localAddress(), options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("56");
        assertThat(ids.channelB.poll()).isNull();
    }

    /** It takes every packet and answers none; no port unreachable tells of it either. */
    @Test
    void aHostThatIsSilentIsUnreachable() throws Exception {
        ConnectionOptions hasty = ConnectionOptions.defaults()
                .withDevices(ids.a)
                .withParameters(ConnectionParameters.defaults().withTimeout(Duration.ofMillis(400)));
        try (DatagramSocket silent = new DatagramSocket(new InetSocketAddress(TestAddresses.free(), 4791))) {
            InetSocketAddress target = new InetSocketAddress(silent.getLocalAddress(), 7471);
            assertThatThrownBy(() -> Connection.connect(target, hasty))
                    .isInstanceOfSatisfying(
                            RdmaException.class,
                            e -> assertThat(e.reason()).isEqualTo(RdmaException.Reason.UNREACHABLE));
        }
    }

    /** More requests than the backlog are not answered, until there is room or their time is over. */
    @Test
    void aFullBacklogMakesCallersWait() throws InterruptedException {
        try (var channel = io.verbena.verbs.cm.EventChannel.over(ids.b)) {
            ConnectionId narrow = channel.createId(PortSpace.TCP);
            narrow.bind(TwoIds.addressOf(ids.b, 0));
            narrow.listen(2);
            List<ConnectionId> callers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                ConnectionId id = ids.channelA.createId(PortSpace.TCP);
                id.resolveAddress(null, narrow.localAddress(), TwoIds.LIMIT);
                TwoIds.expect(ids.channelA, ConnectionEvent.AddressResolved.class);
                id.resolveRoute(TwoIds.LIMIT);
                TwoIds.expect(ids.channelA, ConnectionEvent.RouteResolved.class);
                Duration patience = i == 2 ? TwoIds.LIMIT : Duration.ofMinutes(10);
                id.connect(ConnectionParameters.defaults().withTimeout(patience), 100 + i, 1);
                callers.add(id);
            }
            ConnectionId first =
                    TwoIds.expect(channel, ConnectionEvent.ConnectRequest.class).id();
            TwoIds.expect(channel, ConnectionEvent.ConnectRequest.class);
            assertThat(channel.poll()).as("a request above the backlog").isNull();
            first.reject(PrivateData.NONE);
            TwoIds.expect(ids.channelA, ConnectionEvent.Rejected.class);
            // It asks again by itself.
            TwoIds.expect(channel, ConnectionEvent.ConnectRequest.class).id().reject(PrivateData.NONE);
            ConnectionEvent.Rejected rejected = TwoIds.expect(ids.channelA, ConnectionEvent.Rejected.class);
            assertThat(rejected.id()).isSameAs(callers.get(2));
        }
    }

    @Test
    void aBacklogThatStaysFullLooksLikeNobodyIsThere() throws InterruptedException {
        try (var channel = io.verbena.verbs.cm.EventChannel.over(ids.b)) {
            ConnectionId narrow = channel.createId(PortSpace.TCP);
            narrow.bind(TwoIds.addressOf(ids.b, 0));
            narrow.listen(1);
            for (int i = 0; i < 2; i++) {
                ConnectionId id = ids.channelA.createId(PortSpace.TCP);
                id.resolveAddress(null, narrow.localAddress(), TwoIds.LIMIT);
                TwoIds.expect(ids.channelA, ConnectionEvent.AddressResolved.class);
                id.resolveRoute(TwoIds.LIMIT);
                TwoIds.expect(ids.channelA, ConnectionEvent.RouteResolved.class);
                Duration patience = i == 1 ? Duration.ofMillis(300) : Duration.ofMinutes(10);
                id.connect(ConnectionParameters.defaults().withTimeout(patience), 100 + i, 1);
            }
            TwoIds.expect(ids.channelA, ConnectionEvent.Unreachable.class);
        }
    }
}
