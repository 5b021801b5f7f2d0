// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.wire.Frame;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/** {@link InetAddress} and the two longs of {@link Frame}, both ways. These allocate: not for the path of a frame. */
public final class Addresses {
    private static final long IPV4_MAPPED = 0xffffL << 32;

    private Addresses() {}

    public static long high(InetAddress address) {
        return address instanceof Inet6Address
                ? ByteBuffer.wrap(address.getAddress()).getLong(0)
                : 0L;
    }

    public static long low(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return address instanceof Inet4Address
                ? IPV4_MAPPED | Integer.toUnsignedLong(bytes.getInt(0))
                : bytes.getLong(Long.BYTES);
    }

    /** Whether the address is of a group: 224.0.0.0/4 or ff00::/8. */
    static boolean isMulticast(long high, long low) {
        return Frame.isIpv4Mapped(high, low) ? ((int) low >>> 28) == 0xe : (high >>> 56) == 0xff;
    }

    /** The scope is used for link-local IPv6 addresses (fe80::/10) and groups only; 0 if there is none. */
    public static InetAddress of(long high, long low, int scopeId) {
        try {
            if (Frame.isIpv4Mapped(high, low)) {
                return InetAddress.getByAddress(
                        ByteBuffer.allocate(Integer.BYTES).putInt((int) low).array());
            }
            byte[] bytes = ByteBuffer.allocate(2 * Long.BYTES)
                    .putLong(high)
                    .putLong(low)
                    .array();
            boolean scoped = (high >>> 54) == (0xfe80L >>> 6) || isMulticast(high, low);
            return scoped && scopeId != 0
                    ? Inet6Address.getByAddress(null, bytes, scopeId)
                    : InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("thrown for wrong lengths only", e);
        }
    }

    static int scopeId(InetAddress address) {
        return address instanceof Inet6Address ipv6 ? ipv6.getScopeId() : 0;
    }
}
