// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import java.io.Console;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A line on stderr that is written over again and again while a run lasts, and goes away when it ends. Only on a
 * terminal.
 */
public final class Progress implements AutoCloseable {
    /** Runs shorter than this show nothing. */
    private static final Duration DELAY = Duration.ofSeconds(2);

    private static final Duration INTERVAL = Duration.ofMillis(500);

    private final PrintWriter err;
    private final Supplier<String> text;
    private final @Nullable Thread thread;
    private volatile boolean done;

    private Progress(PrintWriter err, Supplier<String> text, boolean shown) {
        this.err = err;
        this.text = text;
        thread = shown ? Thread.ofVirtual().name("verbena-progress").unstarted(this::show) : null;
    }

    public static Progress start(PrintWriter err, Supplier<String> text) {
        return start(err, text, isTerminal());
    }

    // The nullness annotations of the JDK say that there may be none.
    @SuppressWarnings("SystemConsoleNull")
    private static boolean isTerminal() {
        Console console = System.console();
        return console != null && console.isTerminal();
    }

    static Progress start(PrintWriter err, Supplier<String> text, boolean shown) {
        Progress progress = new Progress(err, text, shown);
        if (progress.thread != null) {
            progress.thread.start();
        }
        return progress;
    }

    private void show() {
        int width = 0;
        try {
            Thread.sleep(DELAY);
            while (!done) {
                String line = text.get();
                err.print("\r" + line + " ".repeat(Math.max(0, width - line.length())));
                err.flush();
                width = line.length();
                Thread.sleep(INTERVAL);
            }
        } catch (InterruptedException e) {
            // Closed: clear the line and end.
        }
        if (width > 0) {
            err.print("\r" + " ".repeat(width) + "\r");
            err.flush();
        }
    }

    @Override
    public void close() {
        done = true;
        if (thread == null) {
            return;
        }
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
