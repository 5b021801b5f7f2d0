// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Icrc;
import io.verbena.wire.ib.Opcode;

/**
 * One number that stands for all frames that were sent, when and by whom. Left out are the addresses of memory, which
 * differ from one process to the next, and the ICRC, which covers them.
 */
final class FrameDigest {
    private static final long FACTOR = 0x9e37_79b9_7f4a_7c15L;

    private long value;

    long value() {
        return value;
    }

    void add(long now, int from, Flight flight) {
        mix(now);
        mix((long) from << 32 | flight.length);
        int end = flight.length - Icrc.BYTES;
        if (end < Bth.BYTES) {
            return;
        }
        Opcode opcode = Opcode.of(Bth.opcode(flight.buffer, flight.offset));
        int address = -1;
        if (opcode != null) {
            address = opcode.hasReth() ? opcode.rethOffset() : opcode.atomicEthOffset();
        }
        if (address < 0) {
            bytes(flight, 0, end);
        } else {
            bytes(flight, 0, address);
            bytes(flight, address + Long.BYTES, end);
        }
    }

    private void bytes(Flight flight, int from, int to) {
        int at = from;
        // Two at a time: each step waits for the one before.
        long even = value;
        long odd = FACTOR;
        for (; at + 2 * Long.BYTES <= to; at += 2 * Long.BYTES) {
            even = mixed(even, flight.buffer.get(JAVA_LONG_UNALIGNED, flight.offset + at));
            odd = mixed(odd, flight.buffer.get(JAVA_LONG_UNALIGNED, flight.offset + at + Long.BYTES));
        }
        value = even;
        mix(odd);
        for (; at < to; at++) {
            mix(flight.buffer.get(JAVA_BYTE, flight.offset + at));
        }
    }

    private void mix(long more) {
        value = mixed(value, more);
    }

    private static long mixed(long before, long more) {
        long product = (before ^ more) * FACTOR;
        return product ^ product >>> 29;
    }
}
