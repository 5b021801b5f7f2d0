// SPDX-License-Identifier: Apache-2.0
package io.verbena.examples;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import picocli.CommandLine;

/** One run of an example, on a thread of its own. */
final class Program {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    /** A server notes when it listens; else the end is the first that is told. */
    private final CountDownLatch told = new CountDownLatch(1);

    private final FutureTask<Integer> run;

    private Program(String commandLine) {
        CommandLine line = Examples.commandLine();
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err) {
            @Override
            public void flush() {
                super.flush();
                told.countDown();
            }
        });
        run = new FutureTask<>(() -> {
            try {
                return line.execute(commandLine.split(" "));
            } finally {
                told.countDown();
            }
        });
        Thread.ofPlatform().daemon().name(commandLine).start(run);
    }

    /** Starts a server and waits until it listens. */
    static Program server(String commandLine) throws InterruptedException {
        Program program = new Program(commandLine);
        program.told.await();
        return program;
    }

    static Program run(String commandLine) throws Exception {
        Program program = new Program(commandLine);
        int unused = program.exitCode();
        return program;
    }

    int exitCode() throws Exception {
        return run.get();
    }

    String out() throws Exception {
        int unused = exitCode();
        return out.toString();
    }

    String err() throws Exception {
        int unused = exitCode();
        return err.toString();
    }

    /** A loopback address that nobody else uses, most likely. */
    static String freeAddress() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return "127." + random.nextInt(64, 250) + "." + random.nextInt(1, 250) + "." + random.nextInt(1, 250);
    }
}
