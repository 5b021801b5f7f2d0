// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static io.verbena.link.LinkTesting.IPV6_LOOPBACK;
import static io.verbena.link.LinkTesting.LOCAL_A;
import static io.verbena.link.LinkTesting.LOCAL_B;
import static io.verbena.link.LinkTesting.SECOND;
import static io.verbena.link.LinkTesting.address;
import static io.verbena.link.LinkTesting.pattern;
import static io.verbena.link.LinkTesting.receive;
import static io.verbena.link.LinkTesting.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.ffi.LinuxSockets;
import io.verbena.link.LinkTesting.Received;
import io.verbena.wire.Frame;
import io.verbena.wire.net.Ethernet;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.pcap.LinkTypes;
import io.verbena.wire.pcap.PcapNgWriter;
import io.verbena.wire.pcap.PcapReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class MulticastTest {
    private static final InetAddress GROUP = address("239.77.0.1");
    private static final InetAddress OTHER_GROUP = address("239.77.0.2");
    /** Interface-local: it leaves no host. */
    private static final InetAddress IPV6_GROUP = address("ff01::4d:1");

    @TempDir
    private Path directory;

    enum Kind {
        NIO {
            @Override
            UdpLink open(InetAddress local, int port) throws IOException {
                return NioDatagramLink.open(local, port);
            }
        },
        LINUX {
            @Override
            UdpLink open(InetAddress local, int port) throws IOException {
                assumeTrue(LinuxSockets.available(), "no native access");
                return LinuxDatagramLink.open(local, port);
            }
        };

        abstract UdpLink open(InetAddress local, int port) throws IOException;
    }

    private static void join(DatagramLink link, InetAddress group) throws IOException {
        link.joinGroup(Addresses.high(group), Addresses.low(group));
    }

    private static void leave(DatagramLink link, InetAddress group) throws IOException {
        link.leaveGroup(Addresses.high(group), Addresses.low(group));
    }

    /** What has arrived, after something that surely came later. */
    private static List<Received> untilMarker(DatagramLink link, UdpLink sender, UdpLink to) throws IOException {
        byte[] marker = pattern(33, 99);
        send(sender, marker, to.localAddress(), to.localPort());
        List<Received> arrived = new ArrayList<>();
        boolean[] seen = new boolean[1];
        while (!seen[0] && link.await(2 * SECOND)) {
            link.receive(
                    frame -> {
                        Received received = Received.of(frame);
                        if (Arrays.equals(received.bytes(), marker)) {
                            seen[0] = true;
                        } else {
                            arrived.add(received);
                        }
                    },
                    64);
        }
        assertThat(seen[0]).as("marker arrived").isTrue();
        // Sockets are read in any order: once more for those whose turn came before.
        link.receive(frame -> arrived.add(Received.of(frame)), 64);
        return arrived;
    }

    @ParameterizedTest
    @EnumSource
    void ownFramesComeBack(Kind kind) throws IOException {
        try (UdpLink a = kind.open(LOCAL_A, 0)) {
            join(a, GROUP);
            for (int length = 16; length <= 4112; length += 512) {
                send(a, pattern(length, 1), GROUP, a.localPort());
                Received one = receive(a, 1).getFirst();
                assertThat(one.bytes()).isEqualTo(pattern(length, 1));
                assertThat(one.local()).isEqualTo(GROUP);
                assertThat(one.localPort()).isEqualTo(a.localPort());
                assertThat(one.remote()).isEqualTo(LOCAL_A);
                assertThat(one.remotePort()).isEqualTo(a.sourcePort(0));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyMemberGetsOneCopyAndOthersNone(Kind kind) throws IOException {
        try (UdpLink a = kind.open(LOCAL_A, 0);
                UdpLink b = kind.open(LOCAL_B, a.localPort());
                UdpLink c = Kind.NIO.open(address("127.77.0.3"), a.localPort());
                UdpLink stranger = kind.open(address("127.77.0.4"), a.localPort())) {
            join(b, GROUP);
            // Twice is once.
            join(b, GROUP);
            join(c, GROUP);
            join(stranger, OTHER_GROUP);
            for (int i = 0; i < 20; i++) {
                send(a, pattern(300, i), GROUP, a.localPort());
            }
            for (UdpLink member : List.of(b, c)) {
                List<Received> arrived = receive(member, 20);
                assertThat(arrived).hasSize(20);
                for (int i = 0; i < 20; i++) {
                    assertThat(arrived.get(i).bytes()).isEqualTo(pattern(300, i));
                    assertThat(arrived.get(i).local()).isEqualTo(GROUP);
                    assertThat(arrived.get(i).remote()).isEqualTo(LOCAL_A);
                }
                assertThat(untilMarker(member, a, member)).isEmpty();
            }
            assertThat(untilMarker(stranger, a, stranger)).isEmpty();
            assertThat(untilMarker(a, b, a)).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void leaveStopsDelivery(Kind kind) throws IOException {
        try (UdpLink a = kind.open(LOCAL_A, 0);
                UdpLink b = kind.open(LOCAL_B, a.localPort())) {
            join(b, GROUP);
            join(b, OTHER_GROUP);
            send(a, pattern(100, 1), GROUP, a.localPort());
            assertThat(receive(b, 1)).hasSize(1);
            // What has arrived before and not been asked for is gone too.
            send(a, pattern(100, 2), GROUP, a.localPort());
            leave(b, GROUP);
            leave(b, GROUP);
            send(a, pattern(100, 3), GROUP, a.localPort());
            send(a, pattern(100, 4), OTHER_GROUP, a.localPort());
            assertThat(receive(b, 1).getFirst().local()).isEqualTo(OTHER_GROUP);
            assertThat(untilMarker(b, a, b)).isEmpty();
            join(b, GROUP);
            send(a, pattern(100, 5), GROUP, a.localPort());
            assertThat(receive(b, 1).getFirst().bytes()).isEqualTo(pattern(100, 5));
        }
    }

    /** A run of frames is taken from the socket at once: the rest of it is not handed over either. */
    @ParameterizedTest
    @EnumSource
    void leaveWithinAFrameEndsIt(Kind kind) throws IOException {
        try (UdpLink a = kind.open(LOCAL_A, 0)) {
            join(a, GROUP);
            Frame frame = new Frame();
            for (int i = 0; i < 10; i++) {
                while (!LinkTesting.trySend(a, frame, pattern(500, i), GROUP, a.localPort(), 0)) {
                    a.await(SECOND);
                }
            }
            a.flush();
            int[] count = new int[1];
            while (count[0] == 0 && a.await(SECOND)) {
                a.receive(
                        f -> {
                            count[0]++;
                            try {
                                leave(a, GROUP);
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        },
                        64);
            }
            assertThat(count[0]).isOne();
            assertThat(untilMarker(a, a, a)).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void groupFrameWakesAwaitEvenOfAGroupJoinedMeanwhile(Kind kind) throws Exception {
        try (UdpLink a = kind.open(LOCAL_A, 0);
                UdpLink b = kind.open(LOCAL_B, a.localPort())) {
            FutureTask<List<Received>> waiter = new FutureTask<>(() -> {
                List<Received> arrived = new ArrayList<>();
                while (arrived.isEmpty() && b.await(20 * SECOND)) {
                    b.receive(frame -> arrived.add(Received.of(frame)), 1);
                }
                return arrived;
            });
            Thread.ofPlatform().start(waiter);
            Thread.sleep(20);
            join(b, GROUP);
            Thread.sleep(20);
            send(a, pattern(64, 7), GROUP, a.localPort());
            assertThat(waiter.get(5, TimeUnit.SECONDS)).hasSize(1);
            assertThat(b.await(1_000_000)).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void floodOfOneAddressDoesNotStarveAnother(Kind kind) throws IOException {
        try (UdpLink a = kind.open(LOCAL_A, 0);
                UdpLink b = kind.open(LOCAL_B, a.localPort())) {
            join(b, GROUP);
            join(b, OTHER_GROUP);
            List<InetAddress> targets = List.of(LOCAL_B, GROUP, OTHER_GROUP);
            for (InetAddress flooded : targets) {
                for (int i = 0; i < 60; i++) {
                    send(a, pattern(200, i), flooded, a.localPort());
                }
                for (InetAddress quiet : targets) {
                    send(a, pattern(100, 1), quiet, a.localPort());
                }
                List<Received> first = new ArrayList<>();
                for (int batch = 0; batch < 6; batch++) {
                    b.receive(frame -> first.add(Received.of(frame)), 4);
                }
                assertThat(first).extracting(Received::local).containsAll(targets);
                assertThat(receive(b, 63 - first.size())).hasSize(63 - first.size());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void ipv6GroupsWorkOnANetwork(Kind kind) throws IOException {
        List<LocalAddress> locals = LocalInterfaces.list().stream()
                .filter(local ->
                        local.up() && !local.loopback() && local.address().getAddress().length == 16)
                .toList();
        assumeTrue(!locals.isEmpty(), "no IPv6 network here");
        for (LocalAddress local : locals) {
            try (UdpLink a = kind.open(local.address(), 0)) {
                join(a, IPV6_GROUP);
                send(a, pattern(1000, 1), IPV6_GROUP, a.localPort());
                Received one = receive(a, 1).getFirst();
                assertThat(one.bytes()).isEqualTo(pattern(1000, 1));
                assertThat(one.local()).isEqualTo(IPV6_GROUP);
                assertThat(one.remote().getAddress()).isEqualTo(local.address().getAddress());
                leave(a, IPV6_GROUP);
                send(a, pattern(1000, 2), IPV6_GROUP, a.localPort());
                assertThat(untilMarker(a, a, a)).isEmpty();
            }
        }
    }

    /** Linux has no multicast route on its IPv6 loopback interface unless somebody adds it. */
    @ParameterizedTest
    @EnumSource
    void ipv6LoopbackWorksOrSaysWhatToDo(Kind kind) throws IOException {
        assumeTrue(LocalInterfaces.find(IPV6_LOOPBACK).isPresent(), "no IPv6 here");
        try (UdpLink a = kind.open(IPV6_LOOPBACK, 0)) {
            try {
                join(a, IPV6_GROUP);
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("ip -6 route add local ff00::/8 dev lo table local");
                return;
            }
            send(a, pattern(100, 1), IPV6_GROUP, a.localPort());
            assertThat(receive(a, 1).getFirst().local()).isEqualTo(IPV6_GROUP);
        }
    }

    @ParameterizedTest
    @EnumSource
    void refusalsSayWhy(Kind kind) throws IOException {
        UdpLink a = kind.open(LOCAL_A, 0);
        try (DatagramSocket holder = new DatagramSocket(null)) {
            assertThatThrownBy(() -> join(a, LOCAL_B))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("224.0.0.0/4");
            assertThatThrownBy(() -> join(a, IPV6_GROUP))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("IPv4");
            holder.setReuseAddress(false);
            holder.bind(new InetSocketAddress(GROUP, a.localPort()));
            assertThatThrownBy(() -> join(a, GROUP))
                    .isInstanceOf(PortInUseException.class)
                    .hasMessageContaining("239.77.0.1")
                    .hasMessageContaining("pid " + ProcessHandle.current().pid());
            join(a, OTHER_GROUP);
            send(a, pattern(50, 1), OTHER_GROUP, a.localPort());
            assertThat(receive(a, 1)).hasSize(1);
        } finally {
            a.close();
        }
        assertThatThrownBy(() -> join(a, GROUP)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> leave(a, GROUP)).isInstanceOf(ClosedChannelException.class);
    }

    @ParameterizedTest
    @EnumSource
    void groupsAreBoundedAndLeftOnesLeaveNothingBehind(Kind kind) throws IOException {
        try (UdpLink a = kind.open(LOCAL_A, 0)) {
            for (int i = 0; i < 256; i++) {
                a.joinGroup(0, Addresses.low(address("239.78.0." + i)));
            }
            assertThatThrownBy(() -> join(a, GROUP))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("256");
            InetAddress last = address("239.78.0.255");
            send(a, pattern(100, 1), last, a.localPort());
            assertThat(receive(a, 1).getFirst().local()).isEqualTo(last);
            long before = descriptors();
            for (int i = 0; i < 256; i++) {
                a.leaveGroup(0, Addresses.low(address("239.78.0." + i)));
            }
            for (int i = 0; i < 300; i++) {
                join(a, GROUP);
                leave(a, GROUP);
            }
            if (before > 0) {
                assertThat(descriptors()).isLessThan(before - 200);
            }
        }
    }

    private static long descriptors() throws IOException {
        Path own = Path.of("/proc/self/fd");
        if (!Files.isDirectory(own)) {
            return 0;
        }
        try (Stream<Path> all = Files.list(own)) {
            return all.count();
        }
    }

    @ParameterizedTest
    @EnumSource
    void closeFreesTheGroupSocket(Kind kind) throws IOException {
        int port;
        try (UdpLink a = kind.open(LOCAL_A, 0)) {
            port = a.localPort();
            join(a, GROUP);
        }
        try (DatagramChannel alone = DatagramChannel.open()) {
            // Without SO_REUSEADDR this needs the port for itself.
            alone.bind(new InetSocketAddress(GROUP, port));
            assertThat(alone.isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void captureShowsTheGroup(Kind kind) throws IOException {
        Path file = directory.resolve(kind + ".pcapng");
        try (UdpLink plain = kind.open(LOCAL_A, 0);
                CapturingLink a = new CapturingLink(
                        new FaultyLink(plain, FaultOptions.seed(1)),
                        new PcapNgWriter(Files.newOutputStream(file), LinkTypes.ETHERNET))) {
            join(a, GROUP);
            send(a, pattern(100, 1), GROUP, plain.localPort());
            assertThat(receive(a, 1)).hasSize(1);
            leave(a, GROUP);
            send(a, pattern(100, 2), GROUP, plain.localPort());
        }
        int count = 0;
        try (PcapReader reader = new PcapReader(Files.newInputStream(file))) {
            for (PcapReader.Packet packet = reader.next(); packet != null; packet = reader.next()) {
                count++;
                assertThat(Ethernet.destination(packet.bytes(), 0)).isEqualTo(0x0100_5e4d_0001L);
                assertThat(Ipv4.destination(packet.bytes(), Ethernet.BYTES)).isEqualTo(0xef4d_0001);
                assertThat(Ipv4.source(packet.bytes(), Ethernet.BYTES)).isEqualTo(0x7f4d_0001);
                assertThat(Ipv4.timeToLive(packet.bytes(), Ethernet.BYTES)).isOne();
            }
        }
        assertThat(count).isEqualTo(3);
    }

    @Test
    void linkWithoutMulticastSaysSo() {
        DatagramLink none = (DatagramLink) Proxy.newProxyInstance(
                DatagramLink.class.getClassLoader(),
                new Class<?>[] {DatagramLink.class},
                InvocationHandler::invokeDefault);
        assertThatThrownBy(() -> join(none, GROUP))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no multicast");
        assertThatThrownBy(() -> leave(none, GROUP))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no multicast");
    }
}
