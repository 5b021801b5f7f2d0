// SPDX-License-Identifier: Apache-2.0
package io.verbena.ffi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.DatagramChannel;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against the real libc. */
class LinuxSocketsTest {
    private static final long LOOPBACK = 0xffff_7f00_0001L;

    @BeforeEach
    void onlyWhereGranted() {
        assumeTrue(LinuxSockets.available(), "not 64-bit Linux, or no native access");
    }

    private static int boundSocket(Arena arena, MemorySegment name) {
        int fd = LinuxSockets.socket(
                LinuxSockets.AF_INET,
                LinuxSockets.SOCK_DGRAM | LinuxSockets.SOCK_NONBLOCK | LinuxSockets.SOCK_CLOEXEC,
                0);
        assertThat(fd).isNotNegative();
        int length = SockAddr.write(name, 0, false, 0, LOOPBACK, 0, 0);
        assertThat(LinuxSockets.bind(fd, name, length)).isZero();
        assertThat(LinuxSockets.getsockname(fd, name, arena.allocateFrom(JAVA_INT, SockAddr.IN6_BYTES)))
                .isZero();
        return fd;
    }

    @Test
    void errnoComesBackNegative() {
        assertThat(LinuxSockets.close(-1)).isEqualTo(-Errno.EBADF);
        assertThat(LinuxSockets.socket(77, 1, 0)).isEqualTo(-Errno.EAFNOSUPPORT);
        assertThat(LinuxSockets.setsockopt(0, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_RCVBUF, 1))
                .isEqualTo(-Errno.ENOTSOCK);
        assertThat(Errno.describe(Errno.ECONNREFUSED)).isEqualTo("ECONNREFUSED (connection refused)");
        assertThat(Errno.describe(12345)).isEqualTo("errno 12345");
    }

    @Test
    void sendsAndReceivesMessages() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(SockAddr.IN6_BYTES, 8);
            int fd = boundSocket(arena, name);
            assertThat(SockAddr.low(name, 0)).isEqualTo(LOOPBACK);
            int port = SockAddr.port(name, 0);
            assertThat(port).isPositive();
            MemorySegment data = arena.allocateFrom("hello");
            MemorySegment message = arena.allocate(MsgHdr.BYTES, 8);
            MsgHdr.init(message, name, MemorySegment.NULL);
            MsgHdr.lengths(message, SockAddr.IN_BYTES, 0);
            MsgHdr.data(message, data.address(), 5);
            assertThat(LinuxSockets.sendmsg(fd, message, 0)).isEqualTo(5);

            MemorySegment polls = arena.allocate(8, 8);
            polls.set(JAVA_INT, 0, fd);
            polls.set(JAVA_SHORT, 4, LinuxSockets.POLLIN);
            assertThat(LinuxSockets.ppoll(polls, 1, MemorySegment.NULL)).isOne();
            assertThat(polls.get(JAVA_SHORT, 6)).isEqualTo(LinuxSockets.POLLIN);

