// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.encap;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.verbena.wire.Frame;
import io.verbena.wire.ib.Icrc;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.net.Ipv6;
import io.verbena.wire.net.Udp;
import java.lang.foreign.MemorySegment;

/**
 * RoCE v2 on a UDP socket (IBTA volume 1, annex A17): the frame is the UDP payload, BTH to ICRC; the kernel makes the
 * headers that the ICRC covers, so they are computed from the addressing.
 */
public final class RoceV2 implements Encapsulation {
    /** What a socket does not tell of a received datagram. */
    private static final int HOP_LIMIT = 64;

    private final Icrc icrc = new Icrc();

    @Override
    public int headroom() {
        return 0;
    }

    @Override
    public int trailer() {
        return Icrc.BYTES;
    }

    @Override
    public boolean open(Frame frame) {
        return icrc.verifyRocev2(frame);
    }

    @Override
    public void globalRouteHeader(Frame frame, MemorySegment out, long offset) {
        int udpBytes = Udp.BYTES + frame.length();
        boolean ipv4 = frame.localHigh() == 0 && frame.localLow() >>> 32 == 0xffff;
        if (ipv4) {
            int from = (int) frame.remoteLow();
            int to = (int) frame.localLow();
            int bytes = Ipv4.BYTES + udpBytes;
            long header = offset + Ipv6.BYTES - Ipv4.BYTES;
            for (long at = offset; at < header; at += Integer.BYTES) {
                out.set(JAVA_INT_UNALIGNED, at, 0);
            }
            int id = Math.max(0, frame.ipId());
            Ipv4.write(out, header, frame.trafficClass(), bytes, id, true, HOP_LIMIT, Ipv4.PROTOCOL_UDP, from, to);
        } else {
            Ipv6.write(
                    out,
                    offset,
                    frame.trafficClass(),
                    0,
                    udpBytes,
                    Ipv4.PROTOCOL_UDP,
                    HOP_LIMIT,
                    frame.remoteHigh(),
                    frame.remoteLow(),
                    frame.localHigh(),
                    frame.localLow());
        }
    }

    @Override
    public void seal(Frame frame, Path path, int bytes) {
        frame.local(path.localHigh(), path.localLow(), path.localPort());
        frame.remote(path.remoteHigh(), path.remoteLow(), path.remotePort());
        frame.trafficClass(path.trafficClass());
        Icrc.store(frame.buffer(), frame.offset() + bytes, icrc.rocev2(frame, bytes));
        frame.length(bytes + Icrc.BYTES);
    }
}
