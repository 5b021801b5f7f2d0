// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.link.Addresses;
import io.verbena.verbs.cm.PrivateData;
import io.verbena.wire.cm.IpCm;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The addresses that stand before the private data of a request (IBTA volume 1, annex A11). */
final class IpHeader {
    private IpHeader() {}

    /** The two ends of a request, seen from the side that received it. */
    record Ends(InetSocketAddress local, int remotePort) {}

    static byte[] before(PrivateData data, InetSocketAddress from, InetSocketAddress to) {
        byte[] all = new byte[IpCm.BYTES + data.length()];
        boolean four = from.getAddress() instanceof Inet4Address;
        new IpCm.Fields(
                        0,
                        four ? 4 : 6,
                        from.getPort(),
                        four ? 0 : Addresses.high(from.getAddress()),
                        low(from.getAddress()),
                        four ? 0 : Addresses.high(to.getAddress()),
                        low(to.getAddress()))
                .write(MemorySegment.ofArray(all), 0);
        System.arraycopy(data.bytes(), 0, all, IpCm.BYTES, data.length());
        return all;
    }

    private static long low(InetAddress address) {
        long low = Addresses.low(address);
        return address instanceof Inet4Address ? low & 0xffff_ffffL : low;
    }

    static PrivateData after(byte[] all) {
        return PrivateData.of(Arrays.copyOfRange(all, IpCm.BYTES, all.length));
    }

    /** Null when the header is not one for this device. */
    static @Nullable Ends read(byte[] all, InetAddress device, long serviceId) {
        IpCm.Fields fields = IpCm.Fields.read(MemorySegment.ofArray(all), 0);
        boolean four = device instanceof Inet4Address;
        if (fields.version() != 0 || fields.ipVersion() != (four ? 4 : 6)) {
            return null;
        }
        return new Ends(new InetSocketAddress(device, (int) (serviceId & 0xffff)), fields.sourcePort());
    }
}