            data.fill((byte) 0);
            name.fill((byte) 0);
            MsgHdr.lengths(message, SockAddr.IN6_BYTES, 0);
            assertThat(LinuxSockets.recvmsg(fd, message, LinuxSockets.MSG_DONTWAIT))
                    .isEqualTo(5);
            assertThat(data.getString(0)).isEqualTo("hello");
            assertThat(SockAddr.port(name, 0)).isEqualTo(port);
            assertThat(LinuxSockets.recvmsg(fd, message, LinuxSockets.MSG_DONTWAIT))
                    .isEqualTo(-Errno.EAGAIN);
            assertThat(LinuxSockets.close(fd)).isZero();
        }
    }

    @Test
    void errorQueueNamesTheDestination() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(SockAddr.IN6_BYTES, 8);
            int closed = boundSocket(arena, name);
            int closedPort = SockAddr.port(name, 0);
            LinuxSockets.close(closed);
            int fd = boundSocket(arena, arena.allocate(SockAddr.IN6_BYTES, 8));
            assertThat(LinuxSockets.setsockopt(fd, LinuxSockets.IPPROTO_IP, LinuxSockets.IP_RECVERR, 1))
                    .isZero();
            assertThat(SocketFilter.dropAll(fd)).isZero();
            ErrorQueue queue = new ErrorQueue(arena);
            assertThat(queue.next(fd)).isFalse();
            MemorySegment data = arena.allocate(JAVA_LONG);
            MemorySegment message = arena.allocate(MsgHdr.BYTES, 8);
            MsgHdr.init(message, name, MemorySegment.NULL);
            MsgHdr.lengths(message, SockAddr.IN_BYTES, 0);
            MsgHdr.data(message, data.address(), 8);
            assertThat(LinuxSockets.sendmsg(fd, message, 0)).isEqualTo(8);
            assertThat(queue.next(fd)).isTrue();
            assertThat(queue.errno()).isEqualTo(Errno.ECONNREFUSED);
            assertThat(queue.origin()).isNotEqualTo(ErrorQueue.ORIGIN_LOCAL);
            assertThat(queue.remoteHigh()).isZero();
            assertThat(queue.remoteLow()).isEqualTo(LOOPBACK);
            assertThat(queue.remotePort()).isEqualTo(closedPort);
            assertThat(queue.next(fd)).isFalse();
            LinuxSockets.close(fd);
        }
    }

    @Test
    void eventDescriptorCounts() {
        try (Arena arena = Arena.ofConfined()) {
            int fd = LinuxSockets.eventfd(0, LinuxSockets.EFD_NONBLOCK | LinuxSockets.EFD_CLOEXEC);
            MemorySegment count = arena.allocateFrom(JAVA_LONG, 3L);
            assertThat(LinuxSockets.read(fd, arena.allocate(JAVA_LONG), 8)).isEqualTo(-Errno.EAGAIN);
            assertThat(LinuxSockets.write(fd, count, 8)).isEqualTo(8);
            assertThat(LinuxSockets.write(fd, count, 8)).isEqualTo(8);
            assertThat(LinuxSockets.read(fd, count, 8)).isEqualTo(8);
            assertThat(count.get(JAVA_LONG, 0)).isEqualTo(6);
            LinuxSockets.close(fd);
        }
    }

    @Test
    void findsTheDescriptorOfAChannelAndNoOtherProtocol() throws Exception {
        InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        try (ServerSocket tcp = new ServerSocket(0, 1, loopback);
                DatagramChannel udp = DatagramChannel.open()) {
            assertThat(UdpSocketFinder.find(0, LOOPBACK, tcp.getLocalPort())).isEqualTo(-1);
            udp.bind(new InetSocketAddress(loopback, 0));
            int port = ((InetSocketAddress) udp.getLocalAddress()).getPort();
            // A channel opened without a family is an IPv6 socket with a mapped address: it counts as the same address.
            int fd = UdpSocketFinder.find(0, LOOPBACK, port);
            assertThat(fd).isNotNegative();
            assertThat(LinuxSockets.getsockopt(fd, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_TYPE))
                    .isEqualTo(LinuxSockets.SOCK_DGRAM);
            assertThat(UdpSocketFinder.find(0, LOOPBACK + 1, port)).isEqualTo(-1);
        }
    }

    @Test
    void socketAddressesKeepTheirFields() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocate(64, 8);
            int length = SockAddr.write(segment, 4, true, 0xfe80_0000_0000_0000L, 0x1234L, 4791, 3);
            assertThat(length).isEqualTo(SockAddr.IN6_BYTES);
            assertThat(SockAddr.family(segment, 4)).isEqualTo(LinuxSockets.AF_INET6);
            assertThat(SockAddr.high(segment, 4)).isEqualTo(0xfe80_0000_0000_0000L);
            assertThat(SockAddr.low(segment, 4)).isEqualTo(0x1234L);
            assertThat(SockAddr.port(segment, 4)).isEqualTo(4791);
            assertThat(segment.get(JAVA_INT, 4 + 24)).isEqualTo(3);
            assertThat(segment.get(JAVA_BYTE, 6)).isEqualTo((byte) (4791 >> 8));
        }
    }
}
