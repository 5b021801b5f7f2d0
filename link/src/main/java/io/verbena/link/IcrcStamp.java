// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.wire.Frame;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Icrc;

/** Moves a frame to send from one IPv4 identification to another, which its ICRC covers. */
final class IcrcStamp {
    private final Icrc icrc = new Icrc();

    /** Sets the identification. An ICRC that is right for the old one is made right; what is none is left alone. */
    void restamp(Frame frame, int from, int to) {
        int bytes = frame.length() - Icrc.BYTES;
        frame.ipId(from);
        boolean candidate = from != to && frame.ipv4() && bytes >= Bth.BYTES && (bytes & 3) == 0;
        if (candidate && icrc.rocev2(frame, bytes) == Icrc.load(frame.buffer(), frame.offset() + bytes)) {
            frame.ipId(to);
            Icrc.store(frame.buffer(), frame.offset() + bytes, icrc.rocev2(frame, bytes));
        }
        frame.ipId(to);
    }
}
