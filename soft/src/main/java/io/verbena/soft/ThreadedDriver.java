// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/**
 * Drives an agent in real time with a thread of its own, which stands back while applications poll and blocks in the
 * kernel when nothing happens.
 */
final class ThreadedDriver extends AgentDriver {
    /** How long the thread looks for more work before it blocks. */
    private static final long SPIN_NS = 50_000;
    /** About as long as an answer takes when both ends run. */
    private static final int IDLE_POLLS_BEFORE_YIELD = 16;
    /** How often the thread looks whether applications still poll, while they do. */
    private static final long POLLED_PARK_NS = 500_000;
    /** The link's waits have this granularity; nearer deadlines are waited for with short parks. */
    private static final long LINK_WAIT_MIN_NS = 2_000_000;

    private static final long SHORT_PARK_NS = 20_000;
    private static final long CLOSE_JOIN_MS = 5_000;

    private final PortAgent agent;
    private final Thread thread;

    /** Grows whenever an application polls; the thread stands back while it does. */
    private volatile int polls;

    /** Set by an application that polled until now and goes to sleep. */
    private volatile boolean takeOver;

    /** Polls in a row that found nothing; approximate when several threads poll. */
    private int idlePolls;

    /** When the thread, blocked in the link, will look again. */
    private volatile long wakesAt;

    private volatile boolean blocked;

    ThreadedDriver(String name, PortAgent agent) {
        this.agent = agent;
        this.thread = Thread.ofPlatform().daemon().name("verbena-" + name).unstarted(this::run);
    }

    @Override
    String name() {
        return thread.getName();
    }

    @Override
    long nanoTime() {
        return System.nanoTime();
    }

    @Override
    void start() {
        thread.start();
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // a lost update is still a change
    void polling() {
        polls++;
    }

    @Override
    void polled(int work) {
        if (work > 0) {
            idlePolls = 0;
        } else if (++idlePolls > IDLE_POLLS_BEFORE_YIELD) {
            // Whoever has what this thread waits for may want this core.
            Thread.yield();
        }
    }

    /** The thread takes over at once. */
    @Override
    void handOver() {
        takeOver = true;
        LockSupport.unpark(thread);
    }

    @Override
    boolean goesOn(long start, long deadline) throws InterruptedException {
        return Spin.goesOn(start, deadline);
    }

    @Override
    void pause(long ns) {
        LockSupport.parkNanos(this, ns);
    }

    private void run() {
        long lastWork = System.nanoTime();
        int seenPolls = polls;
        while (!agent.closed()) {
            int work = agent.tryCycle();
            long at = System.nanoTime();
            if (work > 0) {
                lastWork = at;
            }
            boolean polled = polls != seenPolls && !takeOver;
            seenPolls = polls;
            takeOver = false;
            if (polled) {
                LockSupport.parkNanos(this, POLLED_PARK_NS);
            } else if (at - lastWork < SPIN_NS) {
                Thread.yield();
            } else {
                block();
            }
        }
    }

    /** Blocks until a frame arrives, a deadline comes, or somebody wakes the thread. */
    private void block() {
        long wait = announceBlocking();
        try {
            if (!agent.port().serviceRequested() && !agent.closed()) {
                if (wait >= LINK_WAIT_MIN_NS) {
                    agent.link().await(wait == Long.MAX_VALUE ? wait : wait - LINK_WAIT_MIN_NS / 2);
                } else if (wait > 0 && !agent.link().await(0)) {
                    LockSupport.parkNanos(this, Math.min(wait, SHORT_PARK_NS));
                }
            }
        } catch (IOException e) {
            agent.fail(e);
        } finally {
            blocked = false;
        }
    }

    /**
     * Tells the others that the thread is about to block; returns how long it may, {@link Long#MAX_VALUE} for any time,
     * and 0 when another thread left frames to send since this one last looked.
     */
    private long announceBlocking() {
        agent.lock();
        try {
            long now = System.nanoTime();
            long deadline = agent.port().nextDeadline();
            wakesAt = deadline;
            blocked = true;
            if (agent.port().wantsToSend() && !agent.link().transmitPending()) {
                return 0;
            }
            return deadline == Long.MAX_VALUE ? Long.MAX_VALUE : deadline - now;
        } finally {
            agent.unlock();
        }
    }

    /**
     * A blocked thread learns of deadlines before the one it waits for, and of frames that the socket had no room for.
     */
    @Override
    void cycled() {
        if (blocked && Thread.currentThread() != thread) {
            long deadline = agent.port().nextDeadline();
            if ((deadline != Long.MAX_VALUE && (wakesAt == Long.MAX_VALUE || deadline - wakesAt < 0))
                    || agent.port().wantsToSend()) {
                wakesAt = deadline;
                agent.link().wakeup();
            }
        }
    }

    @Override
    void stop() {
        agent.link().wakeup();
        LockSupport.unpark(thread);
        if (Thread.currentThread() == thread) {
            return;
        }
        try {
            thread.join(CLOSE_JOIN_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
