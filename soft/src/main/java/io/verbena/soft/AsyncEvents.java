// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.verbs.AsyncEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Asynchronous events that nobody took yet. Bounded: a program that never looks loses the oldest, not its memory. */
final class AsyncEvents {
    private static final int MAX = 1024;

    private final ArrayDeque<AsyncEvent> events = new ArrayDeque<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition added = lock.newCondition();
    private boolean closed;

    void add(AsyncEvent event) {
        lock.lock();
        try {
            if (events.size() == MAX) {
                events.removeFirst();
            }
            events.addLast(event);
            added.signal();
        } finally {
            lock.unlock();
        }
    }

    @Nullable
    AsyncEvent poll() {
        lock.lock();
        try {
            return events.pollFirst();
        } finally {
            lock.unlock();
        }
    }

    @Nullable
    AsyncEvent await(AgentDriver driver, Duration timeout) throws InterruptedException {
        long start = driver.nanoTime();
        long deadline = start + Deadlines.nanos(timeout);
        do {
            AsyncEvent early = poll();
            if (early != null) {
                return early;
            }
        } while (driver.goesOn(start, deadline));
        long left = deadline - driver.nanoTime();
        lock.lockInterruptibly();
        try {
            while (events.isEmpty() && !closed && left > 0) {
                left = added.awaitNanos(left);
            }
            return events.pollFirst();
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            closed = true;
            added.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
