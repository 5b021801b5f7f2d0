// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.wire.Frame;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.channels.DatagramChannel;
import java.util.Locale;

/** Says why a multicast group cannot be joined, and what to do. */
final class GroupErrors {
    private GroupErrors() {}

    /** Throws unless the link can join such a group. */
    static void check(LocalEnd local, long high, long low) throws IOException {
        String group = Addresses.of(high, low, 0).getHostAddress();
        if (!Addresses.isMulticast(high, low)) {
            throw new IOException(group + " is no multicast address: take one of 224.0.0.0/4 or ff00::/8");
        }
        if (Frame.isIpv4Mapped(high, low) != local.ipv4()) {
            throw new IOException("the link on " + local.address().getHostAddress() + " can join "
                    + (local.ipv4() ? "IPv4" : "IPv6") + " groups only, not " + group);
        }
        if (!local.ipv4() && local.address().isLoopbackAddress()) {
            checkRoute(local, Addresses.of(high, low, local.network().getIndex()));
        }
    }

    /**
     * Linux gives its loopback interface no route for IPv6 multicast: a group could be joined there, but nothing be
     * sent to it. A socket is connected to find out, which sends nothing.
     */
    private static void checkRoute(LocalEnd local, InetAddress group) throws IOException {
        try (DatagramChannel probe = DatagramChannel.open()) {
            probe.bind(new InetSocketAddress(local.address(), 0));
            probe.connect(new InetSocketAddress(group, 1));
        } catch (SocketException e) {
            String name = local.network().getName();
            throw new IOException(
                    "multicast over " + local.address().getHostAddress() + " has no route ("
                            + e.getMessage() + "): run \"ip -6 route add local ff00::/8 dev " + name
                            + " table local\" as root, or use 127.0.0.1 or an address of a network",
                    e);
        }
    }

    static IOException explain(LocalEnd local, InetAddress group, int port, IOException cause) {
        String text = String.valueOf(cause.getMessage());
        String name = local.network().getName();
        String lower = text.toLowerCase(Locale.ROOT);
        String what = "cannot join " + group.getHostAddress() + " on " + name + ": " + text + ". ";
        if (lower.contains("in use")) {
            String holder = PortOwner.describe(group, port).orElse("another socket");
            return new PortInUseException(
                    what + "UDP port " + port + " of the group is held by " + holder
                            + ", which does not share it (SO_REUSEADDR): stop that, or take another group",
                    cause);
        }
        String remedy = "";
        if (lower.contains("no buffer space")) {
            remedy = "Raise net.ipv4.igmp_max_memberships or net.core.optmem_max";
        } else if (lower.contains("no such device")) {
            remedy = "The interface is gone, or takes no multicast: ip link set " + name + " multicast on";
        } else if (lower.contains("too many open files")) {
            remedy = "Each group takes a file descriptor: raise the limit (ulimit -n)";
        }
        return new IOException(what + remedy, cause);
    }
}
