// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Atomic Extended Transport Header (IBTA vol 1 ch. 9.3.4).
 *
 * <pre>
 *    +-----------------------+
 *  0 |  virtual address  64  |
 *    +-----------------------+
 *  8 |  rkey             32  |
 *    +-----------------------+
 * 12 |  swap or add      64  |
 *    +-----------------------+
 * 20 |  compare          64  |   compare-and-swap only
 *    +-----------------------+
 * </pre>
 */
public final class AtomicEth {
    public static final int BYTES = 28;

    private AtomicEth() {}

    public static long virtualAddress(MemorySegment s, long o) {
        return BigEndian.i64(s, o);
    }

    public static int rkey(MemorySegment s, long o) {
        return BigEndian.i32(s, o + 8);
    }

    public static long swapOrAdd(MemorySegment s, long o) {
        return BigEndian.i64(s, o + 12);
    }

    public static long compare(MemorySegment s, long o) {
        return BigEndian.i64(s, o + 20);
    }

    public static void write(MemorySegment s, long o, long virtualAddress, int rkey, long swapOrAdd, long compare) {
        BigEndian.put64(s, o, virtualAddress);
        BigEndian.put32(s, o + 8, rkey);
        BigEndian.put64(s, o + 12, swapOrAdd);
        BigEndian.put64(s, o + 20, compare);
    }

    /** The header as values. */
    public record Fields(long virtualAddress, int rkey, long swapOrAdd, long compare) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(
                    AtomicEth.virtualAddress(s, o),
                    AtomicEth.rkey(s, o),
                    AtomicEth.swapOrAdd(s, o),
                    AtomicEth.compare(s, o));
        }

        public void write(MemorySegment s, long o) {
            AtomicEth.write(s, o, virtualAddress, rkey, swapOrAdd, compare);
        }

        @Override
        public String toString() {
            return String.format(
                    "AtomicETH va %016x rkey %08x swap/add %016x compare %016x",
                    virtualAddress, rkey, swapOrAdd, compare);
        }
    }
}
