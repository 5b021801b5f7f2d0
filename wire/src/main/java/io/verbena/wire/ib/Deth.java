// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Datagram Extended Transport Header (IBTA vol 1 ch. 9.3.2).
 *
 * <pre>
 *    +-----------------------------+
 *  0 |  Q_Key                  32  |
 *    +------------+----------------+
 *  4 | reserved 8 |  source QP 24  |
 *    +------------+----------------+
 * </pre>
 */
public final class Deth {
    public static final int BYTES = 8;

    private Deth() {}

    public static int queueKey(MemorySegment s, long o) {
        return BigEndian.i32(s, o);
    }

    public static int sourceQp(MemorySegment s, long o) {
        return BigEndian.low24(s, o + 4);
    }

    public static void write(MemorySegment s, long o, int queueKey, int sourceQp) {
        BigEndian.put32(s, o, queueKey);
        BigEndian.put32(s, o + 4, sourceQp & 0xffffff);
    }

    /** The header as values. */
    public record Fields(int queueKey, int sourceQp) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(Deth.queueKey(s, o), Deth.sourceQp(s, o));
        }

        public void write(MemorySegment s, long o) {
            Deth.write(s, o, queueKey, sourceQp);
        }

        @Override
        public String toString() {
            return String.format("DETH qkey %08x source qp %06x", queueKey, sourceQp);
        }
    }
}
