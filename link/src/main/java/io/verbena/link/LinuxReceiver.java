// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.verbena.ffi.Errno;
import io.verbena.ffi.LinuxSockets;
import io.verbena.ffi.Multicast;
import io.verbena.ffi.SockAddr;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.BindException;

/** A receiving socket of a {@link LinuxDatagramLink}. */
final class LinuxReceiver extends ReceivingSocket {
    final int fd;
    final int port;
    /** Whether UDP checksum 0 over IPv6 is accepted. */
    final boolean zeroChecksum;
    /** That there may be something to read; of use for groups only, see {@link LinuxGroups}. */
    boolean ready;

    private LinuxReceiver(int fd, long high, long low, int port, boolean zeroChecksum) {
        super(high, low);
        this.fd = fd;
        this.port = port;
        this.zeroChecksum = zeroChecksum;
    }

    static LinuxReceiver open(LocalEnd local, int wantedPort, LinkOptions options) throws IOException {
        int fd = LinuxSender.socket(local.ipv4());
        try {
            boolean zeroChecksum = configure(fd, local.ipv4(), options.receiveBufferBytes());
            int result = LinuxSender.bind(fd, local.high(), local.low(), local.scopeId(), local.ipv4(), wantedPort);
            if (result == -Errno.EADDRINUSE || result == -Errno.EACCES || result == -Errno.EPERM) {
                String text = result == -Errno.EADDRINUSE ? "Address already in use" : "Permission denied";
                throw BindErrors.explain(local.address(), wantedPort, new BindException(text));
            }
            LinuxSender.check(result, "bind");
            return new LinuxReceiver(fd, local.high(), local.low(), boundPort(fd), zeroChecksum);
        } catch (IOException | RuntimeException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    /** For a multicast group, on the interface of the local address. */
    static LinuxReceiver openGroup(LocalEnd local, long high, long low, int port, LinkOptions options)
            throws IOException {
        boolean ipv4 = local.ipv4();
        int index = local.network().getIndex();
        int fd = -1;
        try {
            fd = LinuxSender.socket(ipv4);
            boolean zeroChecksum = configure(fd, ipv4, Math.min(options.receiveBufferBytes(), GROUP_BUFFER_BYTES_MAX));
            // Each link of this host that joins the group gets a copy of what is sent to it.
            LinuxSender.set(fd, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_REUSEADDR, 1);
            Multicast.ownMembershipsOnly(fd, ipv4);
            LinuxSender.check(LinuxSender.bind(fd, high, low, index, ipv4, port), "bind");
            LinuxSender.check(Multicast.join(fd, ipv4, high, low, index), "join");
            return new LinuxReceiver(fd, high, low, port, zeroChecksum);
        } catch (IOException e) {
            if (fd >= 0) {
                LinuxSockets.close(fd);
            }
            throw GroupErrors.explain(local, Addresses.of(high, low, 0), port, e);
        }
    }

    /** Whether UDP checksum 0 over IPv6 is accepted. */
    private static boolean configure(int fd, boolean ipv4, int bufferBytes) throws IOException {
        LinuxSender.set(fd, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_RCVBUF, bufferBytes);
        if (LinuxSockets.getsockopt(fd, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_RCVBUF) < bufferBytes) {
            NativeExtras.forceReceiveBuffer(fd, bufferBytes);
        }
        // Before Linux 5.0 there is no UDP_GRO; single datagrams come as well.
        LinuxSockets.setsockopt(fd, LinuxSockets.IPPROTO_UDP, LinuxSockets.UDP_GRO, 1);
        if (ipv4) {
            LinuxSender.set(fd, LinuxSockets.IPPROTO_IP, LinuxSockets.IP_RECVTOS, 1);
            return false;
        }
        LinuxSender.set(fd, LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_RECVTCLASS, 1);
        return NativeExtras.acceptZeroChecksum(fd);
    }

    private static int boundPort(int fd) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(SockAddr.IN6_BYTES, 8);
            MemorySegment length = arena.allocateFrom(JAVA_INT, SockAddr.IN6_BYTES);
            LinuxSender.check(LinuxSockets.getsockname(fd, name, length), "getsockname");
            return SockAddr.port(name, 0);
        }
    }

    @Override
    void close() {
        LinuxSockets.close(fd);
    }
}
