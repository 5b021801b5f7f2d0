// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Tells devices whether their network interfaces are up. One thread looks for all of them, while there are any: nothing
 * in Java tells of a change. Thread-safe.
 */
final class PortWatch {
    /** Of all devices that were opened by name. */
    static final PortWatch SHARED = new PortWatch(PortWatch::interfaceIsUp, Duration.ofSeconds(1));

    /** What is asked about an interface. */
    interface Check {
        boolean isUp(String interfaceName) throws SocketException;
    }

    private final Check check;
    private final long intervalNs;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    /** Guarded by the lock, as is the thread. */
    private final Set<SoftContext> devices = new LinkedHashSet<>();

    private @Nullable Thread thread;

    PortWatch(Check check, Duration interval) {
        this.check = check;
        this.intervalNs = interval.toNanos();
    }

    private static boolean interfaceIsUp(String name) throws SocketException {
        NetworkInterface network = NetworkInterface.getByName(name);
        return network != null && network.isUp();
    }

    void add(SoftContext device) {
        lock.lock();
        try {
            devices.add(device);
            if (thread == null) {
                thread = Thread.ofPlatform().daemon().name("verbena-ports").start(this::run);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Forgets a device; the thread ends with the last one. */
    void remove(SoftContext device) {
        lock.lock();
        try {
            devices.remove(device);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The thread that looks, or null while there is no device. */
    @Nullable
    Thread thread() {
        lock.lock();
        try {
            return thread;
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        while (awaitTurn()) {
            look();
        }
    }

    /** Waits for the next look; false when there is nothing to look at any more. */
    private boolean awaitTurn() {
        lock.lock();
        try {
            long left = intervalNs;
            while (left > 0 && !devices.isEmpty()) {
                left = changed.awaitNanos(left);
            }
            if (devices.isEmpty()) {
                thread = null;
                return false;
            }
            return true;
        } catch (InterruptedException e) {
            thread = null;
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Looks at each interface once and tells all its devices. */
    void look() {
        Map<String, Boolean> states = new HashMap<>();
        for (SoftContext device : snapshot()) {
            try {
                String name = device.device().networkInterface();
                Boolean up = states.get(name);
                if (up == null) {
                    up = check.isUp(name);
                    states.put(name, up);
                }
                device.portState(up);
            } catch (SocketException unknown) {
                // It stays as it was until a look succeeds.
                System.getLogger("io.verbena.soft").log(System.Logger.Level.DEBUG, "state of an interface", unknown);
            }
        }
    }

    private List<SoftContext> snapshot() {
        lock.lock();
        try {
            return List.copyOf(devices);
        } finally {
            lock.unlock();
        }
    }
}
