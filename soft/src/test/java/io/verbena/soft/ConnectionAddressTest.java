// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.link.LocalAddress;
import io.verbena.link.LocalInterfaces;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionRequest;
import io.verbena.verbs.cm.Listener;
import io.verbena.verbs.cm.PrivateData;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Addresses and ports: taken ones, free ones, wildcards, IPv6, and several connections between the same two. */
class ConnectionAddressTest {
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("::1");

    private static ConnectionOptions of(DeviceContext... devices) {
        return ConnectionOptions.defaults().withDevices(devices);
    }

    private static InetSocketAddress at(DeviceContext device, int port) {
        return TwoIds.addressOf(device, port);
    }

    /** Connects from a device to a listener of another, sends a number, and closes both ends. */
    private static void assertConnects(DeviceContext from, Listener listener, InetSocketAddress to, DeviceContext... at)
            throws Exception {
        CompletableFuture<Connection> connecting = Connection.connectAsync(to, of(from));
        ConnectionRequest request = listener.await(TwoIds.LIMIT);
        assertThat(request)
                .as("a request from %s to %s", from.device().name(), to)
                .isNotNull();
        try (Connection server = request.accept(of(at));
                Connection client = connecting.get(20, TimeUnit.SECONDS)) {
            assertThat(server.localAddress()).isEqualTo(to);
            assertThat(client.remoteAddress()).isEqualTo(to);
            assertThat(server.remoteAddress()).isEqualTo(client.localAddress());
            assertCarries(client, server, 42);
            assertCarries(server, client, 43);
        }
    }

    private static void assertCarries(Connection from, Connection to, long number) throws InterruptedException {
        WorkCompletion completion = new WorkCompletion();
        try (Arena arena = Arena.ofShared();
                MemoryRegion source = from.protectionDomain().register(arena.allocate(8));
                MemoryRegion target =
                        to.protectionDomain().register(arena.allocate(8), io.verbena.verbs.AccessFlag.LOCAL_WRITE)) {
            source.segment().set(ValueLayout.JAVA_LONG, 0, number);
            to.queuePair().postReceive(1, target, 0, 8);
            from.queuePair().postSend(2, source, 0, 8, SendFlags.SIGNALED);
            assertThat(to.completions().await(completion, TwoIds.LIMIT)).isTrue();
            completion.orThrow();
            assertThat(from.completions().await(completion, TwoIds.LIMIT)).isTrue();
            completion.orThrow();
            assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(number);
        }
    }

    @Test
    void aPortHasOneListenerAtATime() {
        try (DeviceContext device = TwoDevices.openFree()) {
            Listener first = Listener.listen(at(device, 7471), device);
            assertThatThrownBy(() -> Listener.listen(at(device, 7471), device))
                    .isInstanceOfSatisfying(
                            RdmaException.class,
                            e -> assertThat(e.reason()).isEqualTo(RdmaException.Reason.ADDRESS_IN_USE))
                    .hasMessageContaining("7471")
                    .hasMessageContaining(device.device().name());
            first.close();
            Listener.listen(at(device, 7471), device).close();
        }
    }

    /** It listened on one device already when the other refused. */
    @Test
    void aListenerThatFailsHalfwayLeavesNothing() throws Exception {
        try (DeviceContext one = TwoDevices.openFree();
                DeviceContext other = TwoDevices.openFree();
                Listener taken = Listener.listen(at(other, 7471), other);
                Listener keeping = Listener.listen(at(one, 7472), one)) {
            assertThatThrownBy(() -> Listener.listen(new InetSocketAddress("0.0.0.0", 7471), one, other))
                    .hasMessageContaining("7471");
            assertThat(taken.localAddress()).isEqualTo(at(other, 7471));
            Listener.listen(at(one, 7471), one).close();
            assertThatThrownBy(one::close).as("a listener is left").hasMessageContaining("still has");
            assertConnects(other, keeping, at(one, 7472), one);
        }
    }

