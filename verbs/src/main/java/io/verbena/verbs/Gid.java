// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.HexFormat;

/**
 * A 128-bit global identifier (IBTA volume 1, 4.1.1). On RoCE v2 it is the IPv6 address, or the IPv4 address as
 * {@code ::ffff:a.b.c.d}.
 *
 * @param high the first 64 bits in network order
 * @param low the last 64 bits
 */
public record Gid(long high, long low) {
    public static final Gid ZERO = new Gid(0, 0);

    private static final long IPV4_MAPPED = 0xffffL << 32;

    /** The GID of an IP address. */
    public static Gid of(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return address instanceof Inet4Address
                ? new Gid(0, IPV4_MAPPED | Integer.toUnsignedLong(bytes.getInt()))
                : new Gid(bytes.getLong(), bytes.getLong());
    }

    /** Parses 32 hexadecimal digits, the form that ibv_rc_pingpong and its kin exchange. */
    public static Gid ofHex(String digits) {
        if (digits.length() != 32) {
            throw new IllegalArgumentException("a GID is 32 hexadecimal digits, not \"" + digits + "\"");
        }
        return new Gid(HexFormat.fromHexDigitsToLong(digits, 0, 16), HexFormat.fromHexDigitsToLong(digits, 16, 32));
    }

    /** Whether this is an IPv4 address in its mapped form. */
    public boolean isIpv4() {
        return high == 0 && (low >>> 32) == 0xffffL;
    }

    public boolean isZero() {
        return high == 0 && low == 0;
    }

    /** The IP address of this GID. */
    public InetAddress toAddress() {
        try {
            return InetAddress.getByAddress(
                    isIpv4()
                            ? ByteBuffer.allocate(4).putInt((int) low).array()
                            : ByteBuffer.allocate(16).putLong(high).putLong(low).array());
        } catch (UnknownHostException e) {
            throw new AssertionError("4 and 16 bytes are always an address", e);
        }
    }

    /** 32 hexadecimal digits. */
    public String toHex() {
        return HexFormat.of().toHexDigits(high) + HexFormat.of().toHexDigits(low);
    }

    @Override
    public String toString() {
        String address = toAddress().getHostAddress();
        return isIpv4() ? "::ffff:" + address : address;
    }
}
