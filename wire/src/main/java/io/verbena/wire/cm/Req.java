// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import io.verbena.wire.BigEndian;
import io.verbena.wire.net.Ipv6;
import java.lang.foreign.MemorySegment;

/**
 * Request for communication (IBTA volume 1, 12.6.5). Offsets behind the header of the datagram:
 *
 * <pre>
 *   0 local communication id   4 vendor id (24)      8 service id             16 CA GUID
 *  28 Q_Key                   32 QP (24), responder resources (8)             36 EE context (24), initiator depth (8)
 *  40 remote EE context (24), remote response timeout (5), transport (2), flow control (1)
 *  44 starting PSN (24), local response timeout (5), retry count (3)
 *  48 P_Key                   50 path MTU (4), RDC exists (1), RNR retry (3)
 *  51 CM retries (4), SRQ (1), extended transport (3)                          52 primary, 96 alternate path
 * 140 private data (92)
 * </pre>
 */
public final class Req {
    public static final int PRIVATE_DATA = Mad.HEADER_BYTES + 140;
    public static final int PRIVATE_DATA_BYTES = 92;

    public static final int TRANSPORT_RC = 0;
    public static final int TRANSPORT_UC = 1;

    private static final int AT = Mad.HEADER_BYTES;
    private static final int PRIMARY = AT + 52;
    private static final int ALTERNATE = AT + 96;

    private Req() {}

