// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.cm.CmBounds;
import io.verbena.transport.cm.CmEvents;
import io.verbena.transport.cm.CmPort;
import io.verbena.transport.cm.ConnectionManager;
import io.verbena.transport.encap.Path;
import io.verbena.transport.queue.SeededRandom;
import io.verbena.wire.Frame;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Deth;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Queue pair 1, where management datagrams come and go (IBTA volume 1, 13.5.2). Until somebody wants to hear of
 * connections, there is none.
 */
final class GeneralServices {
    private static final Opcode OPCODE = Opcode.UD_SEND_ONLY;
    private static final int HOP_LIMIT = 64;
    /** The bits of a traffic class that are not for congestion marks. */
    private static final int DSCP = 0xfc;

    private final IbPort port;
    private final ConnectionManager connections;
    private int localPort;
    private int nextPsn;
    private @Nullable CmEvents sink;

    GeneralServices(IbPort port, CmPort identity, SeededRandom random) {
        this.port = port;
        connections = new ConnectionManager(random, identity, CmBounds.DEFAULT);
    }

    ConnectionManager connections() {
        return connections;
    }

    void start(int port, CmEvents events) {
        localPort = port;
        sink = events;
    }

    /** A frame for queue pair 1 arrived. */
    void onFrame(long now, Frame frame, long bth, Opcode opcode, int payload) {
        Counter drop = judge(frame.buffer(), bth, opcode, payload);
        if (drop == null && !port.encapsulation().open(frame)) {
            drop = Counter.DROP_BAD_ICRC;
        }
        if (drop != null) {
            port.count(drop);
            return;
        }
        Path back = new Path(
                frame.localHigh(),
                frame.localLow(),
                frame.remoteHigh(),
                frame.remoteLow(),
                localPort,
                Path.ROCE_V2_PORT,
                frame.trafficClass() & DSCP,
                HOP_LIMIT);
        connections.onMad(now, back, frame.buffer(), bth + OPCODE.headerBytes());
    }

    private @Nullable Counter judge(MemorySegment in, long bth, Opcode opcode, int payload) {
        if (sink == null) {
            return Counter.DROP_NO_QUEUE_PAIR;
        }
        if (opcode != OPCODE) {
            return Counter.DROP_WRONG_SERVICE;
        }
        if (!Bth.isDefaultPartition(Bth.partitionKey(in, bth))) {
            return Counter.DROP_WRONG_PARTITION;
        }
        if (Deth.queueKey(in, bth + OPCODE.dethOffset()) != Mad.QUEUE_KEY) {
            return Counter.DROP_WRONG_QKEY;
        }
        return payload == Mad.BYTES ? null : Counter.DROP_NOT_A_MAD;
    }

    boolean wantsToSend() {
        return connections.wantsToSend();
    }

    /** Writes the next datagram to send; false when there is none. */
    boolean emit(Frame frame) {
        MemorySegment out = frame.buffer();
        long bth = frame.offset() + port.encapsulation().headroom();
        Path path = connections.pollMad(out, bth + OPCODE.headerBytes());
        if (path == null) {
            return false;
        }
        Bth.write(out, bth, OPCODE.code(), false, false, 0, Bth.DEFAULT_PARTITION_KEY, Mad.QUEUE_PAIR, false, nextPsn);
        Deth.write(out, bth + OPCODE.dethOffset(), Mad.QUEUE_KEY, Mad.QUEUE_PAIR);
        nextPsn = Psn.add(nextPsn, 1);
        port.encapsulation().seal(frame, own(path), OPCODE.headerBytes() + Mad.BYTES);
        return true;
    }

    /** The path, with the source port of this queue pair: one flow, which the network keeps in order. */
    private Path own(Path path) {
        return path.localPort() == localPort
                ? path
                : new Path(
                        path.localHigh(),
                        path.localLow(),
                        path.remoteHigh(),
                        path.remoteLow(),
                        localPort,
                        path.remotePort(),
                        path.trafficClass(),
                        path.hopLimit());
    }

    void pollEvents() {
        if (sink != null) {
            connections.pollEvents(sink);
        }
    }
}
