// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.tools.ToolRun;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class CommandLineTest {
    @ParameterizedTest
    @ValueSource(strings = {"", "devices", "pingpong", "perf", "demo", "mckey", "simulate"})
    void everyCommandHasHelpWithExamples(String command) {
        List<String> args = command.isEmpty() ? List.of("--help") : List.of(command, "--help");
        ToolRun run = ToolRun.of(args);
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("Usage: verbena").contains("Examples:");
        assertThat(run.out()).doesNotContain("demo-target");
        assertThat(run.err()).isEmpty();
    }

    @Test
    void theVersionSaysWhichJavaRuns() {
        ToolRun run = ToolRun.of("--version");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).startsWith("verbena ").contains("Java 25");
    }

    @Test
    void aWrongCommandLineIsOneLineAndAHint() {
        ToolRun run = ToolRun.of("perf", "write-bw", "--no-such-option");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err().lines())
                .containsExactly("verbena perf: Unknown option: '--no-such-option'", "Try 'verbena perf --help'.");
        assertThat(ToolRun.of("perf", "wriet-bw").err()).contains("there is no test \"wriet-bw\"");
        assertThat(ToolRun.of("perf", "write-lat", "-q", "2").exitCode()).isEqualTo(2);
    }

    @Test
    void aServerThatIsNotRunningIsOneLine() throws Exception {
        int port = freePort();
        ToolRun run = ToolRun.of("perf", "write-bw", "-p", Integer.toString(port), "127.0.0.1");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err().lines())
                .containsExactly("verbena perf: cannot connect to 127.0.0.1 port " + port
                        + ": connection refused; is `verbena perf write-bw -p " + port + "` running there?");
        assertThat(run.out()).isEmpty();
    }

    @Test
    void anUnresolvableHostIsOneLine() {
        ToolRun run = ToolRun.of("pingpong", "no-such-host.invalid");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err().lines())
                .hasSize(1)
                .allMatch(line -> line.startsWith("verbena pingpong: cannot resolve \"no-such-host.invalid\""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"devices", "pingpong --device", "perf read-lat --device"})
    void anUnknownDeviceIsOneLine(String command) {
        ToolRun run = ToolRun.of((command + " mlx5_99").split(" "));
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err().lines()).hasSize(1).allMatch(line -> line.contains("mlx5_99"));
    }

    @Test
    void aStackTraceComesOnlyWhenAskedFor() {
        assertThat(ToolRun.of("pingpong", "no-such-host.invalid").err()).doesNotContain("\tat ");
        assertThat(ToolRun.of("pingpong", "--stacktrace", "no-such-host.invalid")
                        .err())
                .contains("\tat ");
    }

    @Test
    void aBusyPortIsOneLine() throws Exception {
        try (ServerSocket other = new ServerSocket(0)) {
            ToolRun run = ToolRun.of("pingpong", "-p", Integer.toString(other.getLocalPort()));
            assertThat(run.exitCode()).isEqualTo(1);
            assertThat(run.err().lines())
                    .hasSize(1)
                    .allMatch(line ->
                            line.startsWith("verbena pingpong: cannot listen on TCP port " + other.getLocalPort()));
        }
    }

    @Test
    void failuresOfMoreThanOneLineBecomeOne() {
        assertThat(FailurePrinter.describe(new CommandFailure("a\n  b\r\n c"))).isEqualTo("a b c");
        assertThat(FailurePrinter.describe(new IllegalStateException("odd")))
                .isEqualTo("unexpected IllegalStateException: odd; --stacktrace shows where");
        assertThat(FailurePrinter.describe(new IllegalStateException()))
                .isEqualTo("unexpected IllegalStateException; --stacktrace shows where");
    }

    @Test
    void sizesHaveUnits() {
        assertThat(ByteSize.parse("4096").bytes()).isEqualTo(4096);
        assertThat(ByteSize.parse("64k").bytes()).isEqualTo(65536);
        assertThat(ByteSize.parse("64MiB").bytes()).isEqualTo(64L << 20);
        assertThat(ByteSize.parse("2G").bytes()).isEqualTo(2L << 30);
        for (String wrong : List.of("", "-1", "k", "1.5m", "12x", "99999999999999999999", "999999999999g")) {
            assertThatThrownBy(() -> ByteSize.parse(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(ByteSize.format(64L << 20)).isEqualTo("64 MiB");
        assertThat(ByteSize.format(5000)).isEqualTo("5000 B");
        assertThat(ByteSize.format(0)).isEqualTo("0 B");
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
