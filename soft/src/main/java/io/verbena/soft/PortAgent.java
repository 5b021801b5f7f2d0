// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.link.DatagramLink;
import io.verbena.link.FrameHandler;
import io.verbena.link.UnreachableHandler;
import io.verbena.transport.ib.IbPort;
import io.verbena.transport.memory.Region;
import io.verbena.wire.Frame;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Drives one port. All of the engine's state belongs to whoever holds the owner lock: the agent's thread, or an
 * application thread that polls or posts, so that a program that polls pays no hand-off. When nothing happens the agent
 * blocks in the kernel.
 */
final class PortAgent {
    private static final System.Logger LOGGER = System.getLogger("io.verbena.soft");
    private static final int FRAMES_PER_CYCLE = 64;
    /** How long the agent looks for more work before it blocks. */
    private static final long SPIN_NS = 50_000;
    /** About as long as an answer takes when both ends run. */
    private static final int IDLE_POLLS_BEFORE_YIELD = 16;
    /** How often the agent looks whether applications still poll, while they do. */
    private static final long POLLED_PARK_NS = 500_000;
    /** The link's waits have this granularity; nearer deadlines are waited for with short parks. */
    private static final long LINK_WAIT_MIN_NS = 2_000_000;

    private static final long SHORT_PARK_NS = 20_000;
    private static final long UNREACHABLE_INTERVAL_NS = 10_000_000;
    private static final long CLOSE_JOIN_MS = 5_000;

    private final DatagramLink link;
    private final IbPort port;
    private final ReentrantLock owner = new ReentrantLock();
    private final Frame sending = new Frame();
    private final Thread thread;
    private final Consumer<String> onFailure;

    /** The time of the running cycle, for the handlers that the link calls. */
    private long now;

    private final FrameHandler onFrame = this::onFrame;
    private final UnreachableHandler onUnreachable = this::onUnreachable;
    private long nextUnreachablePoll;
    private boolean sentSinceUnreachablePoll;

    /** Grows whenever an application polls; the agent stands back while it does. */
    private volatile int polls;

    /** Set by an application that polled until now and goes to sleep. */
    private volatile boolean takeOver;

    /** Polls in a row that found nothing; approximate when several threads poll. */
    private int idlePolls;

    /** When the agent, blocked in the link, will look again; {@link Long#MIN_VALUE} while it is awake. */
    private volatile long agentWakesAt = Long.MIN_VALUE;

    private volatile boolean agentBlocked;
    private volatile boolean closed;
    private volatile @Nullable String failure;

