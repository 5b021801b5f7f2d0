// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.link.DatagramLink;
import io.verbena.link.FrameHandler;
import io.verbena.link.UnreachableHandler;
import io.verbena.transport.ib.IbPort;
import io.verbena.transport.memory.Region;
import io.verbena.wire.Frame;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The duty cycle of one port. All of the engine's state belongs to whoever holds the owner lock: the driver, or an
 * application thread that polls or posts, so that a program that polls pays no hand-off.
 */
final class PortAgent {
    private static final System.Logger LOGGER = System.getLogger("io.verbena.soft");
    private static final int FRAMES_PER_CYCLE = 64;
    private static final long UNREACHABLE_INTERVAL_NS = 10_000_000;

    private final DatagramLink link;
    private final IbPort port;
    private final ReentrantLock owner = new ReentrantLock();
    private final Frame sending = new Frame();
    private final AgentDriver driver;
    /** Acts, at the end of a cycle, on events whose handlers must not call the engine. */
    private final Runnable settle;

    private final Consumer<String> onFailure;

    /** The time of the running cycle, for the handlers that the link calls. */
    private long now;

    private final FrameHandler onFrame = this::onFrame;
    private final UnreachableHandler onUnreachable = this::onUnreachable;
    private long nextUnreachablePoll;
    private boolean sentSinceUnreachablePoll;

    private volatile boolean closed;
    private volatile @Nullable String failure;

    /** An agent with a thread, or in the time that someone else makes pass. */
    PortAgent(
            String name,
            DatagramLink link,
            IbPort port,
            Runnable settle,
            Consumer<String> onFailure,
            @Nullable VirtualTime virtualTime) {
        this.link = link;
        this.port = port;
        this.settle = settle;
        this.onFailure = onFailure;
        this.driver = virtualTime == null ? new ThreadedDriver(name, this) : new SteppingDriver(name, virtualTime);
    }

    void start() {
        driver.start();
    }

    AgentDriver driver() {
        return driver;
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
            now = driver.nanoTime();
            T result = action.get();
            port.pollEvents();
            return result;
        } finally {
            owner.unlock();
            service();
        }
    }

    /** Runs something while nobody touches the engine's state, and nothing more; for a device that has failed. */
    <T> T locked(Supplier<T> action) {
        owner.lock();
        try {
            return action.get();
        } finally {
            owner.unlock();
        }
    }

    /** Runs something that touches the engine's state, and sends what came of it. */
    <T> T callAndSend(Supplier<T> action) {
        owner.lock();
        try {
            now = driver.nanoTime();
            T result = action.get();
            int unused = cycleOwned();
            return result;
        } finally {
            owner.unlock();
            service();
            // Who asks the connection manager waits for its event, and does not poll.
            driver.handOver();
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
            now = driver.nanoTime();
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
    void poll() {
        driver.polling();
        int work = 0;
        if (owner.tryLock()) {
            try {
                work = cycleOwned();
            } finally {
                owner.unlock();
            }
            service();
        }
        driver.polled(work);
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

    /** Why the agent stopped, or null while it works. */
    @Nullable
    String failure() {
        return failure;
    }

    boolean closed() {
        return closed;
    }

    void lock() {
        owner.lock();
    }

    void unlock() {
        owner.unlock();
    }

    /** The driver's duty cycle: how much there was to do, and 1 when another thread is at it. */
    int tryCycle() {
        if (!owner.tryLock()) {
            return 1;
        }
        try {
            return cycleOwned();
        } finally {
            owner.unlock();
            service();
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
            now = driver.nanoTime();
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
            settle.run();
            if (port.wantsToSend()) {
                // What the events led to, such as an answer of the connection manager.
                work += send();
            }
            driver.cycled();
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

    private void onFrame(Frame frame) {
        port.onFrame(now, frame);
    }

    private void onUnreachable(long remoteHigh, long remoteLow, int remotePort, int errno) {
        port.onUnreachable(remoteHigh, remoteLow);
    }

    void fail(Exception e) {
        if (!closed) {
            String why = (e instanceof IOException ? "the link failed: " : "the device failed: ") + e;
            failure = why;
            closed = true;
            LOGGER.log(System.Logger.Level.ERROR, driver.name() + " stops", e);
            onFailure.accept(why);
        }
    }

    /** Stops the agent and closes the link. */
    void close() {
        closed = true;
        driver.stop();
        owner.lock();
        try {
            link.close();
        } finally {
            owner.unlock();
        }
    }
}
