// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static io.verbena.link.LinkTesting.IPV6_LOOPBACK;
import static io.verbena.link.LinkTesting.LOCAL_A;
import static io.verbena.link.LinkTesting.LOCAL_B;
import static io.verbena.link.LinkTesting.SECOND;
import static io.verbena.link.LinkTesting.pattern;
import static io.verbena.link.LinkTesting.receive;
import static io.verbena.link.LinkTesting.send;
import static io.verbena.link.LinkTesting.trySend;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.ffi.Errno;
import io.verbena.ffi.LinuxSockets;
import io.verbena.ffi.UdpSocketFinder;
import io.verbena.link.LinkTesting.Received;
import io.verbena.wire.Frame;
import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
abstract class UdpLinkContract {
    abstract UdpLink open(InetAddress local, int port, LinkOptions options) throws IOException;

    private UdpLink open(InetAddress local, int port) throws IOException {
        return open(local, port, LinkOptions.defaults());
    }

    @Test
    void exchangesFramesOfAllSizes() throws IOException {
        exchange(LOCAL_A, LOCAL_B);
    }

    @Test
    void exchangesFramesOverIpv6() throws IOException {
        assumeTrue(LocalInterfaces.find(IPV6_LOOPBACK).isPresent(), "no IPv6 here");
        exchange(IPV6_LOOPBACK, IPV6_LOOPBACK);
    }

    @Test
    void exchangesFramesOverLinkLocalIpv6() throws IOException {
        LocalAddress linkLocal = LocalInterfaces.list().stream()
                .filter(local -> local.address().isLinkLocalAddress() && local.up() && local.mtu() >= 1400)
                .findFirst()
                .orElse(null);
        assumeTrue(linkLocal != null, "no link-local address here");
        try (UdpLink a = open(linkLocal.address(), 0);
                UdpLink b = open(linkLocal.address(), 0)) {
            // The destination is 128 bits and has no scope: the link adds its own.
            send(a, pattern(1000, 1), linkLocal.address(), b.localPort());
            assertThat(receive(b, 1)).hasSize(1);
        }
    }

    private void exchange(InetAddress addressA, InetAddress addressB) throws IOException {
        try (UdpLink a = open(addressA, 0);
                UdpLink b = open(addressB, 0)) {
            for (int length = 16; length <= 4200; length += length < 128 ? 1 : 61) {
                byte[] there = pattern(length, 1);
                send(a, there, addressB, b.localPort());
                List<Received> arrived = receive(b, 1);
                assertThat(arrived).hasSize(1);
                assertThat(arrived.getFirst().bytes()).isEqualTo(there);
                assertThat(arrived.getFirst().remote()).isEqualTo(addressA);
                assertThat(arrived.getFirst().remotePort()).isEqualTo(a.sourcePort(0));
                assertThat(arrived.getFirst().local()).isEqualTo(addressB);
                assertThat(arrived.getFirst().localPort()).isEqualTo(b.localPort());
                assertThat(arrived.getFirst().ipId()).isEqualTo(Frame.IP_ID_UNKNOWN);
                byte[] back = pattern(length, 2);
                send(b, back, addressA, a.localPort());
                assertThat(receive(a, 1).getFirst().bytes()).isEqualTo(back);
            }
        }
    }

    @Test
    void sourcePortsAreFewStableAndDynamic() throws IOException {
        try (UdpLink a = open(LOCAL_A, 0);
                UdpLink b = open(LOCAL_B, 0)) {
            List<Integer> ports = new ArrayList<>();
            for (int hash = 0; hash < 64; hash++) {
                ports.add(a.sourcePort(hash));
                assertThat(a.sourcePort(hash | 0xabc0000)).isEqualTo(a.sourcePort(hash));
            }
            assertThat(ports.stream().distinct()).hasSize(8).allMatch(port -> port >= 0xc000);
            Frame frame = new Frame();
            for (int hash = 0; hash < 8; hash++) {
                assertThat(trySend(a, frame, pattern(20, hash), LOCAL_B, b.localPort(), hash))
                        .isTrue();
            }
            a.flush();
            List<Received> arrived = receive(b, 8);
            for (int hash = 0; hash < 8; hash++) {
                assertThat(arrived.get(hash).remotePort()).isEqualTo(a.sourcePort(hash));
            }
        }
    }

