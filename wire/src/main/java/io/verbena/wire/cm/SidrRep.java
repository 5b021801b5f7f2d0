// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Service id resolution response (IBTA volume 1, 12.11.2). Offsets behind the header of the datagram:
 *
 * <pre>
 *   0 request id     4 status (8)     5 length of the information (8)     8 QP (24)     12 service id     20 Q_Key
 *  24 additional information (72)    96 private data (136)
 * </pre>
 */
public final class SidrRep {
    public static final int PRIVATE_DATA = Mad.HEADER_BYTES + 96;
    public static final int PRIVATE_DATA_BYTES = 136;

    private static final int AT = Mad.HEADER_BYTES;

    private SidrRep() {}

    public static int requestId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT);
    }

    /** 0 when the service has a queue pair. */
    public static int status(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 4);
    }

    public static int queuePair(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT + 8) >>> 8;
    }

    public static int queueKey(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT + 20);
    }

    /** The message as values, without information and private data. */
    public record Fields(int requestId, int status, int informationBytes, int queuePair, long serviceId, int queueKey) {

        public static Fields read(MemorySegment s, long o) {
            return new Fields(
                    SidrRep.requestId(s, o),
                    SidrRep.status(s, o),
                    BigEndian.u8(s, o + AT + 5),
                    SidrRep.queuePair(s, o),
                    BigEndian.i64(s, o + AT + 12),
                    SidrRep.queueKey(s, o));
        }

        public void write(MemorySegment s, long o) {
            BigEndian.put32(s, o + AT, requestId);
            BigEndian.put8(s, o + AT + 4, status);
            BigEndian.put8(s, o + AT + 5, informationBytes);
            BigEndian.put16(s, o + AT + 6, 0);
            BigEndian.put32(s, o + AT + 8, queuePair << 8);
            BigEndian.put64(s, o + AT + 12, serviceId);
            BigEndian.put32(s, o + AT + 20, queueKey);
        }

        @Override
        public String toString() {
            return String.format(
                    "SIDR_REP id %08x status %d service %016x qp %06x qkey %08x",
                    requestId, status, serviceId, queuePair, queueKey);
        }
    }
}
