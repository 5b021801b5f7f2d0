// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import io.verbena.verbs.RdmaException;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * Tells a failure in one line on stderr: {@code verbena perf: ...}. Exit code 1 for what failed, 2 for a wrong command
 * line.
 */
public final class FailurePrinter implements IExecutionExceptionHandler, IParameterExceptionHandler {
    /** Something that was asked for could not be done. */
    public static final int FAILED = 1;
    /** 128 + SIGINT, as shells and the JVM have it. */
    public static final int INTERRUPTED = 130;

    @Override
    public int handleExecutionException(Exception failure, CommandLine command, ParseResult parsed) {
        if (Resources.isShuttingDown()) {
            return INTERRUPTED;
        }
        if (failure instanceof InterruptedException) {
            return INTERRUPTED;
        }
        PrintWriter err = command.getErr();
        err.println(name(command) + ": " + describe(failure));
        if (wantsStackTrace(command)) {
            failure.printStackTrace(err);
        }
        err.flush();
        return FAILED;
    }

    @Override
    public int handleParseException(ParameterException failure, String[] args) {
        CommandLine command = failure.getCommandLine();
        PrintWriter err = command.getErr();
        err.println(name(command) + ": " + OneLine.of(String.valueOf(failure.getMessage())));
        err.println("Try '" + name(command) + " --help'.");
        err.flush();
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }

    /** What went wrong, in one line; the type of the exception only where its message does not explain itself. */
    static String describe(Throwable failure) {
        String message = failure.getMessage();
        boolean expected = failure instanceof CommandFailure || failure instanceof RdmaException;
        if (message == null || message.isBlank()) {
            return "unexpected " + failure.getClass().getSimpleName() + "; --stacktrace shows where";
        }
        if (expected || failure instanceof IOException) {
            return OneLine.of(message);
        }
        return "unexpected " + failure.getClass().getSimpleName() + ": " + OneLine.of(message)
                + "; --stacktrace shows where";
    }

    private static String name(CommandLine command) {
        return command.getCommandSpec().qualifiedName();
    }

    private static boolean wantsStackTrace(CommandLine command) {
        return command.getCommandSpec().userObject() instanceof StandardCommand standard && standard.stackTrace();
    }
}
