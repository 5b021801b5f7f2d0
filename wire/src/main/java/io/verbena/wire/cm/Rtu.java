// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/** Ready to use (IBTA volume 1, 12.6.9): two communication ids and private data. */
public final class Rtu {
    public static final int PRIVATE_DATA = Mad.HEADER_BYTES + 8;
    public static final int PRIVATE_DATA_BYTES = 224;

    private static final int AT = Mad.HEADER_BYTES;

    private Rtu() {}

    public static int localId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT);
    }

    public static int remoteId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT + 4);
    }

    public static void write(MemorySegment s, long o, int localId, int remoteId) {
        BigEndian.put32(s, o + AT, localId);
        BigEndian.put32(s, o + AT + 4, remoteId);
    }

    /** The message as values, without private data. */
    public record Fields(int localId, int remoteId) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(Rtu.localId(s, o), Rtu.remoteId(s, o));
        }

        public void write(MemorySegment s, long o) {
            Rtu.write(s, o, localId, remoteId);
        }

        @Override
        public String toString() {
            return String.format("RTU id %08x for %08x", localId, remoteId);
        }
    }
}
