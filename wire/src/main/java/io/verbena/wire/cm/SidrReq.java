// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Service id resolution request (IBTA volume 1, 12.11.1): request id, at 4 P_Key, at 8 service id, at 16 private data.
 */
public final class SidrReq {
    public static final int PRIVATE_DATA = Mad.HEADER_BYTES + 16;
    public static final int PRIVATE_DATA_BYTES = 216;

    private static final int AT = Mad.HEADER_BYTES;

    private SidrReq() {}

    public static int requestId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT);
    }

    public static int partitionKey(MemorySegment s, long o) {
        return BigEndian.u16(s, o + AT + 4);
    }

    public static long serviceId(MemorySegment s, long o) {
        return BigEndian.i64(s, o + AT + 8);
    }

    public static void write(MemorySegment s, long o, int requestId, int partitionKey, long serviceId) {
        BigEndian.put32(s, o + AT, requestId);
        BigEndian.put16(s, o + AT + 4, partitionKey);
        BigEndian.put16(s, o + AT + 6, 0);
        BigEndian.put64(s, o + AT + 8, serviceId);
    }

    /** The message as values, without private data. */
    public record Fields(int requestId, int partitionKey, long serviceId) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(SidrReq.requestId(s, o), SidrReq.partitionKey(s, o), SidrReq.serviceId(s, o));
        }

        public void write(MemorySegment s, long o) {
            SidrReq.write(s, o, requestId, partitionKey, serviceId);
        }

        @Override
        public String toString() {
            return String.format("SIDR_REQ id %08x service %016x pkey %04x", requestId, serviceId, partitionKey);
        }
    }
}
