// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Request for communication release (IBTA volume 1, 12.6.10): two communication ids, at 8 the receiver's queue pair
 * (24), at 12 private data.
 */
public final class Dreq {
    public static final int PRIVATE_DATA = Mad.HEADER_BYTES + 12;
    public static final int PRIVATE_DATA_BYTES = 220;

    private static final int AT = Mad.HEADER_BYTES;

    private Dreq() {}

    public static int localId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT);
    }

    public static int remoteId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT + 4);
    }

    public static int remoteQueuePair(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT + 8) >>> 8;
    }

    public static void write(MemorySegment s, long o, int localId, int remoteId, int remoteQueuePair) {
        BigEndian.put32(s, o + AT, localId);
        BigEndian.put32(s, o + AT + 4, remoteId);
        BigEndian.put32(s, o + AT + 8, remoteQueuePair << 8);
    }

    /** The message as values, without private data. */
    public record Fields(int localId, int remoteId, int remoteQueuePair) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(Dreq.localId(s, o), Dreq.remoteId(s, o), Dreq.remoteQueuePair(s, o));
        }

        public void write(MemorySegment s, long o) {
            Dreq.write(s, o, localId, remoteId, remoteQueuePair);
        }

        @Override
        public String toString() {
            return String.format("DREQ id %08x for %08x qp %06x", localId, remoteId, remoteQueuePair);
        }
    }
}
