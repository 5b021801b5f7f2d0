// SPDX-License-Identifier: Apache-2.0
package io.verbena.examples;

import io.verbena.verbs.RdmaException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code verbena example}: runs a program of this module, or lists them. */
@Command(
        name = "verbena example",
        description = "Programs of librdmacm's examples; the other end may be the original.",
        synopsisSubcommandLabel = "PROGRAM",
        subcommands = {RdmaServer.class, RdmaClient.class, Ucmatose.class, Udaddy.class},
        footerHeading = "%nTry, in two windows:%n",
        footer = {
            "  verbena example rdma-server -s 127.0.0.2",
            "  verbena example rdma-client -s 127.0.0.2",
        })
public final class Examples implements Runnable {
    private static final int FAILED = 1;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("unused") // picocli acts on it
    private boolean help;

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    /** The programs as picocli sees them; tests give it writers of their own. */
    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new Examples());
        line.setOut(new PrintWriter(System.out, true, StandardCharsets.UTF_8));
        line.setErr(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
        line.setUsageHelpAutoWidth(true);
        line.setExecutionExceptionHandler((failure, command, parsed) -> tell(command, describe(failure), FAILED));
        line.setParameterExceptionHandler((failure, args) -> {
            CommandLine command = failure.getCommandLine();
            return tell(command, failure.getMessage(), command.getCommandSpec().exitCodeOnInvalidInput());
        });
        return line;
    }

    private static int tell(CommandLine command, @Nullable String message, int exitCode) {
        command.getErr().println(command.getCommandSpec().name() + ": " + message);
        command.getErr().flush();
        return exitCode;
    }

    private static @Nullable String describe(Exception failure) {
        return failure instanceof RdmaException ? failure.getMessage() : "unexpected " + failure;
    }

    /** Without a program: the list of them. */
    @Override
    public void run() {
        commandLine().usage(System.out);
    }
}
