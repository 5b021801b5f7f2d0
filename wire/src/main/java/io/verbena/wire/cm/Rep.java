// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Reply to request for communication (IBTA volume 1, 12.6.8). Offsets behind the header of the datagram:
 *
 * <pre>
 *   0 local, 4 remote communication id     8 Q_Key     12 QP (24)     16 EE context (24)     20 starting PSN (24)
 *  15, 19, 23 vendor id                   24 responder resources     25 initiator depth
 *  26 target ACK delay (5), failover (2), flow control (1)           27 RNR retry (3), SRQ (1)
 *  28 CA GUID                             36 private data (196)
 * </pre>
 */
public final class Rep {
    public static final int PRIVATE_DATA = Mad.HEADER_BYTES + 36;
    public static final int PRIVATE_DATA_BYTES = 196;

    private static final int AT = Mad.HEADER_BYTES;

    private Rep() {}

    public static int localId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT);
    }

    public static int remoteId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT + 4);
    }

    public static int queuePair(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT + 12) >>> 8;
    }

    public static int startingPsn(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT + 20) >>> 8;
    }

    public static int responderResources(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 24);
    }

    public static int initiatorDepth(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 25);
    }

    public static int targetAckDelay(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 26) >> 3;
    }

    public static int rnrRetry(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 27) >> 5;
    }

    public static boolean sharedReceives(MemorySegment s, long o) {
        return (BigEndian.u8(s, o + AT + 27) & 0x10) != 0;
    }

    public static long caGuid(MemorySegment s, long o) {
        return BigEndian.i64(s, o + AT + 28);
    }

    /** The message as values, without private data. Reserved bits are not kept. */
    public record Fields(
            int localId,
            int remoteId,
            int vendorId,
            int queueKey,
            int queuePair,
            int localEeContext,
            int startingPsn,
            int responderResources,
            int initiatorDepth,
            int targetAckDelay,
            int failover,
            boolean flowControl,
            int rnrRetry,
            boolean sharedReceives,
            long caGuid) {

        public static Fields read(MemorySegment s, long o) {
            long at = o + AT;
            int vendorId = BigEndian.u8(s, at + 15) << 16 | BigEndian.u8(s, at + 19) << 8 | BigEndian.u8(s, at + 23);
            return new Fields(
                    Rep.localId(s, o),
                    Rep.remoteId(s, o),
                    vendorId,
                    BigEndian.i32(s, at + 8),
                    Rep.queuePair(s, o),
                    BigEndian.i32(s, at + 16) >>> 8,
                    Rep.startingPsn(s, o),
                    Rep.responderResources(s, o),
                    Rep.initiatorDepth(s, o),
                    Rep.targetAckDelay(s, o),
                    (BigEndian.u8(s, at + 26) >> 1) & 3,
                    (BigEndian.u8(s, at + 26) & 1) != 0,
                    Rep.rnrRetry(s, o),
                    Rep.sharedReceives(s, o),
                    Rep.caGuid(s, o));
        }

        public void write(MemorySegment s, long o) {
            long at = o + AT;
            BigEndian.put32(s, at, localId);
            BigEndian.put32(s, at + 4, remoteId);
            BigEndian.put32(s, at + 8, queueKey);
            BigEndian.put32(s, at + 12, queuePair << 8 | ((vendorId >> 16) & 0xff));
            BigEndian.put32(s, at + 16, localEeContext << 8 | ((vendorId >> 8) & 0xff));
            BigEndian.put32(s, at + 20, startingPsn << 8 | (vendorId & 0xff));
            BigEndian.put8(s, at + 24, responderResources);
            BigEndian.put8(s, at + 25, initiatorDepth);
            BigEndian.put8(s, at + 26, targetAckDelay << 3 | (failover & 3) << 1 | (flowControl ? 1 : 0));
            BigEndian.put8(s, at + 27, rnrRetry << 5 | (sharedReceives ? 0x10 : 0));
            BigEndian.put64(s, at + 28, caGuid);
        }

        @Override
        public String toString() {
            return String.format(
                    "REP id %08x for %08x qp %06x psn %06x resources %d depth %d rnr retry %d ack delay %d",
                    localId,
                    remoteId,
                    queuePair,
                    startingPsn,
                    responderResources,
                    initiatorDepth,
                    rnrRetry,
                    targetAckDelay);
        }
    }
}
