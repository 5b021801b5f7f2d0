// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Atomic ACK Extended Transport Header: what the memory held before the operation (IBTA vol 1 ch. 9.3).
 *
 * <pre>
 *    +-----------------------+
 *  0 |  original 64          |
 *    +-----------------------+
 * </pre>
 */
public final class AtomicAckEth {
    public static final int BYTES = 8;

    private AtomicAckEth() {}

    public static long original(MemorySegment s, long o) {
        return BigEndian.i64(s, o);
    }

    public static void write(MemorySegment s, long o, long original) {
        BigEndian.put64(s, o, original);
    }

    /** The header as values. */
    public record Fields(long original) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(AtomicAckEth.original(s, o));
        }

        public void write(MemorySegment s, long o) {
            AtomicAckEth.write(s, o, original);
        }

        @Override
        public String toString() {
            return String.format("AtomicAckETH original %016x", original);
        }
    }
}