    public static int localId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT);
    }

    public static long serviceId(MemorySegment s, long o) {
        return BigEndian.i64(s, o + AT + 8);
    }

    public static long caGuid(MemorySegment s, long o) {
        return BigEndian.i64(s, o + AT + 16);
    }

    public static int queuePair(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT + 32) >>> 8;
    }

    public static int responderResources(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 35);
    }

    public static int initiatorDepth(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 39);
    }

    /** How long this message's receiver may take to answer, 4.096 us times 2 to this power. */
    public static int remoteResponseTimeout(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 43) >> 3;
    }

    /** {@link #TRANSPORT_RC}, {@link #TRANSPORT_UC}, or what is not supported. */
    public static int transport(MemorySegment s, long o) {
        return (BigEndian.u8(s, o + AT + 43) >> 1) & 3;
    }

    public static int startingPsn(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT + 44) >>> 8;
    }

    /** How long this message's sender may take to answer a REP, 4.096 us times 2 to this power. */
    public static int localResponseTimeout(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 47) >> 3;
    }

    public static int retryCount(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 47) & 7;
    }

    public static int partitionKey(MemorySegment s, long o) {
        return BigEndian.u16(s, o + AT + 48);
    }

    /** 1 for 256 to 5 for 4096 bytes; what else a sender says is nothing. */
    public static int pathMtu(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 50) >> 4;
    }

    public static int rnrRetry(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 50) & 7;
    }

    public static int cmRetries(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 51) >> 4;
    }

    public static boolean sharedReceives(MemorySegment s, long o) {
        return (BigEndian.u8(s, o + AT + 51) & 8) != 0;
    }

    /** The GID of the sender. */
    public static long localGidHigh(MemorySegment s, long o) {
        return BigEndian.i64(s, o + PRIMARY + 4);
    }

    public static long localGidLow(MemorySegment s, long o) {
        return BigEndian.i64(s, o + PRIMARY + 12);
    }

    /** The GID that the sender wants to reach. */
    public static long remoteGidHigh(MemorySegment s, long o) {
        return BigEndian.i64(s, o + PRIMARY + 20);
    }

    public static long remoteGidLow(MemorySegment s, long o) {
        return BigEndian.i64(s, o + PRIMARY + 28);
    }

    /** What the receiver's queue pair is to use, 4.096 us times 2 to this power. */
    public static int ackTimeout(MemorySegment s, long o) {
        return BigEndian.u8(s, o + PRIMARY + 43) >> 3;
    }

    /** A way between the two, in the sender's view (44 bytes). */
    public record PathFields(
            int localLid,
            int remoteLid,
            long localGidHigh,
            long localGidLow,
            long remoteGidHigh,
            long remoteGidLow,
            int flowLabel,
            int packetRate,
            int trafficClass,
            int hopLimit,
            int serviceLevel,
            boolean subnetLocal,
            int ackTimeout) {

        /** No path. */
        public static final PathFields NONE = new PathFields(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, 0);

        private static PathFields read(MemorySegment s, long o) {
            int label = BigEndian.i32(s, o + 36);
            return new PathFields(
                    BigEndian.u16(s, o),
                    BigEndian.u16(s, o + 2),
                    BigEndian.i64(s, o + 4),
                    BigEndian.i64(s, o + 12),
                    BigEndian.i64(s, o + 20),
                    BigEndian.i64(s, o + 28),
                    label >>> 12,
                    label & 0x3f,
                    BigEndian.u8(s, o + 40),
                    BigEndian.u8(s, o + 41),
                    BigEndian.u8(s, o + 42) >> 4,
                    (BigEndian.u8(s, o + 42) & 8) != 0,
                    BigEndian.u8(s, o + 43) >> 3);
        }

        private void write(MemorySegment s, long o) {
            BigEndian.put16(s, o, localLid);
            BigEndian.put16(s, o + 2, remoteLid);
            BigEndian.put64(s, o + 4, localGidHigh);
            BigEndian.put64(s, o + 12, localGidLow);
            BigEndian.put64(s, o + 20, remoteGidHigh);
            BigEndian.put64(s, o + 28, remoteGidLow);
            BigEndian.put32(s, o + 36, flowLabel << 12 | (packetRate & 0x3f));
            BigEndian.put8(s, o + 40, trafficClass);
            BigEndian.put8(s, o + 41, hopLimit);
            BigEndian.put8(s, o + 42, serviceLevel << 4 | (subnetLocal ? 8 : 0));
            BigEndian.put8(s, o + 43, ackTimeout << 3);
        }
    }

    /** The message as values, without private data. Reserved bits are not kept. */
    public record Fields(
            int localId,
            int vendorId,
            long serviceId,
            long caGuid,
            int queueKey,
            int queuePair,
            int responderResources,
            int localEeContext,
            int initiatorDepth,
            int remoteEeContext,
            int remoteResponseTimeout,
            int transport,
            boolean flowControl,
            int startingPsn,
            int localResponseTimeout,
            int retryCount,
            int partitionKey,
            int pathMtu,
            boolean rdcExists,
            int rnrRetry,
            int cmRetries,
            boolean sharedReceives,
            int extendedTransport,
            PathFields primary,
            PathFields alternate) {

        public static Fields read(MemorySegment s, long o) {
            return new Fields(
                    Req.localId(s, o),
                    BigEndian.low24(s, o + AT + 4),
                    Req.serviceId(s, o),
                    Req.caGuid(s, o),
                    BigEndian.i32(s, o + AT + 28),
                    Req.queuePair(s, o),
                    Req.responderResources(s, o),
                    BigEndian.i32(s, o + AT + 36) >>> 8,
                    Req.initiatorDepth(s, o),
                    BigEndian.i32(s, o + AT + 40) >>> 8,
                    Req.remoteResponseTimeout(s, o),
                    Req.transport(s, o),
                    (BigEndian.u8(s, o + AT + 43) & 1) != 0,
                    Req.startingPsn(s, o),
                    Req.localResponseTimeout(s, o),
                    Req.retryCount(s, o),
                    Req.partitionKey(s, o),
                    Req.pathMtu(s, o),
                    (BigEndian.u8(s, o + AT + 50) & 8) != 0,
                    Req.rnrRetry(s, o),
                    Req.cmRetries(s, o),
                    Req.sharedReceives(s, o),
                    BigEndian.u8(s, o + AT + 51) & 7,
                    PathFields.read(s, o + PRIMARY),
                    PathFields.read(s, o + ALTERNATE));
        }

        public void write(MemorySegment s, long o) {
            long at = o + AT;
            int service = (remoteResponseTimeout & 31) << 3 | (transport & 3) << 1 | (flowControl ? 1 : 0);
            BigEndian.put32(s, at, localId);
            BigEndian.put32(s, at + 4, vendorId & 0xffffff);
            BigEndian.put64(s, at + 8, serviceId);
            BigEndian.put64(s, at + 16, caGuid);
            BigEndian.put32(s, at + 24, 0);
            BigEndian.put32(s, at + 28, queueKey);
            BigEndian.put32(s, at + 32, queuePair << 8 | (responderResources & 0xff));
            BigEndian.put32(s, at + 36, localEeContext << 8 | (initiatorDepth & 0xff));
            BigEndian.put32(s, at + 40, remoteEeContext << 8 | service);
            BigEndian.put32(s, at + 44, startingPsn << 8 | (localResponseTimeout & 31) << 3 | (retryCount & 7));
            BigEndian.put16(s, at + 48, partitionKey);
            BigEndian.put8(s, at + 50, pathMtu << 4 | (rdcExists ? 8 : 0) | (rnrRetry & 7));
            BigEndian.put8(s, at + 51, cmRetries << 4 | (sharedReceives ? 8 : 0) | (extendedTransport & 7));
            primary.write(s, o + PRIMARY);
            alternate.write(s, o + ALTERNATE);
        }

        @Override
        public String toString() {
            return String.format(
                    "REQ id %08x service %016x qp %06x psn %06x resources %d depth %d transport %d mtu %d retry %d"
                            + " rnr retry %d ack timeout %d from %s to %s",
                    localId,
                    serviceId,
                    queuePair,
                    startingPsn,
                    responderResources,
                    initiatorDepth,
                    transport,
                    pathMtu,
                    retryCount,
                    rnrRetry,
                    primary.ackTimeout,
                    Ipv6.format(primary.localGidHigh, primary.localGidLow),
                    Ipv6.format(primary.remoteGidHigh, primary.remoteGidLow));
        }
    }
}
