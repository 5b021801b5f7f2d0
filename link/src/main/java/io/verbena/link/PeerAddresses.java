// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.wire.Frame;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Socket addresses of destinations, so that sending allocates none. A bounded open-addressing table; when all places
 * for a key are taken, the first of them is evicted.
 */
final class PeerAddresses {
    static final int CAPACITY = 1024;
    private static final int PROBES = 8;

    private final long[] highs = new long[CAPACITY];
    private final long[] lows = new long[CAPACITY];
    private final int[] ports = new int[CAPACITY];
    private final @Nullable InetSocketAddress[] addresses = new InetSocketAddress[CAPACITY];
    private final boolean ipv4;
    private final int scopeId;

    /** The family of the socket, and the scope that link-local destinations get: that of the local address. */
    PeerAddresses(boolean ipv4, int scopeId) {
        this.ipv4 = ipv4;
        this.scopeId = scopeId;
    }

    /** Null if a socket of this family cannot send there. */
    @Nullable
    InetSocketAddress get(long high, long low, int port) {
        int home = home(high, low, port);
        for (int probe = 0; probe < PROBES; probe++) {
            int slot = (home + probe) & (CAPACITY - 1);
            InetSocketAddress address = addresses[slot];
            if (address == null) {
                return insert(slot, high, low, port);
            }
            if (lows[slot] == low && highs[slot] == high && ports[slot] == port) {
                return address;
            }
        }
        return insert(home, high, low, port);
    }

    private @Nullable InetSocketAddress insert(int slot, long high, long low, int port) {
        if (port <= 0 || port > 0xffff || Frame.isIpv4Mapped(high, low) != ipv4) {
            return null;
        }
        InetSocketAddress address = new InetSocketAddress(Addresses.of(high, low, scopeId), port);
        highs[slot] = high;
        lows[slot] = low;
        ports[slot] = port;
        addresses[slot] = address;
        return address;
    }

    private static int home(long high, long low, int port) {
        long hash = (high * 31 + low) * 31 + port;
        // Fibonacci hashing: the upper bits of the product are well mixed.
        return (int) ((hash * 0x9e3779b97f4a7c15L) >>> 48) & (CAPACITY - 1);
    }
}
