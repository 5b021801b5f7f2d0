// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.devices;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceOptions;
import io.verbena.verbs.Devices;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GidEntry;
import io.verbena.verbs.RdmaException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Opens the device for a peer when the user named none. */
public final class DevicePicker {
    private static final String ROCE_V2 = "rocev2:";
    /** How many addresses 127.0.0.1, 127.0.0.2, ... are tried. */
    static final int LOOPBACK_TRIES = 64;

    private DevicePicker() {}

    /**
     * The device that routes to a peer.
     *
     * <p>Two programs on one host cannot share an address, for one of them owns UDP port 4791 there; but each can have
     * a loopback address of its own.
     *
     * @param local this side's address of a TCP connection to the peer
     * @param remote the peer's address of it
     */
    public static DeviceContext openFor(InetAddress local, InetAddress remote) {
        return openFor(local, remote, Devices::open);
    }

    static DeviceContext openFor(
            InetAddress local, InetAddress remote, BiFunction<String, DeviceOptions, DeviceContext> opener) {
        boolean sameHost = local.isLoopbackAddress() || remote.isLoopbackAddress() || local.equals(remote);
        return sameHost
                ? openLoopback(1, DeviceOptions.defaults(), opener)
                : opener.apply(deviceName(local), DeviceOptions.defaults());
    }

    /**
     * The device of a client whose server is on this host too and has 127.0.0.1: one of another loopback address. Null
     * when the server's address leads to a device.
     */
    public static @Nullable DeviceContext openForServer(InetAddress server) {
        return server.isLoopbackAddress() && server instanceof Inet4Address
                ? openLoopback(2, DeviceOptions.defaults())
                : null;
    }

    /** The device of the first loopback address from 127.0.0.{@code first} on that nobody has. */
    public static DeviceContext openLoopback(int first, DeviceOptions options) {
        return openLoopback(first, options, Devices::open);
    }

    static DeviceContext openLoopback(
            int first, DeviceOptions options, BiFunction<String, DeviceOptions, DeviceContext> opener) {
        RdmaException last = null;
        for (int i = first; i < first + LOOPBACK_TRIES; i++) {
            try {
                return opener.apply(ROCE_V2 + "127.0.0." + i, options);
            } catch (RdmaException e) {
                if (e.reason() != RdmaException.Reason.ADDRESS_IN_USE) {
                    throw last == null ? e : new CommandFailure(explain(last) + "; then: " + explain(e), e);
                }
                last = e;
            }
        }
        throw new CommandFailure("no loopback address is free: " + LOOPBACK_TRIES + " were tried, the last: "
                + (last == null ? "none" : explain(last)));
    }

    /** The software device of an address. */
    public static String deviceName(InetAddress address) {
        String text = address.getHostAddress();
        int zone = text.indexOf('%');
        return ROCE_V2 + (zone < 0 ? text : text.substring(0, zone));
    }

    private static String explain(RdmaException failure) {
        return String.valueOf(failure.getMessage());
    }

    /**
     * The GID to be reached by.
     *
     * @param index the user's choice, or null: then the first RoCE v2 GID, an IPv4 one rather than an IPv6 one
     */
    public static GidEntry chooseGid(DeviceContext device, int port, @Nullable Integer index) {
        List<GidEntry> candidates = new ArrayList<>();
        for (GidEntry entry : device.gidTable(port)) {
            if (index != null && entry.index() == index) {
                return entry;
            }
            if (entry.type() == GidEntry.Type.ROCE_V2 && !entry.gid().isZero()) {
                candidates.add(entry);
            }
        }
        if (index != null) {
            throw new CommandFailure(device.device().name() + " has no GID at index " + index + "; those it has: "
                    + indices(device, port));
        }
        return candidates.stream()
                .filter(entry -> entry.gid().isIpv4())
                .findFirst()
                .or(() -> candidates.stream().findFirst())
                .orElseThrow(() -> new CommandFailure(device.device().name() + " has no GID for RoCE v2"));
    }

    private static List<Integer> indices(DeviceContext device, int port) {
        return device.gidTable(port).stream().map(GidEntry::index).toList();
    }

    /** Refuses a pair of GIDs between which no packet can travel. */
    public static void requireReachable(Gid local, Gid remote, String peer) {
        if (remote.isZero()) {
            throw new CommandFailure("the peer at " + peer
                    + " told no GID, and RoCE needs one: start it with a GID index"
                    + " (-g 1 for ibv_rc_pingpong, -x 1 for ib_*)");
        }
        if (local.isIpv4() != remote.isIpv4()) {
            throw new CommandFailure("the peer at " + peer + " uses " + family(remote) + " (" + remote + "), this side "
                    + family(local) + " (" + local + "); choose another device or GID index on one of them");
        }
    }

    private static String family(Gid gid) {
        return gid.isIpv4() ? "IPv4" : "IPv6";
    }
}
