// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.RdmaException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Fired events of the completion queues on this channel. Each queue has at most one here, since it must be armed again
 * first.
 */
final class SoftCompletionChannel implements CompletionChannel, Sleepers.Wakeable {
    private final SoftContext context;
    private final ArrayDeque<SoftCompletionQueue> fired = new ArrayDeque<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition added = lock.newCondition();
    /** Guarded by the agent's owner lock. */
    private int queues;

    private boolean closed;

    SoftCompletionChannel(SoftContext context) {
        this.context = context;
        context.sleepers().add(this);
    }

    @Override
    public void wakeSleepers() {
        lock.lock();
        try {
            added.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Inside the owner lock. */
    void attach() {
        queues++;
    }

    /** Inside the owner lock. */
    void detach(SoftCompletionQueue queue) {
        queues--;
        lock.lock();
        try {
            fired.removeIf(other -> other == queue);
        } finally {
            lock.unlock();
        }
    }

    void fire(SoftCompletionQueue queue) {
        lock.lock();
        try {
            fired.addLast(queue);
            added.signal();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public DeviceContext context() {
        return context;
    }

    @Override
    public @Nullable CompletionQueue poll() {
        context.agent().poll();
        lock.lock();
        try {
            requireOpen();
            return fired.pollFirst();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public @Nullable CompletionQueue await(Duration timeout) throws InterruptedException {
        AgentDriver driver = context.agent().driver();
        long start = driver.nanoTime();
        long deadline = start + Deadlines.nanos(timeout);
        do {
            CompletionQueue early = poll();
            if (early != null) {
                return early;
            }
        } while (driver.goesOn(start, deadline));
        driver.handOver();
        lock.lockInterruptibly();
        try {
            while (true) {
                requireOpen();
                context.requireOpen();
                SoftCompletionQueue queue = fired.pollFirst();
                long left = deadline - driver.nanoTime();
                if (queue != null || left <= 0) {
                    return queue;
                }
                long unused = added.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    void requireOpen() {
        if (closed) {
            throw new RdmaException(RdmaException.Reason.CLOSED, "the completion channel is closed");
        }
    }

    @Override
    public void close() {
        context.agent().run(() -> {
            lock.lock();
            try {
                if (closed) {
                    return;
                }
                if (queues > 0) {
                    throw new RdmaException(
                            RdmaException.Reason.BUSY,
                            "the completion channel still has " + queues + " completion queues; close them first");
                }
                closed = true;
                added.signalAll();
                context.childChanged(-1);
                context.sleepers().remove(this);
            } finally {
                lock.unlock();
            }
        });
    }
}