    /** Datagrams to a neighbour that does not answer ARP stay in the sending socket's account: real back-pressure. */
    @Test
    void fullSocketKeepsOneFrameAndAwaitBlocksUntilThereIsRoom() throws IOException {
        LocalAddress ethernet = LocalInterfaces.list().stream()
                .filter(local ->
                        !local.loopback() && local.up() && local.address().getAddress().length == 4)
                .findFirst()
                .orElse(null);
        assumeTrue(ethernet != null, "no IPv4 network here");
        byte[] neighbour = ethernet.address().getAddress();
        neighbour[3] ^= 0x55;
        InetAddress silent = InetAddress.getByAddress(neighbour);
        LinkOptions small = LinkOptions.defaults().withSendBufferBytes(4608);
        try (UdpLink link = open(ethernet.address(), 0, small)) {
            Frame frame = new Frame();
            int sent = 0;
            while (sent < 50 && trySend(link, frame, pattern(1000, sent), silent, 4791, 0)) {
                link.flush();
                sent++;
            }
            assumeTrue(link.transmitPending(), "this network swallowed 50 datagrams");
            assertThat(link.beginTransmit(frame)).isFalse();
            long start = System.nanoTime();
            assertThat(link.await(50_000_000)).isFalse();
            assertThat(System.nanoTime() - start).isGreaterThan(45_000_000);
            // ARP gives up after three seconds, which makes room.
            while (link.transmitPending() && System.nanoTime() - start < 10 * SECOND) {
                link.await(SECOND);
                link.flush();
            }
            assertThat(link.transmitPending()).isFalse();
            assertThat(link.counters().framesSent() + link.counters().sendFailures())
                    .isEqualTo(sent);
        }
    }

    @Test
    void awaitTimesOutAndNotBefore() throws IOException {
        try (UdpLink link = open(LOCAL_A, 0)) {
            assertThat(link.await(0)).isFalse();
            long start = System.nanoTime();
            assertThat(link.await(30_500_000)).isFalse();
            assertThat(System.nanoTime() - start).isBetween(30_500_000L, 2 * SECOND);
        }
    }

    @Test
    void wakeupBeforeAwaitCountsOnce() throws IOException {
        try (UdpLink link = open(LOCAL_A, 0)) {
            link.wakeup();
            link.wakeup();
            assertThat(link.await(10 * SECOND)).isTrue();
            assertThat(link.await(5_000_000)).isFalse();
            link.wakeup();
            assertThat(link.await(0)).isTrue();
            assertThat(link.await(0)).isFalse();
        }
    }

