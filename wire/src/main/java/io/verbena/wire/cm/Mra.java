// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Message receipt acknowledgement (IBTA volume 1, 12.6.6): two communication ids, at 8 what was received (2), at 9 how
 * long its answer may take (5), at 10 private data.
 */
public final class Mra {
    public static final int PRIVATE_DATA = Mad.HEADER_BYTES + 10;
    public static final int PRIVATE_DATA_BYTES = 222;

    /** What was received. */
    public static final int MESSAGE_REQ = 0;

    public static final int MESSAGE_REP = 1;
    public static final int MESSAGE_LAP = 2;

    private static final int AT = Mad.HEADER_BYTES;

    private Mra() {}

    public static int localId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT);
    }

    public static int remoteId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT + 4);
    }

    public static int message(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 8) >> 6;
    }

    /** 4.096 us times 2 to this power. */
    public static int serviceTimeout(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 9) >> 3;
    }

    public static void write(MemorySegment s, long o, int localId, int remoteId, int message, int serviceTimeout) {
        BigEndian.put32(s, o + AT, localId);
        BigEndian.put32(s, o + AT + 4, remoteId);
        BigEndian.put8(s, o + AT + 8, message << 6);
        BigEndian.put8(s, o + AT + 9, serviceTimeout << 3);
    }

    /** The message as values, without private data. */
    public record Fields(int localId, int remoteId, int message, int serviceTimeout) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(Mra.localId(s, o), Mra.remoteId(s, o), Mra.message(s, o), Mra.serviceTimeout(s, o));
        }

        public void write(MemorySegment s, long o) {
            Mra.write(s, o, localId, remoteId, message, serviceTimeout);
        }

        @Override
        public String toString() {
            return String.format(
                    "MRA id %08x for %08x message %d timeout %d", localId, remoteId, message, serviceTimeout);
        }
    }
}
