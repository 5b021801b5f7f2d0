// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;

/** Registered memory of slots with guard bytes between them, and a shadow that says what must be in it. */
final class Area implements AutoCloseable {
    private static final int GUARD_BYTES = 32;
    private static final byte GUARD = (byte) 0xa5;

    private final String what;
    private final int slots;
    private final int slotBytes;
    private final int stride;
    private final MemoryRegion region;
    private final MemorySegment memory;
    private final MemorySegment shadow;

    Area(String what, Station station, int slots, int slotBytes) {
        this.what = what;
        this.slots = slots;
        this.slotBytes = slotBytes;
        stride = (slotBytes + GUARD_BYTES + 7) & ~7;
        long bytes = GUARD_BYTES + (long) slots * stride;
        memory = station.allocate(bytes);
        shadow = MemorySegment.ofArray(new byte[(int) bytes]);
        shadow.fill(GUARD);
        memory.fill(GUARD);
        region = station.domain()
                .register(
                        memory,
                        AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE,
                        AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_ATOMIC,
                        AccessFlag.FLUSH_GLOBAL);
    }

    int slots() {
        return slots;
    }

    MemoryRegion region() {
        return region;
    }

    MemorySegment memory() {
        return memory;
    }

    /** The offset of a slot in the region. */
    long offset(long number) {
        return GUARD_BYTES + number % slots * stride;
    }

    long address(long number) {
        return region.address() + offset(number);
    }

    /** The shadow, to be changed before the device changes the memory. */
    MemorySegment shadow() {
        return shadow;
    }

    /** Compares a slot and the guard bytes on both sides with the shadow. */
    void check(long number) {
        long from = offset(number) - GUARD_BYTES;
        long to = offset(number) + stride;
        compare(from, Math.min(to, memory.byteSize()));
    }

    /** Takes the memory of a slot for right, whatever is in it; the guard bytes stay. */
    void forgive(long number) {
        MemorySegment.copy(memory, offset(number), shadow, offset(number), slotBytes);
    }

    void checkAll() {
        compare(0, memory.byteSize());
    }

    private void compare(long from, long to) {
        long at = MemorySegment.mismatch(memory, from, to, shadow, from, to);
        if (at >= 0) {
            long wrong = from + at;
            long slot = (wrong - GUARD_BYTES) / stride;
            throw new Violation(what + ": byte " + (wrong - offset(slot)) + " of slot " + slot + " (of " + slotBytes
                    + " bytes) is 0x" + hex(memory, wrong) + " and must be 0x" + hex(shadow, wrong));
        }
    }

    private static String hex(MemorySegment segment, long at) {
        return Integer.toHexString(segment.get(JAVA_BYTE, at) & 0xff);
    }

    @Override
    public void close() {
        region.close();
    }
}
