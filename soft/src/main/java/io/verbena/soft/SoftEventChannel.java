// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A queue of events. There are never more than a few for each id, and ids that peers cause are bounded. */
final class SoftEventChannel implements EventChannel {
    private final DeviceChoice devices;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<ConnectionEvent> events = new ArrayDeque<>();
    private final Set<SoftConnectionId> ids = new LinkedHashSet<>();
    private boolean closed;

    SoftEventChannel(DeviceChoice devices) {
        this.devices = devices;
    }

    DeviceChoice devices() {
        return devices;
    }

    @Override
    public ConnectionId createId(PortSpace portSpace) {
        return adopt(new SoftConnectionId(this, portSpace));
    }

    SoftConnectionId adopt(SoftConnectionId id) {
        lock.lock();
        try {
            if (closed) {
                throw new RdmaException(RdmaException.Reason.CLOSED, "the event channel is closed");
            }
            ids.add(id);
            return id;
        } finally {
            lock.unlock();
        }
    }

    /** The id is closed or went to another channel; its events go with it. */
    List<ConnectionEvent> disown(SoftConnectionId id) {
        lock.lock();
        try {
            ids.remove(id);
            List<ConnectionEvent> theirs = new ArrayList<>();
            events.removeIf(event -> event.id() == id && theirs.add(event));
            return theirs;
        } finally {
            lock.unlock();
        }
    }

    /** Takes a request back that nobody has taken yet, and its id with it; false when somebody has. */
    boolean retract(SoftConnectionId id) {
        lock.lock();
        try {
            boolean waits = events.removeIf(
                    event -> event instanceof ConnectionEvent.ConnectRequest request && request.id() == id);
            if (waits) {
                ids.remove(id);
            }
            return waits;
        } finally {
            lock.unlock();
        }
    }

    void add(ConnectionEvent event) {
        lock.lock();
        try {
            if (!closed) {
                events.addLast(event);
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public @Nullable ConnectionEvent poll() {
        lock.lock();
        try {
            return events.pollFirst();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public @Nullable ConnectionEvent await(Duration timeout) throws InterruptedException {
        AgentDriver stepping = devices.steppingDriver();
        if (stepping != null) {
            return awaitStepping(stepping, timeout);
        }
        long left = Deadlines.nanos(timeout);
        lock.lockInterruptibly();
        try {
            while (events.isEmpty() && !closed && left > 0) {
                left = changed.awaitNanos(left);
            }
            return events.pollFirst();
        } finally {
            lock.unlock();
        }
    }

    /** In virtual time, which passes only because somebody waits. */
    private @Nullable ConnectionEvent awaitStepping(AgentDriver driver, Duration timeout) throws InterruptedException {
        long start = driver.nanoTime();
        long deadline = start + Deadlines.nanos(timeout);
        do {
            ConnectionEvent event = poll();
            if (event != null || isClosed()) {
                return event;
            }
        } while (driver.goesOn(start, deadline));
        return poll();
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        List<SoftConnectionId> open;
        lock.lock();
        try {
            closed = true;
            open = List.copyOf(ids);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        open.forEach(SoftConnectionId::close);
        lock.lock();
        try {
            events.clear();
        } finally {
            lock.unlock();
        }
    }
}
