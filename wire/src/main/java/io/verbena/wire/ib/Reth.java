// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * RDMA Extended Transport Header: where a WRITE goes or a READ comes from (IBTA vol 1 ch. 9.3.3).
 *
 * <pre>
 *    +-----------------------+
 *  0 |  virtual address  64  |
 *    +-----------------------+
 *  8 |  rkey             32  |
 *    +-----------------------+
 * 12 |  DMA length       32  |
 *    +-----------------------+
 * </pre>
 */
public final class Reth {
    public static final int BYTES = 16;

    private Reth() {}

    public static long virtualAddress(MemorySegment s, long o) {
        return BigEndian.i64(s, o);
    }

    public static int rkey(MemorySegment s, long o) {
        return BigEndian.i32(s, o + 8);
    }

    /** Bytes of the whole message, 0 to 2^32 - 1; more than 2^31 is invalid (IBTA vol 1 ch. 9.3.3). */
    public static long length(MemorySegment s, long o) {
        return BigEndian.u32(s, o + 12);
    }

    public static void write(MemorySegment s, long o, long virtualAddress, int rkey, long length) {
        BigEndian.put64(s, o, virtualAddress);
        BigEndian.put32(s, o + 8, rkey);
        BigEndian.put32(s, o + 12, (int) length);
    }

    /** The header as values. */
    public record Fields(long virtualAddress, int rkey, long length) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(Reth.virtualAddress(s, o), Reth.rkey(s, o), Reth.length(s, o));
        }

        public void write(MemorySegment s, long o) {
            Reth.write(s, o, virtualAddress, rkey, length);
        }

        @Override
        public String toString() {
            return String.format("RETH va %016x rkey %08x length %d", virtualAddress, rkey, length);
        }
    }
}
