// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import io.verbena.tools.cli.FailurePrinter;
import io.verbena.tools.cli.Version;
import io.verbena.tools.cmtime.CmtimeCommand;
import io.verbena.tools.demo.DemoCommand;
import io.verbena.tools.demo.DemoTargetCommand;
import io.verbena.tools.devices.DevicesCommand;
import io.verbena.tools.mckey.MckeyCommand;
import io.verbena.tools.perf.PerfCommand;
import io.verbena.tools.pingpong.PingpongCommand;
import io.verbena.tools.rping.RpingCommand;
import io.verbena.tools.simulate.SimulateCommand;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The {@code verbena} command. */
@Command(
        name = "verbena",
        description = "RDMA for the JVM: look at devices, measure them, see them work.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        subcommands = {
            DemoCommand.class,
            DevicesCommand.class,
            PingpongCommand.class,
            PerfCommand.class,
            MckeyCommand.class,
            RpingCommand.class,
            CmtimeCommand.class,
            SimulateCommand.class,
            DemoTargetCommand.class
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbena demo                       two processes move memory; one of them sleeps",
            "  verbena devices -v                 the devices of this host and their limits",
            "  verbena perf write-bw              a server; then, in another window,",
            "  verbena perf write-bw 127.0.0.1    its client",
            "  verbena simulate                   the same code on a simulated bad network",
        })
public final class Verbena implements Runnable {
    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    /** The program as picocli sees it; tests give it writers of their own. */
    public static CommandLine commandLine() {
        FailurePrinter failures = new FailurePrinter();
        CommandLine commandLine = new CommandLine(new Verbena());
        commandLine.setOut(new PrintWriter(System.out, true, StandardCharsets.UTF_8));
        commandLine.setErr(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
        commandLine.setExecutionExceptionHandler(failures);
        commandLine.setParameterExceptionHandler(failures);
        commandLine.setUsageHelpAutoWidth(true);
        commandLine.setCaseInsensitiveEnumValuesAllowed(true);
        return commandLine;
    }

    /** Without a sub-command: the help. */
    @Override
    public void run() {
        commandLine().usage(System.out);
    }
}
