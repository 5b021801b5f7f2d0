// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.demo;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.ThisProgram;
import io.verbena.verbs.QueuePairEndpoint;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The target as the initiator sees it: a child process with this program's class path, that ends when this one does.
 */
final class TargetProcess implements AutoCloseable {
    /** Starting a JVM takes a second; on a machine that is busy with other things, several. */
    private static final long START_SECONDS = 30;

    private static final long END_SECONDS = 10;

    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private TargetProcess(Process process) {
        this.process = process;
        Thread.ofVirtual().name("verbena-demo-target").start(this::readLines);
    }

    static TargetProcess start(
            long size, int firstAddress, List<QueuePairEndpoint> peers, List<Integer> receivers, int narrow) {
        List<String> command = ThisProgram.command();
        command.add("demo-target");
        command.add("--size=" + size);
        command.add("--first=" + firstAddress);
        peers.forEach(peer -> command.add("--peer=" + peer));
        receivers.forEach(index -> command.add("--receiver=" + index));
        command.add("--narrow=" + narrow);
        try {
            return new TargetProcess(new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start());
        } catch (IOException e) {
            throw new CommandFailure("cannot start the target process: " + e.getMessage(), e);
        }
    }

    long pid() {
        return process.pid();
    }

    /** Waits until the target has told all and sleeps. */
    TargetInfo awaitReady() throws InterruptedException {
        Map<String, String> told = new HashMap<>();
        List<QueuePairEndpoint> endpoints = new ArrayList<>();
        readUntil("ready", START_SECONDS, told, endpoints);
        String[] memory = field(told, "memory").split(" ", 3);
        String[] counters = field(told, "counters").split(" ", 2);
        return new TargetInfo(
                field(told, "device"),
                Long.parseLong(memory[0]),
                Integer.parseInt(memory[1]),
                Long.parseLong(memory[2]),
                Long.parseLong(counters[0]),
                Integer.parseInt(counters[1]),
                endpoints);
    }

    /** Wakes the target and hears what it found. */
    TargetReport wake() throws InterruptedException {
        endInput();
        Map<String, String> told = new HashMap<>();
        readUntil("bye", END_SECONDS, told, new ArrayList<>());
        return new TargetReport(
                field(told, "message"),
                Long.parseLong(field(told, "messages")),
                field(told, "hash"),
                Long.parseLong(field(told, "sum")),
                Long.parseLong(field(told, "cpu")));
    }

    private static String field(Map<String, String> told, String name) {
        return Objects.requireNonNull(told.get(name), () -> "the target did not tell its " + name);
    }

    private void readUntil(String last, long seconds, Map<String, String> told, List<QueuePairEndpoint> endpoints)
            throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (true) {
            @Nullable String line = lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new CommandFailure("the target process said nothing for " + seconds + " s");
            }
            if (line.isEmpty()) {
                throw new CommandFailure("the target process ended before it was told to; what it said stands above");
            }
            if (line.equals(last)) {
                return;
            }
            int space = line.indexOf(' ');
            String name = space < 0 ? line : line.substring(0, space);
            String value = space < 0 ? "" : line.substring(space + 1);
            if (name.equals("endpoint")) {
                endpoints.add(QueuePairEndpoint.parse(value));
            } else {
                told.put(name, value);
            }
        }
    }

    /** An empty line stands for the end. */
    private void readLines() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            String line = reader.readLine();
            while (line != null) {
                if (!line.isEmpty()) {
                    lines.add(line);
                }
                line = reader.readLine();
            }
        } catch (IOException e) {
            // The process ended or was ended: the same.
        }
        lines.add("");
    }

    private void endInput() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // It reads no more: it has ended.
        }
    }

    /** Ends the process, by force when it does not end by itself. */
    @Override
    public void close() {
        endInput();
        try {
            if (process.waitFor(2, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
    }
}
