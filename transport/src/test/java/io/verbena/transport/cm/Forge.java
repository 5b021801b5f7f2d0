// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.cm.CmPeer.Datagram;
import io.verbena.wire.BigEndian;
import io.verbena.wire.cm.CmAttribute;
import io.verbena.wire.cm.Dreq;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.cm.Req;
import java.lang.foreign.MemorySegment;

/** Changes messages, and makes such as no connection manager sends. */
final class Forge {
    private Forge() {}

    static Datagram copy(Datagram original) {
        return new Datagram(
                original.path(), MemorySegment.ofArray(new byte[Mad.BYTES]).copyFrom(original.segment()));
    }

    /** The same with another byte. */
    static Datagram withByte(Datagram original, int offset, int value) {
        Datagram copy = copy(original);
        BigEndian.put8(copy.segment(), offset, value);
        return copy;
    }

    /** The same request of another conversation, for another queue pair. */
    static Datagram request(Datagram original, int id, int queuePair) {
        Datagram copy = copy(original);
        BigEndian.put32(copy.segment(), Mad.HEADER_BYTES, id);
        int resources = Req.responderResources(copy.segment(), 0);
        BigEndian.put32(copy.segment(), Mad.HEADER_BYTES + 32, queuePair << 8 | resources);
        return copy;
    }

    /** The same request of another conversation of another host. */
    static Datagram requestFrom(long low, Datagram original, int id, int queuePair) {
        Datagram copy = request(original, id, queuePair);
        BigEndian.put64(copy.segment(), Mad.HEADER_BYTES + 64, low);
        return new Datagram(CmPeer.way(low, original.path().remoteLow()), copy.segment());
    }

    static void queuePairOfDreq(Datagram release, int queuePair) {
        MemorySegment s = release.segment();
        Dreq.write(s, 0, Dreq.localId(s, 0), Dreq.remoteId(s, 0), queuePair);
    }

    static Datagram message(CmPeer from, CmPeer to, CmAttribute attribute) {
        MemorySegment mad = MemorySegment.ofArray(new byte[Mad.BYTES]);
        Mad.write(mad, 0, attribute, 1);
        return new Datagram(from.to(to), mad);
    }
}
