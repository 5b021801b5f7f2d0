// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.link.LocalAddress;
import io.verbena.link.LocalInterfaces;
import io.verbena.transport.encap.Path;
import io.verbena.verbs.RdmaException;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which devices an id of the connection manager may use: those that were named, or any of this host. Who got one gives
 * it back to {@link OpenDevices#release}.
 */
final class DeviceChoice {
    private final List<SoftContext> named;

    DeviceChoice(List<SoftContext> named) {
        this.named = List.copyOf(named);
    }

    /** The driver in whose virtual time the devices live, or null. */
    @Nullable
    AgentDriver steppingDriver() {
        AgentDriver driver = named.isEmpty() ? null : named.getFirst().agent().driver();
        return driver instanceof SteppingDriver ? driver : null;
    }

    /**
     * The device that leads to an address.
     *
     * @param source the local address to use, or null
     */
    SoftContext toward(@Nullable InetAddress source, InetAddress target) {
        if (source != null && !source.isAnyLocalAddress()) {
            return at(source);
        }
        if (named.isEmpty()) {
            return at(routeTo(target));
        }
        List<SoftContext> family = named.stream()
                .filter(context -> context.localAddress() instanceof Inet4Address == target instanceof Inet4Address)
                .toList();
        if (family.size() == 1) {
            return used(family.getFirst());
        }
        if (family.isEmpty()) {
            throw none(target);
        }
        InetAddress local = routeTo(target);
        return used(family.stream()
                .filter(context -> context.localAddress().equals(local))
                .findFirst()
                .orElse(family.getFirst()));
    }

    /** The device of a local address. */
    SoftContext at(InetAddress local) {
        if (named.isEmpty()) {
            return OpenDevices.SHARED.acquire(local);
        }
        return used(named.stream()
                .filter(context -> context.localAddress().equals(local))
                .findFirst()
                .orElseThrow(() -> none(local)));
    }

    /** All devices that a wildcard address stands for: an IPv6 one for all, an IPv4 one for those of IPv4. */
    List<SoftContext> all(InetAddress wildcard) {
        List<SoftContext> all = new ArrayList<>();
        if (!named.isEmpty()) {
            named.stream()
                    .filter(context -> covers(wildcard, context.localAddress()))
                    .forEach(context -> all.add(used(context)));
            return all;
        }
        RdmaException last = null;
        for (LocalAddress local : interfaces()) {
            if (covers(wildcard, local.address())) {
                try {
                    all.add(OpenDevices.SHARED.acquire(local.address()));
                } catch (RdmaException e) {
                    // Another process has this one; the others still count.
                    last = e;
                }
            }
        }
        if (all.isEmpty() && last != null) {
            throw last;
        }
        return all;
    }

    private static boolean covers(InetAddress wildcard, InetAddress address) {
        return !(wildcard instanceof Inet4Address) || address instanceof Inet4Address;
    }

    private static List<LocalAddress> interfaces() {
        try {
            return LocalInterfaces.list().stream().filter(LocalAddress::up).toList();
        } catch (IOException e) {
            throw new RdmaException(
                    RdmaException.Reason.IO, "cannot list the network interfaces: " + e.getMessage(), e);
        }
    }

    /** The local address from which the system's routes lead to the target. */
    private static InetAddress routeTo(InetAddress target) {
        try (DatagramChannel probe = DatagramChannel.open()) {
            probe.connect(new InetSocketAddress(target, Path.ROCE_V2_PORT));
            return ((InetSocketAddress) probe.getLocalAddress()).getAddress();
        } catch (IOException e) {
            throw new RdmaException(
                    RdmaException.Reason.UNREACHABLE,
                    "no route leads to " + AddressText.of(target) + ": " + e.getMessage(),
                    e);
        }
    }

    private static SoftContext used(SoftContext context) {
        context.connections().use();
        return context;
    }

    private RdmaException none(InetAddress address) {
        return new RdmaException(
                RdmaException.Reason.NOT_FOUND,
                "none of the devices "
                        + named.stream().map(context -> context.device().name()).toList() + " leads to or has "
                        + AddressText.of(address));
    }
}
