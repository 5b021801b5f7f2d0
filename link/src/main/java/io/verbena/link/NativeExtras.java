// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.ffi.Errno;
import io.verbena.ffi.LinuxSockets;
import io.verbena.ffi.SocketFilter;
import io.verbena.ffi.UdpSocketFinder;

/**
 * Socket options that Java has no name for, set on the descriptors below its channels. Each answers whether it worked.
 */
final class NativeExtras {
    private static final System.Logger LOG = System.getLogger("io.verbena.link");

    private NativeExtras() {}

    /** The descriptor of the channel bound there, or -1. */
    static int descriptor(long high, long low, int port) {
        int fd = UdpSocketFinder.find(high, low, port);
        if (fd < 0) {
            LOG.log(System.Logger.Level.DEBUG, "no native access to sockets: the link works with less");
        }
        return fd;
    }

    /** Accepts UDP checksum 0 over IPv6 (RFC 6935), which an ordinary socket drops and rdma_rxe sends. */
    static boolean acceptZeroChecksum(int fd) {
        return set(fd, LinuxSockets.IPPROTO_UDP, LinuxSockets.UDP_NO_CHECK6_RX, 1, "UDP_NO_CHECK6_RX");
    }

    /** Goes past net.core.rmem_max, which takes CAP_NET_ADMIN. */
    static boolean forceReceiveBuffer(int fd, int bytes) {
        return set(fd, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_RCVBUFFORCE, bytes, "SO_RCVBUFFORCE");
    }

    /** Has ICMP errors put on the error queue of the socket, with the destination they are about. */
    static boolean queueErrors(int fd, boolean ipv4) {
        return ipv4
                ? set(fd, LinuxSockets.IPPROTO_IP, LinuxSockets.IP_RECVERR, 1, "IP_RECVERR")
                : set(fd, LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_RECVERR, 1, "IPV6_RECVERR");
    }

    /**
     * Drops what is sent to a sending socket, so that it is readable for errors only and its buffer has room for them.
     */
    static boolean dropIncoming(int fd) {
        return worked(SocketFilter.dropAll(fd), "SO_ATTACH_FILTER");
    }

    private static boolean set(int fd, int level, int option, int value, String name) {
        return worked(LinuxSockets.setsockopt(fd, level, option, value), name);
    }

    private static boolean worked(int result, String name) {
        if (result < 0) {
            LOG.log(System.Logger.Level.DEBUG, "setsockopt {0}: {1}", name, Errno.describe(-result));
        }
        return result >= 0;
    }
}
