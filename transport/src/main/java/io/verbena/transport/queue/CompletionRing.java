// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.queue;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A ring of completions: the engine produces, the application consumes. Slots of 64 bytes in host byte order:
 *
 * <pre>
 *  0 wrId 8          | 16 byteLength 8  | 32 vendorError 4
 *  8 status 1        | 24 qpNumber 4    | 36 queue pair handle 4
 *  9 opcode 1        | 28 sourceQp 4    | 40 send queue index to release, or -1
 * 10 flags 1, 11 solicited 1            | 48 timestamp 8, 56 reserved 8
 * 12 immediate 4     |
 * </pre>
 *
 * One producer (the engine) and one consumer at a time (the caller locks).
 */
public final class CompletionRing {
    /** {@link #arm}: no event asked for. */
    private static final int UNARMED = 0;

    private static final int ARMED_ANY = 1;
    private static final int ARMED_SOLICITED = 2;
    private static final int SLOT_BYTES = 64;

    private static final VarHandle HEAD;
    private static final VarHandle TAIL;
    private static final VarHandle ARMED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(CompletionRing.class, "head", long.class);
            TAIL = lookup.findVarHandle(CompletionRing.class, "tail", long.class);
            ARMED = lookup.findVarHandle(CompletionRing.class, "armed", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private MemorySegment ring;
    private volatile int capacity;
    private long mask;
    private final Object waitersLock = new Object();
    private volatile long head;
    private volatile long tail;
    private volatile int armed;
    private volatile int waiters;
    private volatile boolean overrun;
    /** One past the newest completion that is solicited or an error. */
    private volatile long solicitedTail;

    private boolean dirty;
    private @Nullable Object owner;

    public CompletionRing(int capacity) {
        this.capacity = capacity;
        this.mask = maskOf(capacity);
        this.ring = allocate(mask);
    }

    private static long maskOf(int capacity) {
        return (Integer.highestOneBit(Math.max(1, capacity - 1)) << 1) - 1L;
    }

    private static MemorySegment allocate(long mask) {
        return Arena.ofAuto().allocate((mask + 1) * SLOT_BYTES, 64);
    }

    /** Completions in the ring. */
    public int size() {
        return (int) ((long) TAIL.getAcquire(this) - (long) HEAD.getAcquire(this));
    }

    /**
     * Gives the ring another capacity; what is in it stays. False when it holds more than that. Neither the engine nor
     * a consumer may be at work.
     */
    public boolean resize(int entries) {
        if (entries < size()) {
            return false;
        }
        long newMask = maskOf(entries);
        MemorySegment larger = allocate(newMask);
        for (long at = head; at < tail; at++) {
            MemorySegment.copy(ring, (at & mask) * SLOT_BYTES, larger, (at & newMask) * SLOT_BYTES, SLOT_BYTES);
        }
        ring = larger;
        mask = newMask;
        capacity = entries;
        return true;
    }

    public int capacity() {
        return capacity;
    }

    /** The handle above the sans-I/O line that this ring belongs to. */
    public @Nullable Object owner() {
        return owner;
    }

    public void owner(Object owner) {
        this.owner = owner;
    }

    public boolean isEmpty() {
        return (long) HEAD.getAcquire(this) == (long) TAIL.getAcquire(this);
    }

    /** True after more completions than fit; what did not fit is lost and the queue pairs behind it are in error. */
    public boolean overrun() {
        return overrun;
    }

    /** Engine: adds a completion; false when there is no room, which makes the ring overrun for good. */
    public boolean push(
            long wrId,
            WorkCompletionStatus status,
            WorkCompletionOpcode opcode,
            int flags,
            boolean solicited,
            int immediate,
            long byteLength,
            int qpNumber,
            int sourceQp,
            int vendorError,
            int handle,
            long sendIndex,
            long timestamp) {
        long at = (long) TAIL.get(this);
        if (overrun || at - (long) HEAD.getAcquire(this) >= capacity) {
            overrun = true;
            return false;
        }
        long o = (at & mask) * SLOT_BYTES;
        ring.set(JAVA_LONG, o, wrId);
        ring.set(JAVA_BYTE, o + 8, (byte) status.code());
        ring.set(JAVA_BYTE, o + 9, (byte) opcode.ordinal());
        boolean raises = solicited || status != WorkCompletionStatus.SUCCESS;
        ring.set(JAVA_BYTE, o + 10, (byte) flags);
        ring.set(JAVA_BYTE, o + 11, (byte) (raises ? 1 : 0));
        ring.set(JAVA_INT, o + 12, immediate);
        ring.set(JAVA_LONG, o + 16, byteLength);
        ring.set(JAVA_INT, o + 24, qpNumber);
        ring.set(JAVA_INT, o + 28, sourceQp);
        ring.set(JAVA_INT, o + 32, vendorError);
        ring.set(JAVA_INT, o + 36, handle);
        ring.set(JAVA_LONG, o + 40, sendIndex);
        ring.set(JAVA_LONG, o + 48, timestamp);
        TAIL.setRelease(this, at + 1);
        if (raises) {
            solicitedTail = at + 1;
        }
        return true;
    }

    /**
     * Consumer: takes the oldest completion.
     *
     * @param released told which send queue slots are free again
     * @return whether there was one
     */
    public boolean poll(WorkCompletion completion, SlotRelease released) {
        long at = (long) HEAD.get(this);
        if (at == (long) TAIL.getAcquire(this)) {
            return false;
        }
        long o = (at & mask) * SLOT_BYTES;
        int handle = ring.get(JAVA_INT, o + 36);
        int qpNumber = ring.get(JAVA_INT, o + 24);
        completion.set(
                ring.get(JAVA_LONG, o),
                WorkCompletionStatus.ofCode(ring.get(JAVA_BYTE, o + 8)),
                WorkCompletionOpcode.ofOrdinal(ring.get(JAVA_BYTE, o + 9)),
                ring.get(JAVA_BYTE, o + 10),
                ring.get(JAVA_LONG, o + 16),
                ring.get(JAVA_INT, o + 12),
                qpNumber,
                ring.get(JAVA_INT, o + 28),
                ring.get(JAVA_INT, o + 32),
                ring.get(JAVA_LONG, o + 48));
        long sendIndex = ring.get(JAVA_LONG, o + 40);
        HEAD.setRelease(this, at + 1);
        if (sendIndex >= 0) {
            released.release(handle, qpNumber, sendIndex + 1);
        }
        return true;
    }

    /** Where {@link #poll} returns send slots to. */
    public interface SlotRelease {
        void release(int handle, int qpNumber, long index);
    }

    /**
     * Consumer: drops the unpolled completions of a queue pair that is destroyed or reset, and closes the gaps, so that
     * they take no room from others. The engine must stand still.
     */
    public void remove(int handle, int qpNumber) {
        long kept = head;
        long keptSolicited = kept;
        for (long at = kept; at < tail; at++) {
            long o = (at & mask) * SLOT_BYTES;
            if (ring.get(JAVA_INT, o + 36) == handle && ring.get(JAVA_INT, o + 24) == qpNumber) {
                continue;
            }
            boolean raises = ring.get(JAVA_BYTE, o + 11) != 0;
            MemorySegment.copy(ring, o, ring, (kept++ & mask) * SLOT_BYTES, SLOT_BYTES);
            keptSolicited = raises ? kept : keptSolicited;
        }
        solicitedTail = keptSolicited;
        TAIL.setRelease(this, kept);
    }

    /**
     * Arms for one event. Returns true when a completion that fires it is there already: then the ring is unarmed again
     * and the caller raises the event.
     */
    public boolean arm(boolean solicitedOnly) {
        // A wider request stays when a narrower one follows it (ibv_req_notify_cq(3)).
        int want = solicitedOnly && armed == ARMED_ANY ? ARMED_ANY : solicitedOnly ? ARMED_SOLICITED : ARMED_ANY;
        ARMED.setVolatile(this, want);
        VarHandle.fullFence();
        return takeEvent();
    }

    /**
     * Whether the ring is armed and holds what fires it; unarms it then. Both sides call this, one of them gets true.
     */
    public boolean takeEvent() {
        int state = (int) ARMED.getVolatile(this);
        if (state == UNARMED) {
            return false;
        }
        long newest = state == ARMED_ANY ? (long) TAIL.getVolatile(this) : solicitedTail;
        return newest > (long) HEAD.getVolatile(this) && ARMED.compareAndSet(this, state, UNARMED);
    }

    /** Threads that sleep until the ring holds something. Call with +1 before looking once more, with -1 after. */
    public void waiters(int change) {
        synchronized (waitersLock) {
            waiters += change;
        }
        VarHandle.fullFence();
    }

    public boolean hasWaiters() {
        return waiters > 0;
    }

    /** Engine: remembers that this ring got something in this duty cycle; true the first time. */
    public boolean markDirty() {
        boolean first = !dirty;
        dirty = true;
        return first;
    }

    public void clearDirty() {
        dirty = false;
    }
}
