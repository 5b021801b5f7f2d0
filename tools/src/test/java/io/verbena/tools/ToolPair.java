// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** A server and its client, run in this process on the software devices of this host. */
public record ToolPair(ToolRun server, ToolRun client) {
    /** Runs the same command on both ends. */
    public static ToolPair of(String... command) throws Exception {
        return of(List.of(command), List.of(command));
    }

    public static ToolPair of(List<String> server, List<String> client) throws Exception {
        String port = Integer.toString(freePort());
        FutureTask<ToolRun> task = start(() -> ToolRun.of(with(server, "-p", port)));
        ToolRun clientRun = ToolRun.of(with(client, "-p", port, "127.0.0.1"));
        return new ToolPair(get(task), clientRun);
    }

    private static FutureTask<ToolRun> start(Callable<ToolRun> run) {
        FutureTask<ToolRun> task = new FutureTask<>(run);
        Thread.ofPlatform().daemon().name("server").start(task);
        return task;
    }

    private static ToolRun get(FutureTask<ToolRun> task) throws InterruptedException, ExecutionException {
        return task.get();
    }

    private static List<String> with(List<String> command, String... more) {
        List<String> all = new ArrayList<>(command);
        all.addAll(List.of(more));
        return all;
    }

    /** A TCP port that nobody had a moment ago. */
    public static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