    PortAgent(String name, DatagramLink link, IbPort port, Consumer<String> onFailure) {
        this.link = link;
        this.port = port;
        this.onFailure = onFailure;
        this.thread = Thread.ofPlatform().daemon().name("verbena-" + name).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    IbPort port() {
        return port;
    }

    DatagramLink link() {
        return link;
    }

    /** Runs something that touches the engine's state. */
    <T> T call(Supplier<T> action) {
        owner.lock();
        try {
            now = System.nanoTime();
            T result = action.get();
            port.pollEvents();
            return result;
        } finally {
            owner.unlock();
            service();
        }
    }

    /** The region that a key names for local use, or null. Allocates nothing, unlike {@link #call}. */
    @Nullable
    Region localRegion(int lkey) {
        owner.lock();
        try {
            return port.keys().local(lkey);
        } finally {
            owner.unlock();
            service();
        }
    }

    /** Runs something that touches the engine's state, and sends what came of it. */
    void run(Runnable action) {
        owner.lock();
        try {
            now = System.nanoTime();
            action.run();
            cycleOwned();
        } finally {
            owner.unlock();
            service();
        }
    }

    /** The time of the present cycle; for actions given to {@link #call} and {@link #run}. */
    long now() {
        return now;
    }

    /** An application's poll found nothing: makes progress on its thread, unless another thread is at it. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // a lost update is still a change
    void poll() {
        polls++;
        int work = 0;
        if (owner.tryLock()) {
            try {
                work = cycleOwned();
            } finally {
                owner.unlock();
            }
            service();
        }
        if (work > 0) {
            idlePolls = 0;
        } else if (++idlePolls > IDLE_POLLS_BEFORE_YIELD) {
            // Whoever has what this thread waits for may want this core.
            Thread.yield();
        }
    }

    /**
     * Sees to queue pairs that rang, on this thread, unless the owner will. Who posts does not wait for what arrives.
     */
    void service() {
        // The owner looks at the bells once more after it unlocks, so a bell is never left alone.
        while (port.serviceRequested() && !closed && owner.tryLock()) {
            try {
                cycleOwned(false);
            } finally {
                owner.unlock();
            }
        }
    }

    /** An application stops polling and goes to sleep: the agent takes over at once. */
    void handOver() {
        takeOver = true;
        LockSupport.unpark(thread);
    }

    /** Why the agent stopped, or null while it works. */
    @Nullable
    String failure() {
        return failure;
    }

    private void run() {
        long lastWork = System.nanoTime();
        int seenPolls = polls;
        while (!closed) {
            int work = owner.tryLock() ? agentCycle() : 1;
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

    private int agentCycle() {
        try {
            return cycleOwned();
        } finally {
            owner.unlock();
            service();
        }
    }

    /** Blocks until a frame arrives, a deadline comes, or somebody wakes the agent. */
    private void block() {
        long wait = announceBlocking();
        try {
            if (!port.serviceRequested() && !closed) {
                if (wait >= LINK_WAIT_MIN_NS) {
                    link.await(wait == Long.MAX_VALUE ? wait : wait - LINK_WAIT_MIN_NS / 2);
                } else if (wait > 0 && !link.await(0)) {
                    LockSupport.parkNanos(this, Math.min(wait, SHORT_PARK_NS));
                }
            }
        } catch (IOException e) {
            fail(e);
        } finally {
            agentBlocked = false;
        }
    }

    /**
     * Tells the others that the agent is about to block; returns how long it may, {@link Long#MAX_VALUE} for any time,
     * and 0 when another thread left frames to send since the agent last looked.
     */
    private long announceBlocking() {
        owner.lock();
        try {
            now = System.nanoTime();
            long deadline = port.nextDeadline();
            agentWakesAt = deadline;
            agentBlocked = true;
            if (port.wantsToSend() && !link.transmitPending()) {
                return 0;
            }
            return deadline == Long.MAX_VALUE ? Long.MAX_VALUE : deadline - now;
        } finally {
            owner.unlock();
        }
    }

    /** The duty cycle: bells, frames in, deadlines, frames out, events. Returns how much there was to do. */
    private int cycleOwned() {
        return cycleOwned(true);
    }

    /** The duty cycle, or only the half of it that sends. */
    private int cycleOwned(boolean receive) {
        if (closed) {
            return 0;
        }
        boolean interrupted = Thread.currentThread().isInterrupted();
        try {
            now = System.nanoTime();
            int work = port.answerDoorbells(now);
            if (receive) {
                work += link.receive(onFrame, FRAMES_PER_CYCLE);
            }
            if (port.nextDeadline() - now <= 0 && port.nextDeadline() != Long.MAX_VALUE) {
                port.onTimeout(now);
            }
            work += send();
            pollUnreachable();
            port.pollEvents();
            wakeAgentIfNeeded();
            if (port.keys().takeVanished() && !interrupted) {
                // Set by the JVM when it broke off an access to memory whose arena another thread closed.
                interrupted = Thread.interrupted();
            }
            return work;
        } catch (IOException | RuntimeException e) {
            // A defect must not end the thread in silence and leave everybody waiting.
            fail(e);
            return 0;
        }
    }

    private int send() throws IOException {
        int sent = 0;
        while (sent < FRAMES_PER_CYCLE && port.wantsToSend() && link.beginTransmit(sending)) {
            if (!port.pollFrame(now, sending)) {
                break;
            }
            link.commitTransmit(sending);
            sent++;
        }
        if (sent > 0) {
            sentSinceUnreachablePoll = true;
            link.flush();
        } else if (link.transmitPending()) {
            link.beginTransmit(sending);
        }
        return sent;
    }

    private void pollUnreachable() throws IOException {
        if (sentSinceUnreachablePoll && now - nextUnreachablePoll >= 0) {
            nextUnreachablePoll = now + UNREACHABLE_INTERVAL_NS;
            sentSinceUnreachablePoll = false;
            link.pollUnreachable(onUnreachable);
        }
    }

    /**
     * A blocked agent learns of deadlines before the one it waits for, and of frames that the socket had no room for.
     */
    private void wakeAgentIfNeeded() {
        if (agentBlocked && Thread.currentThread() != thread) {
            long deadline = port.nextDeadline();
            if ((deadline != Long.MAX_VALUE && (agentWakesAt == Long.MAX_VALUE || deadline - agentWakesAt < 0))
                    || port.wantsToSend()) {
                agentWakesAt = deadline;
                link.wakeup();
            }
        }
    }

    private void onFrame(Frame frame) {
        port.onFrame(now, frame);
    }

    private void onUnreachable(long remoteHigh, long remoteLow, int remotePort, int errno) {
        port.onUnreachable(remoteHigh, remoteLow);
    }

    private void fail(Exception e) {
        if (!closed) {
            String why = (e instanceof IOException ? "the link failed: " : "the device failed: ") + e;
            failure = why;
            closed = true;
            LOGGER.log(System.Logger.Level.ERROR, thread.getName() + " stops", e);
            onFailure.accept(why);
        }
    }

    /** Stops the agent and closes the link. */
    void close() {
        closed = true;
        link.wakeup();
        LockSupport.unpark(thread);
        boolean interrupted = false;
        if (Thread.currentThread() != thread) {
            try {
                thread.join(CLOSE_JOIN_MS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        owner.lock();
        try {
            link.close();
        } finally {
            owner.unlock();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
