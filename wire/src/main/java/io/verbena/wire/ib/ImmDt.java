// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Immediate data, which the transport hands to the receive completion unread (IBTA vol 1 ch. 9.3).
 *
 * <pre>
 *    +-----------------------+
 *  0 |  value 32             |
 *    +-----------------------+
 * </pre>
 */
public final class ImmDt {
    public static final int BYTES = 4;

    private ImmDt() {}

    public static int value(MemorySegment s, long o) {
        return BigEndian.i32(s, o);
    }

    public static void write(MemorySegment s, long o, int value) {
        BigEndian.put32(s, o, value);
    }

    /** The header as values. */
    public record Fields(int value) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(ImmDt.value(s, o));
        }

        public void write(MemorySegment s, long o) {
            ImmDt.write(s, o, value);
        }

        @Override
        public String toString() {
            return String.format("ImmDt %08x", value);
        }
    }
}
