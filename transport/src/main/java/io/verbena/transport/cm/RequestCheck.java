// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import io.verbena.verbs.Mtu;
import io.verbena.wire.cm.CmRejectReason;
import io.verbena.wire.cm.Req;
import io.verbena.wire.ib.Bth;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What a port asks of a request for a connection, whoever listens (IBTA volume 1, 12.6.5 and 12.6.7.2). No consumer
 * hears of a request that fails here. An alternate path is not looked at.
 */
final class RequestCheck {
    /** The lowest number of a queue pair for consumers. */
    static final int QUEUE_PAIR_MIN = 2;
    /** The number that multicast goes to. */
    private static final int QUEUE_PAIR_MULTICAST = 0xffffff;

    private final Mtu mtuMax;

    RequestCheck(Mtu mtuMax) {
        this.mtuMax = mtuMax;
    }

    /** Whether nobody can be meant by it: such a message is dropped, for an answer would find nobody either. */
    static boolean isMalformed(MemorySegment mad, long o) {
        int queuePair = Req.queuePair(mad, o);
        return Req.localId(mad, o) == 0 || queuePair < QUEUE_PAIR_MIN || queuePair == QUEUE_PAIR_MULTICAST;
    }

    /** Why it is refused, or null. */
    @Nullable
    CmRejectReason refusal(Path back, MemorySegment mad, long o) {
        // No reason is about partitions. Linux finds no way back and gives this one, too (cm_init_av_by_path).
        if (!isBetween(back, mad, o) || !Bth.isDefaultPartition(Req.partitionKey(mad, o))) {
            return CmRejectReason.INVALID_PRIMARY_GID;
        }
        int transport = Req.transport(mad, o);
        if (transport != Req.TRANSPORT_RC && transport != Req.TRANSPORT_UC) {
            return CmRejectReason.INVALID_TRANSPORT_SERVICE_TYPE;
        }
        int mtu = Req.pathMtu(mad, o);
        return mtu < Mtu.MTU_256.code() || mtu > mtuMax.code() ? CmRejectReason.INVALID_PATH_MTU : null;
    }

    /** Whether its primary path leads from where it came from to this port. */
    private static boolean isBetween(Path back, MemorySegment mad, long o) {
        return Req.remoteGidLow(mad, o) == back.localLow()
                && Req.remoteGidHigh(mad, o) == back.localHigh()
                && Req.localGidLow(mad, o) == back.remoteLow()
                && Req.localGidHigh(mad, o) == back.remoteHigh();
    }
}
