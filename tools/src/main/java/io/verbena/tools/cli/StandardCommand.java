// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A sub-command with the options that all of them have. */
@Command(mixinStandardHelpOptions = true)
public abstract class StandardCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--json", description = "Print the result as JSON.")
    private boolean json;

    @Option(names = "--stacktrace", description = "On failure also print where it came from.")
    private boolean stackTrace;

    protected final boolean json() {
        return json;
    }

    final boolean stackTrace() {
        return stackTrace;
    }

    protected final CommandSpec spec() {
        return Objects.requireNonNull(spec, "picocli sets the spec before it calls a command");
    }

    /** Where results go. */
    protected final PrintWriter out() {
        return spec().commandLine().getOut();
    }

    /** Where progress and failures go. */
    protected final PrintWriter err() {
        return spec().commandLine().getErr();
    }
}
