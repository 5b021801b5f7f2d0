// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Queue pairs by the time at which they want to be looked at. An entry may be earlier than what its queue pair now
 * waits for, never later: moving a deadline back costs nothing, the early look finds nothing due and files it again.
 */
final class DeadlineHeap {
    private long[] times = new long[64];
    private @Nullable IbQueuePair[] queuePairs = new IbQueuePair[64];
    private int size;

    /** The earliest time, {@link Long#MAX_VALUE} when there is none. */
    long first() {
        return size == 0 ? Long.MAX_VALUE : times[0];
    }

    /** Files a queue pair to be looked at by {@code time}, unless it is filed for earlier already. */
    void schedule(IbQueuePair queuePair, long time) {
        int at = queuePair.heapIndex;
        if (at < 0) {
            if (size == times.length) {
                grow();
            }
            siftUp(size++, queuePair, time);
        } else if (time - times[at] < 0) {
            siftUp(at, queuePair, time);
        }
    }

    /** Takes the queue pair whose time has come, or null. */
    @Nullable
    IbQueuePair pollDue(long now) {
        if (size == 0 || times[0] - now > 0) {
            return null;
        }
        IbQueuePair first = queuePairs[0];
        if (first != null) {
            remove(first);
        }
        return first;
    }

    void remove(IbQueuePair queuePair) {
        int at = queuePair.heapIndex;
        if (at < 0) {
            return;
        }
        queuePair.heapIndex = -1;
        size--;
        IbQueuePair last = queuePairs[size];
        long time = times[size];
        queuePairs[size] = null;
        if (at != size && last != null) {
            if (at > 0 && time - times[(at - 1) >>> 1] < 0) {
                siftUp(at, last, time);
            } else {
                siftDown(at, last, time);
            }
        }
    }

    private void siftUp(int at, IbQueuePair queuePair, long time) {
        while (at > 0 && time - times[(at - 1) >>> 1] < 0) {
            move((at - 1) >>> 1, at);
            at = (at - 1) >>> 1;
        }
        put(at, queuePair, time);
    }

    private void siftDown(int at, IbQueuePair queuePair, long time) {
        for (int child = 2 * at + 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && times[child + 1] - times[child] < 0) {
                child++;
            }
            if (times[child] - time >= 0) {
                break;
            }
            move(child, at);
            at = child;
        }
        put(at, queuePair, time);
    }

    private void move(int from, int to) {
        IbQueuePair moved = queuePairs[from];
        if (moved != null) {
            put(to, moved, times[from]);
        }
    }

    private void put(int at, IbQueuePair queuePair, long time) {
        queuePairs[at] = queuePair;
        times[at] = time;
        queuePair.heapIndex = at;
    }

    private void grow() {
        times = Arrays.copyOf(times, size * 2);
        queuePairs = Arrays.copyOf(queuePairs, size * 2);
    }
}
