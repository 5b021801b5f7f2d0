// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.queue.CompletionRing;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.WorkCompletion;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A completion ring with its consumers. */
final class SoftCompletionQueue implements CompletionQueue, Sleepers.Wakeable {
    private final SoftContext context;
    private final CompletionRing ring;
    private final @Nullable SoftCompletionChannel channel;
    private final CompletionRing.SlotRelease slotRelease;
    /** One consumer at a time. */
    private final ReentrantLock consumer = new ReentrantLock();

    private final ReentrantLock sleepers = new ReentrantLock();
    private final Condition arrived = sleepers.newCondition();
    /** Queue pairs and shared receive queues that report here; guarded by the agent's owner lock. */
    private int users;

    private volatile boolean closed;

    SoftCompletionQueue(SoftContext context, CompletionRing ring, @Nullable SoftCompletionChannel channel) {
        this.context = context;
        this.ring = ring;
        this.channel = channel;
        this.slotRelease = context.agent().port()::releaseSendSlots;
        ring.owner(this);
        context.sleepers().add(this);
    }

    CompletionRing ring() {
        return ring;
    }

    /** Inside the owner lock: a queue pair, with one of its queues or both, or a shared receive queue reports here. */
    void attach() {
        users++;
    }

    /** Inside the owner lock: a queue pair goes, and its unpolled completions with it. */
    void detach(int handle, int qpNumber) {
        users--;
        remove(handle, qpNumber);
    }

    /** Inside the owner lock: a shared receive queue that reports here goes; its completions stay. */
    void detach() {
        users--;
    }

    /** Inside the owner lock: forgets the unpolled completions of a queue pair. */
    void remove(int handle, int qpNumber) {
        consumer.lock();
        try {
            ring.remove(handle, qpNumber);
        } finally {
            consumer.unlock();
        }
    }

    /** The engine put something into the ring. */
    void onCompletions() {
        VarHandle.fullFence();
        if (ring.hasWaiters()) {
            wakeSleepers();
        }
        if (channel != null && ring.takeEvent()) {
            channel.fire(this);
        }
    }

    @Override
    public void wakeSleepers() {
        sleepers.lock();
        try {
            arrived.signalAll();
        } finally {
            sleepers.unlock();
        }
    }

    @Override
    public DeviceContext context() {
        return context;
    }

    @Override
    public int capacity() {
        return ring.capacity();
    }

    @Override
    public void resize(int entries) {
        SoftProtectionDomain.limit("entries", entries, 1, Limits.MAX_CQE, "maxCqe");
        context.agent().run(() -> {
            requireOpen();
            consumer.lock();
            try {
                if (!ring.resize(entries)) {
                    throw new RdmaException(
                            RdmaException.Reason.INVALID_ARGUMENT,
                            "the completion queue holds " + ring.size() + " completions; it cannot shrink to "
                                    + entries);
                }
            } finally {
                consumer.unlock();
            }
        });
    }

    @Override
    public @Nullable CompletionChannel channel() {
        return channel;
    }

    @Override
    public boolean poll(WorkCompletion completion) {
        if (take(completion)) {
            return true;
        }
        requireUsable();
        context.agent().poll();
        return take(completion);
    }

    private boolean take(WorkCompletion completion) {
        if (ring.isEmpty()) {
            return false;
        }
        consumer.lock();
        try {
            return ring.poll(completion, slotRelease);
        } finally {
            consumer.unlock();
        }
    }

    @Override
    public boolean await(WorkCompletion completion, Duration timeout) throws InterruptedException {
        AgentDriver driver = context.agent().driver();
        long start = driver.nanoTime();
        long deadline = start + Deadlines.nanos(timeout);
        do {
            if (poll(completion)) {
                return true;
            }
        } while (driver.goesOn(start, deadline));
        ring.waiters(1);
        try {
            driver.handOver();
            return sleepFor(completion, deadline);
        } finally {
            ring.waiters(-1);
        }
    }

    private boolean sleepFor(WorkCompletion completion, long deadline) throws InterruptedException {
        sleepers.lockInterruptibly();
        try {
            while (true) {
                if (take(completion)) {
                    return true;
                }
                requireUsable();
                long left = deadline - context.agent().driver().nanoTime();
                if (left <= 0) {
                    return false;
                }
                long unused = arrived.awaitNanos(left);
            }
        } finally {
            sleepers.unlock();
        }
    }

    @Override
    public void requestNotify(boolean solicitedOnly) {
        requireOpen();
        SoftCompletionChannel target = channel;
        if (target == null) {
            throw new IllegalStateException("this completion queue was created without a completion channel");
        }
        if (ring.arm(solicitedOnly)) {
            target.fire(this);
        }
    }

    void requireOpen() {
        if (closed) {
            throw new RdmaException(RdmaException.Reason.CLOSED, "the completion queue is closed");
        }
    }

    private void requireUsable() {
        requireOpen();
        context.requireOpen();
        if (ring.overrun() && ring.isEmpty()) {
            throw new RdmaException(
                    RdmaException.Reason.RESOURCE_EXHAUSTED,
                    "the completion queue was overrun: more than " + ring.capacity()
                            + " completions were not polled, and those beyond are lost;"
                            + " make it as large as all queues that report to it");
        }
    }

    @Override
    public void close() {
        context.agent().run(() -> {
            if (closed) {
                return;
            }
            if (users > 0) {
                throw new RdmaException(
                        RdmaException.Reason.BUSY,
                        "the completion queue is still used by " + users
                                + " queue pairs and shared receive queues; close them first");
            }
            closed = true;
            context.completionQueues().giveBack();
            context.childChanged(-1);
            context.sleepers().remove(this);
            if (channel != null) {
                channel.detach(this);
            }
        });
        wakeSleepers();
    }
}
