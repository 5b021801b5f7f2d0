// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.tools.ToolRun;
import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.ThisProgram;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairEndpoint;
import java.io.BufferedReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class DemoTest {
    @Test
    void theTourIsRightAndItsPacketsAreReadable(@TempDir Path directory) throws Exception {
        Path capture = directory.resolve("tour.pcapng");
        ToolRun run = ToolRun.of("demo", "--size", "3000k", "--capture", capture.toString());
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out())
                .contains("the counter is 4000, and each value from 0 to 3999 was seen exactly once")
                .contains("REM_ACCESS_ERR")
                .contains("All of it was checked and is right");
        assertThat(run.out().lines().filter(line -> line.matches(".*[KM]iB/s.*")))
                .hasSize(7);
        String packets = tshark(capture, "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "_ws.malformed");
        List<String> opcodes = packets.lines().map(String::strip).toList();
        // SEND only, WRITE first, middle and last, READ and its answer, acknowledgements, CMP_SWAP, FETCH_ADD.
        assertThat(opcodes).contains("4", "6", "7", "8", "12", "13", "15", "17", "18", "19", "20");
        assertThat(packets).doesNotContainIgnoringCase("malformed");
        assertThat(tshark(capture, "-Y", "infiniband.aeth.syndrome.error_code == 2"))
                .isNotBlank();
    }

    @Test
    void jsonHasStepsAndMeasurements(@TempDir Path directory) {
        String capture = directory.resolve("a.pcapng").toString();
        ToolRun run = ToolRun.of("demo", "--json", "--size", "64k", "--capture", capture);
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out()).startsWith("{").contains("\"ok\" : true", "\"step\" : \"trespass\"", "\"p99_usec\"");
    }

    @Test
    void aFileThatCannotBeWrittenIsToldBeforeAnythingStarts() {
        ToolRun run = ToolRun.of("demo", "--capture", "/no/such/directory/x.pcapng");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err().lines()).hasSize(1).allMatch(line -> line.contains("--capture"));
        assertThat(ToolRun.of("demo", "--size", "1").exitCode()).isEqualTo(1);
    }

    @Test
    void theTargetEndsWhenItsParentDoes() throws Exception {
        Gid nobody = Gid.of(InetAddress.ofLiteral("127.9.9.9"));
        List<String> command = ThisProgram.command();
        command.addAll(List.of(
                "demo-target", "--size=4096", "--first=20", "--peer=" + new QueuePairEndpoint(0, 0x123456, 1, nobody)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (BufferedReader reader = process.inputReader()) {
            String line = reader.readLine();
            while (line != null && !line.equals("ready")) {
                line = reader.readLine();
            }
            assertThat(line).isEqualTo("ready");
            assertThat(process.waitFor(200, TimeUnit.MILLISECONDS)).isFalse();
            process.getOutputStream().close();
            assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
            assertThat(reader.lines().toList()).contains("sum 0", "messages 0", "bye");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void aTargetThatCannotStartIsTold() {
        try (TargetProcess target = TargetProcess.start(-1, 20, List.of(), List.of(), 0)) {
            assertThatThrownBy(target::awaitReady)
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("ended before it was told to");
        }
    }

    @Test
    void aHashDiffersWithAnyByte() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate((1 << 20) + 13);
            Memory.fillRandomly(memory);
            String before = Memory.hash(memory);
            long last = memory.byteSize() - 1;
            memory.set(ValueLayout.JAVA_BYTE, last, (byte) (memory.get(ValueLayout.JAVA_BYTE, last) + 1));
            assertThat(Memory.hash(memory)).isNotEqualTo(before).hasSize(64);
        }
    }

    @Test
    void theTableHasAColumnForEachNumber() {
        Histogram latency = new Histogram(3);
        latency.recordValue(1_000);
        assertThat(Measurement.table(List.of(new Measurement("WRITE", 1 << 20, 64, 1_000_000_000L, latency)))
                        .lines())
                .containsExactly(
                        "  operation   size  count   bandwidth  median     p99",
                        "  WRITE      1 MiB     64  64.0 MiB/s  1.0 us  1.0 us");
        assertThat(Measurement.table(List.of(new Measurement("READ", 8, 1024, 1_000_000_000L, latency))))
                .contains(" 8.0 KiB/s ");
    }

    private static String tshark(Path file, String... options) throws Exception {
        Path program = Path.of("/usr/bin/tshark");
        Assumptions.assumeTrue(Files.isExecutable(program), "tshark is not installed");
        List<String> command = new ArrayList<>(List.of(program.toString(), "-r", file.toString()));
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return output;
    }
}
