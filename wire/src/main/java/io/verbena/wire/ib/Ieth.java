// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Invalidate Extended Transport Header: the key that a SEND with invalidate takes away at the receiver (IBTA vol 1 ch.
 * 9.3).
 *
 * <pre>
 *    +-----------------------+
 *  0 |  rkey 32              |
 *    +-----------------------+
 * </pre>
 */
public final class Ieth {
    public static final int BYTES = 4;

    private Ieth() {}

    public static int rkey(MemorySegment s, long o) {
        return BigEndian.i32(s, o);
    }

    public static void write(MemorySegment s, long o, int rkey) {
        BigEndian.put32(s, o, rkey);
    }

    /** The header as values. */
    public record Fields(int rkey) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(Ieth.rkey(s, o));
        }

        public void write(MemorySegment s, long o) {
            Ieth.write(s, o, rkey);
        }

        @Override
        public String toString() {
            return String.format("IETH rkey %08x", rkey);
        }
    }
}
