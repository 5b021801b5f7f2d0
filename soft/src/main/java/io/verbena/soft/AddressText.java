// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.verbs.Gid;
import io.verbena.wire.net.Ipv6;
import java.net.Inet6Address;
import java.net.InetAddress;

/** Addresses as people write them: IPv6 in its short form (RFC 5952), with a scope only where one is needed. */
final class AddressText {
    private AddressText() {}

    static String of(InetAddress address) {
        if (!(address instanceof Inet6Address six)) {
            return address.getHostAddress();
        }
        String full = six.getHostAddress();
        int scope = full.indexOf('%');
        String suffix = scope >= 0 && six.isLinkLocalAddress() ? full.substring(scope) : "";
        Gid gid = Gid.of(six);
        return Ipv6.format(gid.high(), gid.low()) + suffix;
    }
}
