// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** The addresses of this host that a link can use. */
public final class LocalInterfaces {
    private static final boolean LINUX = System.getProperty("os.name", "").equals("Linux");
    private static final Comparator<LocalAddress> ORDER = Comparator.comparing(
                    (LocalAddress local) -> !local.loopback())
            .thenComparing(LocalAddress::interfaceName)
            .thenComparing(local -> !(local.address() instanceof Inet4Address))
            .thenComparing(local -> local.address().getHostAddress());

    private LocalInterfaces() {}

    /** All addresses of all interfaces, loopback first, then by name of interface. */
    public static List<LocalAddress> list() throws IOException {
        List<LocalAddress> all = new ArrayList<>();
        for (NetworkInterface network : NetworkInterface.networkInterfaces().toList()) {
            try {
                boolean loopback = network.isLoopback();
                boolean up = network.isUp();
                int mtu = network.getMTU();
                network.inetAddresses()
                        .forEach(address -> all.add(new LocalAddress(address, network.getName(), mtu, loopback, up)));
            } catch (SocketException e) {
                System.getLogger("io.verbena.link")
                        .log(System.Logger.Level.DEBUG, "interface {0} went away", network.getName());
            }
        }
        all.sort(ORDER);
        return List.copyOf(all);
    }

    /**
     * The entry for an address, with its scope filled in if it is a link-local one given without. All of 127.0.0.0/8 is
     * local on Linux, though only 127.0.0.1 is listed.
     */
    public static Optional<LocalAddress> find(InetAddress address) throws IOException {
        List<LocalAddress> all = list();
        for (LocalAddress local : all) {
            int wantedScope = Addresses.scopeId(address);
            if (local.address().equals(address)
                    && (wantedScope == 0 || wantedScope == Addresses.scopeId(local.address()))) {
                return Optional.of(local);
            }
        }
        if (LINUX && address instanceof Inet4Address && address.isLoopbackAddress()) {
            return all.stream()
                    .filter(local -> local.loopback() && local.address() instanceof Inet4Address)
                    .findFirst()
                    .map(local -> new LocalAddress(address, local.interfaceName(), local.mtu(), true, local.up()));
        }
        return Optional.empty();
    }
}
