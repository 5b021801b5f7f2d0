// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/** Reply to request for communication release (IBTA volume 1, 12.6.11): two communication ids and private data. */
public final class Drep {
    public static final int PRIVATE_DATA = Mad.HEADER_BYTES + 8;
    public static final int PRIVATE_DATA_BYTES = 224;

    private static final int AT = Mad.HEADER_BYTES;

    private Drep() {}

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
            return new Fields(Drep.localId(s, o), Drep.remoteId(s, o));
        }

        public void write(MemorySegment s, long o) {
            Drep.write(s, o, localId, remoteId);
        }

        @Override
        public String toString() {
            return String.format("DREP id %08x for %08x", localId, remoteId);
        }
    }
}
