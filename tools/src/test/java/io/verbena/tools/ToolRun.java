// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import picocli.CommandLine;

/** What the command line printed and returned, run in this process. */
public record ToolRun(int exitCode, String out, String err) {
    public static ToolRun of(String... args) {
        CommandLine commandLine = Verbena.commandLine();
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        commandLine.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
        int exitCode = commandLine.execute(args);
        return new ToolRun(exitCode, out.toString(), err.toString());
    }

    public static ToolRun of(List<String> args) {
        return of(args.toArray(String[]::new));
    }
}
