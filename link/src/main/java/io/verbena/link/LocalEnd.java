// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;

/** The local address of a link, as its sockets need it; {@code scopeId} is 0 unless it is a link-local one. */
record LocalEnd(
        InetAddress address, long high, long low, boolean ipv4, int scopeId, int mtu, NetworkInterface network) {
    /** Finds the address among those of this host. */
    static LocalEnd find(InetAddress wanted) throws IOException {
        if (wanted.isAnyLocalAddress()) {
            throw new IllegalArgumentException("a link needs one local address, not the wildcard");
        }
        LocalAddress found = LocalInterfaces.find(wanted).orElse(null);
        NetworkInterface network = found == null ? null : NetworkInterface.getByName(found.interfaceName());
        if (found == null || network == null) {
            throw BindErrors.notLocal(wanted);
        }
        InetAddress address = found.address();
        return new LocalEnd(
                address,
                Addresses.high(address),
                Addresses.low(address),
                address instanceof Inet4Address,
                Addresses.scopeId(address),
                found.mtu(),
                network);
    }

    ProtocolFamily family() {
        return ipv4 ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
    }
}
