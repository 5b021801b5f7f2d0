// SPDX-License-Identifier: Apache-2.0
package io.verbena.examples;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.RejectReason;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What the programs have in common: how they print, how they wait, and what they say when something goes wrong. */
@Command
abstract class Example implements Callable<Integer> {
    /** For a message of a peer that is connected. The originals wait for ever. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    /** A server waits for clients for as long as it takes. */
    static final Duration LONG = Duration.ofDays(1000);

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("unused") // picocli acts on it
    private boolean help;

    @Spec
    private @Nullable CommandSpec spec;

    private CommandSpec spec() {
        return Objects.requireNonNull(spec, "picocli sets the spec before it calls a program");
    }

    final void say(String line) {
        print(spec().commandLine().getOut(), line);
    }

    /** Progress goes where failures go. */
    final void note(String line) {
        print(spec().commandLine().getErr(), spec().name() + ": " + line);
    }

    private static void print(PrintWriter to, String line) {
        to.println(line);
        to.flush();
    }

    /** The command line must be so. */
    final void require(boolean good, String otherwise) {
        if (!good) {
            throw new ParameterException(spec().commandLine(), otherwise);
        }
    }

    /** An address of this host; null stands for all of them. */
    final InetSocketAddress local(@Nullable String host, int port) {
        require(port >= 0 && port <= 0xffff, "-p takes a port, 0 to 65535, not " + port);
        return host == null ? new InetSocketAddress(port) : new InetSocketAddress(host, port);
    }

    final InetSocketAddress remote(String host, int port) {
        require(port >= 1 && port <= 0xffff, "-p takes a port, 1 to 65535, not " + port);
        return new InetSocketAddress(host, port);
    }

    /** Waits for what the connection manager has to tell (rdma_get_cm_event). */
    static ConnectionEvent next(EventChannel channel) throws InterruptedException {
        ConnectionEvent event = channel.await(LONG);
        return event == null ? next(channel) : event;
    }

    /** What an event that is none of the hoped for means. */
    static RdmaException failure(ConnectionEvent event) {
        String peer = String.valueOf(event.id().remoteAddress());
        return switch (event) {
            case ConnectionEvent.AddressFailed failed -> failed.cause();
            case ConnectionEvent.Rejected rejected ->
                new RdmaException(
                        RdmaException.Reason.REJECTED,
                        peer + " refused: "
                                + (rejected.reason() == RejectReason.INVALID_SERVICE_ID
                                        ? "nobody listens to that port"
                                        : rejected.reason() + " (" + rejected.number() + ")"));
            case ConnectionEvent.Unreachable unreachable ->
                new RdmaException(
                        RdmaException.Reason.UNREACHABLE,
                        peer + ": no answer; is the host up, and does its firewall pass UDP port 4791?");
            case ConnectionEvent.Disconnected ended ->
                new RdmaException(RdmaException.Reason.DISCONNECTED, peer + " is gone: " + ended.why());
            default -> new RdmaException(RdmaException.Reason.INVALID_STATE, peer + ": unexpected " + event);
        };
    }

    /** Waits for the next completion, which must be a good one. */
    static void await(CompletionQueue queue, WorkCompletion completion, String what) throws InterruptedException {
        if (!queue.await(completion, PATIENCE)) {
            throw new RdmaException(
                    RdmaException.Reason.TIMED_OUT,
                    "waiting for " + what + ": nothing came in " + PATIENCE.toSeconds() + " s");
        }
        if (!completion.isSuccess()) {
            boolean ended = completion.status() == WorkCompletionStatus.WR_FLUSH_ERR;
            throw new RdmaException(
                    RdmaException.Reason.WORK_FAILED,
                    "waiting for " + what + ": "
                            + (ended
                                    ? "the peer ended the connection"
                                    : completion.status() + ", "
                                            + completion.status().meaning()));
        }
    }
}
