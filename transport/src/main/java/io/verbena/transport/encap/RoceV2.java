// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.encap;

import io.verbena.wire.Frame;
import io.verbena.wire.ib.Icrc;

/**
 * RoCE v2 on a UDP socket (IBTA volume 1, annex A17): the frame is the UDP payload, BTH to ICRC; the kernel makes the
 * headers that the ICRC covers, so they are computed from the addressing.
 */
public final class RoceV2 implements Encapsulation {
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
    public void seal(Frame frame, Path path, int bytes) {
        frame.local(path.localHigh(), path.localLow(), path.localPort());
        frame.remote(path.remoteHigh(), path.remoteLow(), path.remotePort());
        frame.trafficClass(path.trafficClass());
        Icrc.store(frame.buffer(), frame.offset() + bytes, icrc.rocev2(frame, bytes));
        frame.length(bytes + Icrc.BYTES);
    }
}
