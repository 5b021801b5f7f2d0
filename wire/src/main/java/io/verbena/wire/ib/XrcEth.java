// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * XRC Extended Transport Header: which shared receive queue a request is for (IBTA vol 1 annex A14).
 *
 * <pre>
 *    +------------+-------------------------+
 *  0 | reserved 8 | shared receive queue 24 |
 *    +------------+-------------------------+
 * </pre>
 */
public final class XrcEth {
    public static final int BYTES = 4;

    private XrcEth() {}

    public static int sharedReceiveQueue(MemorySegment s, long o) {
        return BigEndian.low24(s, o);
    }

    public static void write(MemorySegment s, long o, int sharedReceiveQueue) {
        BigEndian.put32(s, o, sharedReceiveQueue & 0xffffff);
    }

    /** The header as values. */
    public record Fields(int sharedReceiveQueue) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(XrcEth.sharedReceiveQueue(s, o));
        }

        public void write(MemorySegment s, long o) {
            XrcEth.write(s, o, sharedReceiveQueue);
        }

        @Override
        public String toString() {
            return String.format("XRCETH srq %06x", sharedReceiveQueue);
        }
    }
}