    @Test
    void portsThatAreTakenByThemselvesAreFree() {
        try (DeviceContext device = TwoDevices.openFree()) {
            List<Listener> listeners = new ArrayList<>();
            for (int i = 0; i < 600; i++) {
                listeners.add(Listener.listen(at(device, 0), device));
            }
            assertThat(listeners)
                    .extracting(listener -> listener.localAddress().getPort())
                    .doesNotHaveDuplicates()
                    .allMatch(port -> port > 1024 && port < 65536);
            listeners.forEach(Listener::close);
        }
    }

    @Test
    void aWildcardAddressIsEveryDevice() throws Exception {
        try (DeviceContext client = TwoDevices.openFree();
                DeviceContext one = TwoDevices.openFree();
                DeviceContext other = TwoDevices.openFree()) {
            for (String wildcard : List.of("0.0.0.0", "::")) {
                try (Listener listener = Listener.listen(new InetSocketAddress(wildcard, 0), one, other)) {
                    int port = listener.localAddress().getPort();
                    assertThat(port).isPositive();
                    assertConnects(client, listener, at(one, port), one, other);
                    assertConnects(client, listener, at(other, port), one, other);
                }
            }
        }
    }

    private static Optional<DeviceContext> open(Predicate<LocalAddress> which) throws IOException {
        for (LocalAddress local : LocalInterfaces.list()) {
            if (local.up() && which.test(local)) {
                try {
                    return Optional.of(Devices.open(SoftProvider.info(local).name()));
                } catch (RdmaException e) {
                    assertThat(e.reason()).isEqualTo(RdmaException.Reason.ADDRESS_IN_USE);
                }
            }
        }
        return Optional.empty();
    }

    @Test
    void oneIpv6DeviceConnectsToItself() throws Exception {
        Optional<DeviceContext> opened = open(local -> local.address().equals(LOOPBACK));
        assumeTrue(opened.isPresent(), "::1 is not there or in use");
        try (DeviceContext device = opened.get();
                Listener listener = Listener.listen(new InetSocketAddress(LOOPBACK, 0), device)) {
            assertConnects(device, listener, listener.localAddress(), device);
        }
    }

    @Test
    void anIpv6WildcardIsIpv4Too() throws Exception {
        Optional<DeviceContext> opened = open(local -> local.address().equals(LOOPBACK));
        assumeTrue(opened.isPresent(), "::1 is not there or in use");
        try (DeviceContext six = opened.get();
                DeviceContext four = TwoDevices.openFree();
                Listener listener = Listener.listen(new InetSocketAddress("::", 0), six, four)) {
            int port = listener.localAddress().getPort();
            assertConnects(six, listener, at(six, port), six, four);
            assertConnects(four, listener, at(four, port), six, four);
        }
    }

    @Test
    void aLinkLocalAddressWithItsScopeIsConnectedTo() throws Exception {
        Optional<DeviceContext> opened = open(local -> local.address().isLinkLocalAddress());
        assumeTrue(opened.isPresent(), "no link-local address is there and free");
        try (DeviceContext device = opened.get()) {
            InetAddress address = LocalInterfaces.list().stream()
                    .map(LocalAddress::address)
                    .filter(local -> local.equals(at(device, 0).getAddress()))
                    .findFirst()
                    .orElseThrow();
            assertThat(address.getHostAddress()).contains("%");
            try (Listener listener = Listener.listen(new InetSocketAddress(address, 0), device)) {
                assertConnects(device, listener, listener.localAddress(), device);
            }
            try (Listener listener = Listener.listen(new InetSocketAddress(address, 0))) {
                CompletableFuture<Connection> connecting =
                        Connection.connectAsync(listener.localAddress(), ConnectionOptions.defaults());
                try (Connection server = listener.await(TwoIds.LIMIT).accept();
                        Connection client = connecting.get(20, TimeUnit.SECONDS)) {
                    assertCarries(client, server, 7);
                }
            }
        }
    }

