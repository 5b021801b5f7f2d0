// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Flush Extended Transport Header, before the RETH of a FLUSH (IBTA vol 1 annex A19).
 *
 * <pre>
 *    +----------------+-------+---------+
 *  0 |  reserved 26   | SEL 2 |  PLT 4  |
 *    +----------------+-------+---------+
 * </pre>
 */
public final class FlushEth {
    public static final int BYTES = 4;

    /** Placement type bit: make the data visible to the target's processors. */
    public static final int GLOBAL_VISIBILITY = 1;

    /** Placement type bit: make the data survive a loss of power. */
    public static final int PERSISTENCE = 2;

    /** Selectivity: the range of the RETH. */
    public static final int RANGE = 0;

    /** Selectivity: the whole memory region of the RETH's key. */
    public static final int REGION = 1;

    private FlushEth() {}

    public static int placementType(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 3) & 0xf;
    }

    public static int selectivity(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 3) >> 4 & 3;
    }

    public static void write(MemorySegment s, long o, int placementType, int selectivity) {
        BigEndian.put32(s, o, (selectivity & 3) << 4 | (placementType & 0xf));
    }

    /** The header as values. */
    public record Fields(int placementType, int selectivity) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(FlushEth.placementType(s, o), FlushEth.selectivity(s, o));
        }

        public void write(MemorySegment s, long o) {
            FlushEth.write(s, o, placementType, selectivity);
        }

        @Override
        public String toString() {
            return "FETH placement " + placementType + " selectivity " + selectivity;
        }
    }
}
