// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

/** Errors that wait for the owner to ask. Bounded: what does not fit is counted and dropped. */
final class UnreachableReports {
    static final int CAPACITY = 64;

    private final long[] highs = new long[CAPACITY];
    private final long[] lows = new long[CAPACITY];
    private final int[] ports = new int[CAPACITY];
    private final int[] errnos = new int[CAPACITY];
    private final LinkCounters counters;
    private int size;

    UnreachableReports(LinkCounters counters) {
        this.counters = counters;
    }

    synchronized void add(long high, long low, int port, int errno) {
        counters.unreachable++;
        if (size == CAPACITY) {
            counters.unreachableLost++;
            return;
        }
        highs[size] = high;
        lows[size] = low;
        ports[size] = port;
        errnos[size] = errno;
        size++;
    }

    private synchronized int size() {
        return size;
    }

    private synchronized void forget(int count) {
        size -= count;
        System.arraycopy(highs, count, highs, 0, size);
        System.arraycopy(lows, count, lows, 0, size);
        System.arraycopy(ports, count, ports, 0, size);
        System.arraycopy(errnos, count, errnos, 0, size);
    }

    /** One thread at a time; another may add meanwhile, behind what is read here. */
    int drain(UnreachableHandler handler) {
        int count = size();
        for (int i = 0; i < count; i++) {
            handler.onUnreachable(highs[i], lows[i], ports[i], errnos[i]);
        }
        if (count > 0) {
            forget(count);
        }
        return count;
    }
}
