// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import io.verbena.transport.queue.SeededRandom;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import io.verbena.wire.cm.CmAttribute;
import io.verbena.wire.cm.Drep;
import io.verbena.wire.cm.Dreq;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.cm.Mra;
import io.verbena.wire.cm.Rej;
import io.verbena.wire.cm.Rep;
import io.verbena.wire.cm.Req;
import io.verbena.wire.cm.Rtu;
import io.verbena.wire.cm.SidrRep;
import io.verbena.wire.cm.SidrReq;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A connection manager at an address, and its consumer. */
final class CmPeer extends CmConsumer {
    static final long HIGH = 0xfd00_0000_0000_0000L;
    static final long SERVICE = 0x0106_1c06L;
    static final int ACK_TIMEOUT = 14;
    static final long GUID = 0x0256_5242_0000_0000L;

    /** A datagram on its way. */
    record Datagram(Path path, MemorySegment segment) {
        CmAttribute attribute() {
            CmAttribute attribute = CmAttribute.of(Mad.attribute(segment(), 0));
            if (attribute == null) {
                throw new AssertionError("not of a connection manager");
            }
            return attribute;
        }

        /** The path as its receiver sees it. */
        Path back() {
            return way(path.remoteLow(), path.localLow());
        }

        @Override
        public String toString() {
            MemorySegment s = segment();
            Object fields = switch (attribute()) {
                case REQ -> Req.Fields.read(s, 0);
                case MRA -> Mra.Fields.read(s, 0);
                case REJ -> Rej.Fields.read(s, 0);
                case REP -> Rep.Fields.read(s, 0);
                case RTU -> Rtu.Fields.read(s, 0);
                case DREQ -> Dreq.Fields.read(s, 0);
                case DREP -> Drep.Fields.read(s, 0);
                case SIDR_REQ -> SidrReq.Fields.read(s, 0);
                case SIDR_REP -> SidrRep.Fields.read(s, 0);
                case LAP, APR -> "?";
            };
            return fields.toString();
        }
    }

    final long low;
    final ConnectionManager manager;

    CmPeer(long low, long seed) {
        this(low, seed, Mtu.MTU_4096, CmBounds.DEFAULT);
    }

    CmPeer(long low, long seed, Mtu mtu, CmBounds bounds) {
        this.low = low;
        manager = new ConnectionManager(new SeededRandom(seed), new CmPort(GUID + low, mtu), bounds);
    }

    Path to(CmPeer other) {
        return to(other.low);
    }

    Path to(long otherLow) {
        return way(low, otherLow);
    }

    static Path way(long fromLow, long toLow) {
        return new Path(HIGH, fromLow, HIGH, toLow, 0xc001, Path.ROCE_V2_PORT, 0, 64);
    }

    ConnectParameters parameters(CmPeer other, int queuePair, long deadline, byte... privateData) {
        return new ConnectParameters(
                SERVICE,
                to(other),
                QueuePairType.RC,
                endpoint(queuePair),
                6,
                ACK_TIMEOUT,
                Mtu.MTU_1024,
                privateData,
                deadline);
    }

    static CmEndpoint endpoint(int queuePair) {
        return new CmEndpoint(queuePair, queuePair + 1, 3, 4, 5, true);
    }

    static AcceptParameters acceptance(int queuePair, byte... privateData) {
        return new AcceptParameters(endpoint(queuePair), 15, privateData);
    }

    /** Everything that it wants to send now. */
    List<Datagram> send() {
        List<Datagram> sent = new ArrayList<>();
        MemorySegment out = MemorySegment.ofArray(new byte[Mad.BYTES + 3]);
        while (manager.wantsToSend()) {
            Path path = manager.pollMad(out, 3);
            MemorySegment copy = MemorySegment.ofArray(new byte[Mad.BYTES]);
            sent.add(new Datagram(path, copy.copyFrom(out.asSlice(3))));
        }
        return sent;
    }

    void receive(long now, Datagram datagram) {
        manager.onMad(now, datagram.back(), datagram.segment(), 0);
        manager.pollEvents(this);
    }

    void timeout(long now) {
        manager.onTimeout(now);
        manager.pollEvents(this);
    }
}