    @Test
    void twoConnectionsBetweenTheSameAddressesAreTwo() throws Exception {
        try (DeviceContext one = TwoDevices.openFree();
                DeviceContext other = TwoDevices.openFree();
                Listener listener = Listener.listen(at(other, 0), other)) {
            InetSocketAddress target = listener.localAddress();
            CompletableFuture<Connection> connecting =
                    Connection.connectAsync(target, of(one).withSource(at(one, 5000)));
            ConnectionRequest firstRequest = listener.await(TwoIds.LIMIT);
            CompletableFuture<Connection> connectingToo = Connection.connectAsync(
                    target, of(one).withSource(at(one, 5000)).withPrivateData(PrivateData.utf8("second")));
            ConnectionRequest secondRequest = listener.await(TwoIds.LIMIT);
            assertThat(secondRequest.privateData().utf8()).isEqualTo("second");
            try (Connection second = secondRequest.accept(of(other));
                    Connection secondClient = connectingToo.get(20, TimeUnit.SECONDS);
                    Connection first = firstRequest.accept(of(other));
                    Connection firstClient = connecting.get(20, TimeUnit.SECONDS)) {
                assertThat(first.remoteAddress()).isEqualTo(second.remoteAddress());
                assertCarries(firstClient, first, 1);
                assertCarries(second, secondClient, 2);
                firstClient.disconnect();
                assertThat(first.awaitDisconnect(TwoIds.LIMIT)).isTrue();
                assertCarries(secondClient, second, 3);
            }
        }
    }

    @Test
    void bothSidesConnectToEachOtherAtOnce() throws Exception {
        try (DeviceContext one = TwoDevices.openFree();
                DeviceContext other = TwoDevices.openFree();
                Listener ofOne = Listener.listen(at(one, 7471), one);
                Listener ofOther = Listener.listen(at(other, 7471), other)) {
            for (int round = 0; round < 20; round++) {
                CompletableFuture<Connection> forth =
                        Connection.connectAsync(at(other, 7471), of(one).withSource(at(one, 7471)));
                CompletableFuture<Connection> back =
                        Connection.connectAsync(at(one, 7471), of(other).withSource(at(other, 7471)));
                try (Connection atOne = ofOne.await(TwoIds.LIMIT).accept(of(one));
                        Connection atOther = ofOther.await(TwoIds.LIMIT).accept(of(other));
                        Connection forthEnd = forth.get(20, TimeUnit.SECONDS);
                        Connection backEnd = back.get(20, TimeUnit.SECONDS)) {
                    assertCarries(forthEnd, atOther, 1);
                    assertCarries(backEnd, atOne, 2);
                }
            }
        }
    }

    @Test
    void aDeviceConnectsToItself() throws Exception {
        try (DeviceContext device = TwoDevices.openFree();
                Listener listener = Listener.listen(at(device, 0), device)) {
            assertConnects(device, listener, listener.localAddress(), device);
            assertConnects(device, listener, listener.localAddress(), device);
        }
    }

    @Test
    void unknownHostsAndAddressesThatNoDeviceLeadsToAreTold() {
        try (DeviceContext device = TwoDevices.openFree()) {
            assertNotFound(InetSocketAddress.createUnresolved("host.invalid", 1), of(device), "host.invalid");
            assertNotFound(new InetSocketAddress("fd00:1::1", 1), of(device), "fd00:1");
            assertNotFound(
                    new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 1),
                    ConnectionOptions.defaults().withSource(new InetSocketAddress("203.0.113.1", 0)),
                    "203.0.113.1");
            assertThatThrownBy(() -> Listener.listen(new InetSocketAddress("203.0.113.1", 7)))
                    .hasMessageContaining("203.0.113.1");
            assertThatThrownBy(() -> Listener.listen(InetSocketAddress.createUnresolved("host.invalid", 7)))
                    .hasMessageContaining("host.invalid");
        }
    }

    private static void assertNotFound(InetSocketAddress target, ConnectionOptions options, String named) {
        assertThatThrownBy(() -> Connection.connect(target, options))
                .isInstanceOfSatisfying(
                        RdmaException.class, e -> assertThat(e.reason()).isEqualTo(RdmaException.Reason.NOT_FOUND))
                .hasMessageContaining(named);
    }
}