    @Test
    void noWakeupIsLost() throws Exception {
        int rounds = 10_000;
        AtomicInteger asked = new AtomicInteger();
        AtomicInteger seen = new AtomicInteger();
        try (UdpLink link = open(LOCAL_A, 0)) {
            FutureTask<Void> owner = new FutureTask<>(() -> {
                while (seen.get() < rounds) {
                    if (seen.get() == asked.get()) {
                        assertThat(link.await(10 * SECOND)).isTrue();
                    }
                    seen.set(asked.get());
                }
                return null;
            });
            Thread.ofPlatform().start(owner);
            for (int i = 1; i <= rounds; i++) {
                asked.set(i);
                link.wakeup();
                if (i % 3 != 0) {
                    // Lets the owner go to sleep in two rounds of three.
                    while (seen.get() < i && !owner.isDone()) {
                        Thread.onSpinWait();
                    }
                }
            }
            owner.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void frameWakesAwait() throws Exception {
        try (UdpLink a = open(LOCAL_A, 0);
                UdpLink b = open(LOCAL_B, 0)) {
            FutureTask<Boolean> waiter = new FutureTask<>(() -> b.await(20 * SECOND));
            Thread.ofPlatform().start(waiter);
            Thread.sleep(20);
            send(a, pattern(64, 0), LOCAL_B, b.localPort());
            assertThat(waiter.get(5, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void anotherThreadMayTakeOverWhileOneSleepsInAwait() throws Exception {
        try (UdpLink a = open(LOCAL_A, 0);
                UdpLink b = open(LOCAL_B, 0)) {
            FutureTask<Boolean> sleeper = new FutureTask<>(() -> a.await(20 * SECOND));
            Thread.ofPlatform().start(sleeper);
            Thread.sleep(20);
            long start = System.nanoTime();
            send(a, pattern(64, 0), LOCAL_B, b.localPort());
            assertThat(a.receive(frame -> {}, 8)).isZero();
            assertThat(a.pollUnreachable((high, low, port, errno) -> {})).isZero();
            assertThat(System.nanoTime() - start).isLessThan(5 * SECOND);
            assertThat(receive(b, 1)).hasSize(1);
            assertThat(sleeper.isDone()).isFalse();
            a.wakeup();
            assertThat(sleeper.get(5, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void closeEndsAwaitInAnotherThread() throws Exception {
        for (int i = 0; i < 50; i++) {
            UdpLink link = open(LOCAL_A, 0);
            int delay = i % 3;
            CountDownLatch started = new CountDownLatch(1);
            FutureTask<Throwable> waiter = new FutureTask<>(() -> {
                started.countDown();
                try {
                    while (true) {
                        link.await(20 * SECOND);
                    }
                } catch (IOException e) {
                    return e;
                }
            });
            Thread.ofPlatform().start(waiter);
            started.await();
            Thread.sleep(delay);
            link.close();
            assertThat(waiter.get(5, TimeUnit.SECONDS)).isInstanceOf(ClosedChannelException.class);
            link.close();
            assertThatThrownBy(() -> link.receive(frame -> {}, 1)).isInstanceOf(ClosedChannelException.class);
            assertThat(link.sourcePort(3)).isGreaterThanOrEqualTo(0xc000);
        }
    }

    @Test
    void portInUseNamesThisProcess() throws IOException {
        assumeTrue(System.getProperty("os.name").equals("Linux"), "only Linux tells");
        try (UdpLink first = open(LOCAL_A, 0)) {
            assertThatThrownBy(() -> open(LOCAL_A, first.localPort()))
                    .isInstanceOf(PortInUseException.class)
                    .hasMessageContaining("pid " + ProcessHandle.current().pid() + " (")
                    .hasMessageContaining("127.0.0.2");
        }
        if (LocalInterfaces.find(IPV6_LOOPBACK).isPresent()) {
            try (UdpLink first = open(IPV6_LOOPBACK, 0)) {
                assertThatThrownBy(() -> open(IPV6_LOOPBACK, first.localPort()))
                        .isInstanceOf(PortInUseException.class)
                        .hasMessageContaining("pid " + ProcessHandle.current().pid());
            }
        }
    }

    @Test
    void foreignAndWildcardAddressesAreRefused() {
        assertThatThrownBy(() -> open(LinkTesting.address("198.51.100.7"), 0))
                .isInstanceOf(BindException.class)
                .hasMessageContaining("127.0.0.1");
        assertThatThrownBy(() -> open(LinkTesting.address("0.0.0.0"), 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.77.0.1", "::1"})
    void closedPortIsReportedAsUnreachable(String literal) throws IOException {
        InetAddress local = LinkTesting.address(literal);
        assumeTrue(LinuxSockets.available(), "no native access");
        assumeTrue(LocalInterfaces.find(local).isPresent(), "no " + literal);
        try (UdpLink link = open(local, 0);
                UdpLink alive = open(local, 0)) {
            assertThat(link.capabilities().unreachableReported()).isTrue();
            int closed = closedPort(local);
            send(link, pattern(100, 0), local, closed);
            // The error makes await return, and is not left there for it to spin on.
            assertThat(link.await(SECOND)).isTrue();
            assertThat(link.await(5_000_000)).isFalse();
            List<String> reports = new ArrayList<>();
            assertThat(link.pollUnreachable((high, low, port, errno) ->
                            reports.add(Addresses.of(high, low, 0).getHostAddress() + " " + port + " " + errno)))
                    .isOne();
            assertThat(reports).containsExactly(local.getHostAddress() + " " + closed + " " + Errno.ECONNREFUSED);
            // A dead peer does not cost frames to a live one: each of ten is sent between two to the dead one.
            for (int i = 0; i < 10; i++) {
                send(link, pattern(100, i), local, closed);
                send(link, pattern(200, i), local, alive.localPort());
            }
            assertThat(receive(alive, 10)).hasSize(10);
            assertThat(link.pollUnreachable((high, low, port, errno) -> {})).isEqualTo(10);
        }
    }

    private static int closedPort(InetAddress local) throws IOException {
        try (DatagramSocket socket = new DatagramSocket(0, local)) {
            return socket.getLocalPort();
        }
    }

    @Test
    void refusedSendsAreCountedAndReportedNotThrown() throws IOException {
        try (UdpLink link = open(LOCAL_A, 0)) {
            List<Integer> errnos = new ArrayList<>();
            send(link, pattern(64, 0), IPV6_LOOPBACK, 4791);
            send(link, pattern(64, 0), LOCAL_B, 0);
            // From a loopback address there is no way out of the host.
            send(link, pattern(64, 0), LinkTesting.address("198.51.100.7"), 4791);
            link.pollUnreachable((high, low, port, errno) -> errnos.add(errno));
            assertThat(errnos.subList(0, 2)).containsExactly(Errno.EAFNOSUPPORT, Errno.EAFNOSUPPORT);
            assertThat(errnos).hasSize(3);
            assertThat(link.counters().sendFailures()).isEqualTo(3);
        }
    }

    @Test
    void frameLongerThanTheMtuIsReported() throws IOException {
        LocalAddress ethernet = LocalInterfaces.list().stream()
                .filter(local -> !local.loopback() && local.up() && local.mtu() < 4000)
                .findFirst()
                .orElse(null);
        assumeTrue(ethernet != null, "no network with a small MTU here");
        byte[] neighbour = ethernet.address().getAddress();
        neighbour[neighbour.length - 1] ^= 0x55;
        try (UdpLink link = open(ethernet.address(), 0)) {
            assertThat(link.capabilities().mtuBytes()).isEqualTo(ethernet.mtu());
            send(link, pattern(4112, 0), InetAddress.getByAddress(neighbour), 4791);
            List<Integer> errnos = new ArrayList<>();
            link.pollUnreachable((high, low, port, errno) -> errnos.add(errno));
            assertThat(errnos).containsExactly(Errno.EMSGSIZE);
        }
    }

    @Test
    void zeroUdpChecksumOverIpv6IsAccepted() throws IOException {
        assumeTrue(LinuxSockets.available(), "no native access");
        assumeTrue(LocalInterfaces.find(IPV6_LOOPBACK).isPresent(), "no IPv6 here");
        try (UdpLink with = open(IPV6_LOOPBACK, 0);
                UdpLink without = NioDatagramLink.open(
                        IPV6_LOOPBACK, 0, LinkOptions.defaults().withNativeExtras(false));
                DatagramChannel sender = DatagramChannel.open()) {
            assertThat(with.capabilities().zeroUdpChecksumIpv6Accepted()).isTrue();
            assertThat(without.capabilities().zeroUdpChecksumIpv6Accepted()).isFalse();
            assertThat(without.capabilities().unreachableReported()).isFalse();
            sender.bind(new InetSocketAddress(IPV6_LOOPBACK, 0));
            int port = ((InetSocketAddress) sender.getLocalAddress()).getPort();
            int fd = UdpSocketFinder.find(Addresses.high(IPV6_LOOPBACK), Addresses.low(IPV6_LOOPBACK), port);
            assertThat(LinuxSockets.setsockopt(fd, LinuxSockets.IPPROTO_UDP, LinuxSockets.UDP_NO_CHECK6_TX, 1))
                    .isZero();
            sender.send(ByteBuffer.wrap(pattern(100, 1)), new InetSocketAddress(IPV6_LOOPBACK, without.localPort()));
            sender.send(ByteBuffer.wrap(pattern(100, 1)), new InetSocketAddress(IPV6_LOOPBACK, with.localPort()));
            assertThat(receive(with, 1)).hasSize(1);
            // The contrast shows that the datagrams had no checksum.
            assertThat(without.await(100_000_000) && without.receive(frame -> {}, 1) > 0)
                    .isFalse();
        }
    }

    @Test
    void receiveBufferIsRaised() throws IOException {
        try (UdpLink link = open(LOCAL_A, 0);
                DatagramChannel plain = DatagramChannel.open()) {
            assertThat(link.receiveBufferBytes())
                    .isGreaterThanOrEqualTo(plain.getOption(java.net.StandardSocketOptions.SO_RCVBUF));
            if (LinuxSockets.available() && System.getProperty("user.name").equals("root")) {
                assertThat(link.receiveBufferBytes()).isGreaterThanOrEqualTo(4 << 20);
            }
        }
    }

    @Test
    void whatIsSentToASourcePortIsNoFrameAndNoReasonToWake() throws IOException {
        assumeTrue(LinuxSockets.available(), "no native access");
        try (UdpLink a = open(LOCAL_A, 0);
                UdpLink b = open(LOCAL_B, 0)) {
            send(b, pattern(100, 0), LOCAL_A, a.sourcePort(0));
            assertThat(a.await(50_000_000)).isFalse();
            assertThat(a.receive(frame -> {}, 1)).isZero();
        }
    }
}
