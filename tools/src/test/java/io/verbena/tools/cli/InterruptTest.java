// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.tools.ToolPair;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ctrl-C and kill -9, on processes of their own. */
@Timeout(120)
class InterruptTest {
    private final List<Process> started = new ArrayList<>();

    private Process start(String... args) throws Exception {
        List<String> command = ThisProgram.command();
        command.addAll(List.of(args));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        started.add(process);
        return process;
    }

    @AfterEach
    void endAll() {
        started.forEach(Process::destroyForcibly);
    }

    @Test
    void ctrlCEndsAWaitingServerWithoutAWord() throws Exception {
        Process server = start("perf", "write-bw", "-p", Integer.toString(ToolPair.freePort()));
        BufferedReader output = server.inputReader();
        readTo(output, "waiting for a client");
        interrupt(server);
        assertThat(server.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(server.exitValue()).isEqualTo(FailurePrinter.INTERRUPTED);
        assertThat(output.lines()).isEmpty();
    }

    @Test
    void ctrlCEndsARunAndThePeerIsToldInOneLine() throws Exception {
        String port = Integer.toString(ToolPair.freePort());
        Process server = start("perf", "send-lat", "-D", "100", "-p", port);
        BufferedReader serverOutput = server.inputReader();
        readTo(serverOutput, "waiting for a client");
        Process client = start("perf", "send-lat", "-D", "100", "-p", port, "127.0.0.1");
        BufferedReader clientOutput = client.inputReader();
        readTo(clientOutput, "t_avg");
        readTo(serverOutput, "t_avg");
        interrupt(client);
        assertThat(client.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(client.exitValue()).isEqualTo(FailurePrinter.INTERRUPTED);
        assertThat(clientOutput.lines()).isEmpty();
        assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(server.exitValue()).isEqualTo(FailurePrinter.FAILED);
        assertThat(serverOutput.lines()).hasSize(1).allMatch(line -> line.startsWith("verbena perf: the peer at"));
    }

    @Test
    void aKilledPeerIsToldInOneLine() throws Exception {
        String port = Integer.toString(ToolPair.freePort());
        Process server = start("perf", "write-lat", "-D", "100", "-p", port);
        BufferedReader serverOutput = server.inputReader();
        readTo(serverOutput, "waiting for a client");
        Process client = start("perf", "write-lat", "-D", "100", "-p", port, "127.0.0.1");
        readTo(client.inputReader(), "t_avg");
        readTo(serverOutput, "t_avg");
        client.destroyForcibly();
        assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(server.exitValue()).isEqualTo(FailurePrinter.FAILED);
        assertThat(serverOutput.lines()).hasSize(1).allMatch(line -> line.startsWith("verbena perf: the peer at"));
    }

    private static void readTo(BufferedReader output, String part) throws Exception {
        String line = output.readLine();
        while (line != null && !line.contains(part)) {
            line = output.readLine();
        }
        assertThat(line).as("the line with \"%s\"", part).isNotNull();
    }

    private static void interrupt(Process process) throws Exception {
        Path status = Path.of("/proc/" + process.pid() + "/status");
        Assumptions.assumeTrue(Files.isReadable(status), "no /proc here");
        String ignored = Files.readAllLines(status).stream()
                .filter(line -> line.startsWith("SigIgn:"))
                .findFirst()
                .orElseThrow()
                .replaceAll("\\D*\\s+", "");
        // A shell that runs this in the background lets its children ignore SIGINT, which is bit 1.
        Assumptions.assumeTrue((Long.parseUnsignedLong(ignored, 16) & 2) == 0, "SIGINT is ignored here");
        Process kill = new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start();
        assertThat(kill.waitFor()).isZero();
    }
}
