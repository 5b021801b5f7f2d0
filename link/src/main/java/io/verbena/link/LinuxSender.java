// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.ffi.Errno;
import io.verbena.ffi.ErrorQueue;
import io.verbena.ffi.LinuxSockets;
import io.verbena.ffi.Multicast;
import io.verbena.ffi.SockAddr;
import io.verbena.ffi.SocketFilter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.BindException;
import java.net.SocketException;

/** A sending socket of a {@link LinuxDatagramLink}: {@link Sender} without a channel. */
final class LinuxSender {
    final int fd;
    final int port;
    private int pollsLeft;

    private LinuxSender(int fd, int port) {
        this.fd = fd;
        this.port = port;
    }

    static LinuxSender open(LocalEnd local, int index, LinkOptions options) throws IOException {
        boolean ipv4 = local.ipv4();
        int fd = socket(ipv4);
        try {
            int recvErrLevel = ipv4 ? LinuxSockets.IPPROTO_IP : LinuxSockets.IPPROTO_IPV6;
            int recvErr = ipv4 ? LinuxSockets.IP_RECVERR : LinuxSockets.IPV6_RECVERR;
            set(fd, recvErrLevel, recvErr, 1);
            check(SocketFilter.dropAll(fd), "SO_ATTACH_FILTER");
            set(fd, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_SNDBUF, options.sendBufferBytes());
            check(Multicast.sendThrough(fd, ipv4, local.network().getIndex()), "IP_MULTICAST_IF");
            int first = index * (Sender.PORTS / options.sourcePorts());
            for (int attempt = 0; attempt <= Sender.BIND_ATTEMPTS_MAX; attempt++) {
                int port = Sender.PORT_FIRST + (first + attempt) % Sender.PORTS;
                int result = bind(fd, local.high(), local.low(), local.scopeId(), ipv4, port);
                if (result == 0) {
                    return new LinuxSender(fd, port);
                }
                if (result != -Errno.EADDRINUSE) {
                    check(result, "bind");
                }
            }
            throw new BindException("no free source port from " + (Sender.PORT_FIRST + first));
        } catch (IOException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    /** As {@link Sender#channel}: unconnected and not to be fragmented, so that the identification is 0. */
    static int socket(boolean ipv4) throws IOException {
        int type = LinuxSockets.SOCK_DGRAM | LinuxSockets.SOCK_NONBLOCK | LinuxSockets.SOCK_CLOEXEC;
        int fd = check(LinuxSockets.socket(ipv4 ? LinuxSockets.AF_INET : LinuxSockets.AF_INET6, type, 0), "socket");
        try {
            if (ipv4) {
                set(fd, LinuxSockets.IPPROTO_IP, LinuxSockets.IP_MTU_DISCOVER, LinuxSockets.IP_PMTUDISC_DO);
            } else {
                set(fd, LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_V6ONLY, 1);
                set(fd, LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_MTU_DISCOVER, LinuxSockets.IP_PMTUDISC_DO);
            }
            return fd;
        } catch (IOException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    static int bind(int fd, long high, long low, int scopeId, boolean ipv4, int port) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(SockAddr.IN6_BYTES, 8);
            return LinuxSockets.bind(fd, name, SockAddr.write(name, 0, !ipv4, high, low, port, scopeId));
        }
    }

    static void set(int fd, int level, int option, int value) throws IOException {
        check(LinuxSockets.setsockopt(fd, level, option, value), "setsockopt " + level + " " + option);
    }

    static int check(int result, String call) throws IOException {
        if (result < 0) {
            throw new SocketException(call + ": " + Errno.describe(-result));
        }
        return result;
    }

    void sent() {
        pollsLeft = Sender.POLLS_AFTER_SEND;
    }

    boolean takePoll() {
        if (pollsLeft == 0) {
            return false;
        }
        pollsLeft--;
        return true;
    }

    void drainErrors(ErrorQueue queue, UnreachableReports reports) {
        for (int i = 0; i < Sender.ERRORS_PER_DRAIN_MAX && queue.next(fd); i++) {
            if (queue.errno() != 0 && queue.origin() != ErrorQueue.ORIGIN_LOCAL) {
                reports.add(queue.remoteHigh(), queue.remoteLow(), queue.remotePort(), queue.errno());
            }
        }
    }
}
