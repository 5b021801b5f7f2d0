// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What a command opened, closed in reverse order: at its end, or by a shutdown hook on Ctrl-C, so that the peer is not
 * left to find out by timeouts. Thread-safe; closing twice does nothing.
 */
public final class Resources implements AutoCloseable {
    private static volatile boolean shuttingDown;

    private final Deque<AutoCloseable> stack = new ArrayDeque<>();
    private final Thread hook = new Thread(this::closeOnShutdown, "verbena-close");
    private boolean closed;

    public Resources() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /**
     * Whether the JVM is on its way out; failures that closing under a running command causes are then of no interest.
     */
    public static boolean isShuttingDown() {
        return shuttingDown;
    }

    /** Remembers what to close. Closes it at once when everything else is closed already. */
    public <T extends AutoCloseable> T add(T resource) {
        synchronized (this) {
            if (!closed) {
                stack.push(resource);
                return resource;
            }
        }
        closeQuietly(resource);
        throw new CommandFailure("interrupted");
    }

    /** Native memory that any thread may use. */
    @SuppressWarnings("MustBeClosedChecker")
    public Arena arena() {
        return add(Arena.ofShared());
    }

    @Override
    public void close() {
        closeAll();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is shutting down: the hook is running or has run.
            shuttingDown = true;
        }
    }

    private void closeOnShutdown() {
        shuttingDown = true;
        closeAll();
    }

    private void closeAll() {
        while (true) {
            AutoCloseable next;
            synchronized (this) {
                closed = true;
                next = stack.poll();
            }
            if (next == null) {
                return;
            }
            closeQuietly(next);
        }
    }

    private static void closeQuietly(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            // A result or a failure was told already; what is left to close matters more than this.
            System.getLogger(Resources.class.getName()).log(System.Logger.Level.DEBUG, "closing " + resource, e);
        }
    }
}
