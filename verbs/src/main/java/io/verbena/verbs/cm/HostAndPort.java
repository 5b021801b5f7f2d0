// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** An address as people write it: {@code host:port}, {@code [2001:db8::1]:port}. */
final class HostAndPort {
    private HostAndPort() {}

    /** The text of an address; {@code -} for none. */
    static String of(@Nullable InetSocketAddress address) {
        if (address == null) {
            return "-";
        }
        String host = address.getHostString();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
    }
}
