// SPDX-License-Identifier: Apache-2.0
package io.verbena.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Multicast groups of a UDP socket (ip(7), ipv6(7)), on an interface that is named by its index. Addresses are 128 bits
 * in two longs, IPv4 as {@code ::ffff:a.b.c.d}. Each returns 0 or a negative errno.
 */
public final class Multicast {
    /** {@code struct ip_mreqn}: group, local address, index. */
    static final int MREQN_BYTES = 12;
    /** {@code struct ipv6_mreq}: group, index. */
    static final int IPV6_MREQ_BYTES = 20;

    private static final ValueLayout.OfInt NET_INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong NET_LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private Multicast() {}

    /** Datagrams to groups leave through this interface. */
    public static int sendThrough(int fd, boolean ipv4, int interfaceIndex) {
        if (!ipv4) {
            return LinuxSockets.setsockopt(
                    fd, LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_MULTICAST_IF, interfaceIndex);
        }
        return setRequest(fd, LinuxSockets.IP_MULTICAST_IF, 0, interfaceIndex);
    }

    /** Makes the socket a member of the group on this interface. */
    public static int join(int fd, boolean ipv4, long high, long low, int interfaceIndex) {
        if (ipv4) {
            return setRequest(fd, LinuxSockets.IP_ADD_MEMBERSHIP, (int) low, interfaceIndex);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment request = arena.allocate(IPV6_MREQ_BYTES, 8);
            writeIpv6(request, high, low, interfaceIndex);
            return LinuxSockets.setsockopt(
                    fd, LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_ADD_MEMBERSHIP, request, IPV6_MREQ_BYTES);
        }
    }

    /**
     * The socket gets what is sent to its own memberships only. By default Linux gives it the datagrams of any
     * interface on which anybody in the host is a member of the group (for IPv6 to be changed since Linux 4.20).
     */
    public static int ownMembershipsOnly(int fd, boolean ipv4) {
        return ipv4
                ? LinuxSockets.setsockopt(fd, LinuxSockets.IPPROTO_IP, LinuxSockets.IP_MULTICAST_ALL, 0)
                : LinuxSockets.setsockopt(fd, LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_MULTICAST_ALL, 0);
    }

    private static int setRequest(int fd, int option, int group, int interfaceIndex) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment request = arena.allocate(MREQN_BYTES, 8);
            writeIpv4(request, group, interfaceIndex);
            return LinuxSockets.setsockopt(fd, LinuxSockets.IPPROTO_IP, option, request, MREQN_BYTES);
        }
    }

    static void writeIpv4(MemorySegment request, int group, int interfaceIndex) {
        request.set(NET_INT, 0, group);
        request.set(NET_INT, 4, 0);
        request.set(JAVA_INT_UNALIGNED, 8, interfaceIndex);
    }

    static void writeIpv6(MemorySegment request, long high, long low, int interfaceIndex) {
        request.set(NET_LONG, 0, high);
        request.set(NET_LONG, 8, low);
        request.set(JAVA_INT_UNALIGNED, 16, interfaceIndex);
    }
}
