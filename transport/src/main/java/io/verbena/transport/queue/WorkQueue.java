// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.queue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A ring of work requests: the application writes slots and publishes them by moving the tail, the engine consumes
 * them. Indices only grow. A slot is free again when {@link #release} says so: for receives when consumed, for sends
 * when a later completion was polled, as verbs count it.
 *
 * <p>One producer at a time (the caller locks), one consumer (the engine).
 */
public final class WorkQueue {
    private static final VarHandle TAIL;
    private static final VarHandle FREED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TAIL = lookup.findVarHandle(WorkQueue.class, "tail", long.class);
            FREED = lookup.findVarHandle(WorkQueue.class, "freed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MemorySegment ring;
    private final int depth;
    private final int slotBytes;
    private final long mask;
    private volatile long tail;
    private volatile long freed;

    public WorkQueue(int depth, int slotBytes) {
        this(Arena.ofAuto().allocate(bytes(depth, slotBytes), 64), depth, slotBytes);
    }

    /** A queue in memory that the caller has: {@link #bytes} of zeros. */
    public WorkQueue(MemorySegment ring, int depth, int slotBytes) {
        this.ring = ring;
        this.depth = depth;
        this.slotBytes = slotBytes;
        this.mask = slots(depth) - 1L;
    }

    /** Bytes of the ring of such a queue. */
    public static long bytes(int depth, int slotBytes) {
        return slots(depth) * slotBytes;
    }

    private static long slots(int depth) {
        return 2L * Integer.highestOneBit(Math.max(1, depth - 1));
    }

    public MemorySegment ring() {
        return ring;
    }

    public int depth() {
        return depth;
    }

    public int slotBytes() {
        return slotBytes;
    }

    public long offset(long index) {
        return (index & mask) * slotBytes;
    }

    /** Producer: whether a slot is free for the request after {@code unpublished} others. */
    public boolean hasRoom(int unpublished) {
        return (long) TAIL.get(this) + unpublished - (long) FREED.getAcquire(this) < depth;
    }

    /** Producer: the index of the next slot to write. */
    public long producerIndex() {
        return (long) TAIL.get(this);
    }

    /** Producer: makes {@code count} written slots visible to the engine. */
    public void publish(int count) {
        TAIL.setRelease(this, (long) TAIL.get(this) + count);
    }

    /** Engine: one past the last published slot. */
    public long tail() {
        return (long) TAIL.getAcquire(this);
    }

    /** Gives back all slots before {@code index}; moving backwards does nothing. */
    public void release(long index) {
        long seen = (long) FREED.getAcquire(this);
        while (seen < index && !FREED.compareAndSet(this, seen, index)) {
            seen = (long) FREED.getAcquire(this);
        }
    }
}
