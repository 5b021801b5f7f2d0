// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.sim.FaultPlan;
import io.verbena.sim.workload.Simulation;
import io.verbena.sim.workload.Verdict;
import io.verbena.sim.workload.Workload;
import io.verbena.tools.ToolRun;
import io.verbena.tools.Verbena;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class SimulateTest {
    @TempDir
    private Path directory;

    @Test
    void aFewSeedsOfEachWorkloadPass() {
        ToolRun run = ToolRun.of("simulate", "--seeds", "2", "--operations", "50");
        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).isZero();
        assertThat(run.out().lines()).hasSize(1 + Workload.values().length);
        assertThat(run.out()).containsPattern("(?m)^rc +2 +0 ").containsPattern("(?m)^small +2 +0 ");
    }

    @Test
    void theSummaryCanBeJson() {
        ToolRun run = ToolRun.of("simulate", "--json", "--seed", "3", "--workload", "ud", "--operations", "20");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("\"workload\" : \"ud\"", "\"runs\" : 1", "\"failed\" : 0", "\"sent\" : ");
    }

    @Test
    void allFaultsCanBeChosen() {
        ToolRun run = ToolRun.of(("simulate --workload rc --operations 100 --loss 0.01 --duplicate 0.01 --reorder 0.1"
                        + " --reorder-window 20us --corrupt 0.01 --truncate 0.01 --delay 5us..9us+3us"
                        + " --partition 1ms-2ms:a<>b --link-down 3ms-4ms:b --black-hole 5ms-6ms=1500:a>b"
                        + " --slow 7ms-8ms=20us:a --clock-jump 9ms=5ms:b --script drop:3:ack:b>a --json --seed 1")
                .split(" "));
        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("\"scripted\" : 1").doesNotContain("\"lost\" : 0,", "\"truncated\" : 0,");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--loss 2",
                "--partition soon",
                "--black-hole 1ms-2ms",
                "--script drop:0:ack",
                "--script drop:1:NO_SUCH",
                "--script drop:1:any:a>c",
                "--partition 1ms-2ms:a>c",
                "--link-down 3s-4s:a",
                "--black-hole 1ms-2ms=1500.5:a",
                "--delay 5",
                "--delay 2us..1us",
                "--seeds 0",
                "--operations 0",
                "--workload tcp",
                "--no-faults --loss 0.1",
                "--capture x.pcapng"
            })
    void aWrongArgumentIsOneLineAndAHint(String arguments) {
        ToolRun run = ToolRun.of(("simulate " + arguments).split(" "));
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err().lines()).hasSize(2);
        assertThat(run.out()).isEmpty();
    }

    @Test
    void aCaptureHoldsThePackets() throws Exception {
        Path file = directory.resolve("run.pcapng");
        ToolRun run = ToolRun.of(
                "simulate", "--seed", "4", "--workload", "rc", "--operations", "20", "--capture", file.toString());
        assertThat(run.exitCode()).isZero();
        assertThat(Files.size(file)).isGreaterThan(10_000);
    }

    @Test
    void aFailedRunLeavesItsPacketsAndTheLineThatRepeatsIt() {
        StringWriter out = new StringWriter();
        SimulateCommand command = command(out, directory);
        SimulateOptions options = new SimulateOptions(
                8,
                2,
                List.of(Workload.RC),
                10,
                FaultPlan.none(),
                List.of("--partition", "1ms-2ms:a>b", "--loss", "0.5"));
        SimulateRun run = new SimulateRun(options, SimulateTest::failsFor9);
        run.run();
        assertThat(command.report(options, run)).isEqualTo(1);
        assertThat(out.toString())
                .contains("FAILED: rc, seed 9, the planted failure")
                .contains("again:   verbena simulate --seed 9 --workload rc --operations 10"
                        + " --partition '1ms-2ms:a>b' --loss 0.5");
        assertThat(directory.resolve("simulate-rc-9.pcapng")).isNotEmptyFile();
        assertThat(directory.resolve("simulate-rc-8.pcapng")).doesNotExist();
    }

    @Test
    void aFailureIsToldAlsoWhenItsPacketsCannotBeWritten() {
        StringWriter out = new StringWriter();
        SimulateCommand command = command(out, directory.resolve("none"));
        SimulateOptions options = new SimulateOptions(9, 1, List.of(Workload.RC), 10, FaultPlan.none(), List.of());
        SimulateRun run = new SimulateRun(options, SimulateTest::failsFor9);
        run.run();
        assertThat(command.report(options, run)).isEqualTo(1);
        assertThat(out.toString())
                .contains("FAILED: rc, seed 9", "there is no such directory", "again:   verbena simulate --seed 9");
    }

    @Test
    void aRunThatIsEndedTellsWhatItFoundUntilThen() {
        StringWriter out = new StringWriter();
        SimulateOptions options = new SimulateOptions(8, 100, List.of(Workload.RC), 10, FaultPlan.none(), List.of());
        SimulateRun[] run = new SimulateRun[1];
        run[0] = new SimulateRun(options, (workload, seed) -> {
            if (seed == 9) {
                run[0].end();
            }
            return failsFor9(workload, seed);
        });
        run[0].run();
        assertThat(command(out, directory).report(options, run[0])).isEqualTo(1);
        assertThat(out.toString()).contains("ended early, after 2 of 100 runs", "FAILED: rc, seed 9");
    }

    private static SimulateCommand command(StringWriter out, Path failuresTo) {
        CommandLine commandLine = Verbena.commandLine();
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.parseArgs("simulate", "--failures-to", failuresTo.toString());
        return commandLine.getSubcommands().get("simulate").getCommand();
    }

    private static Verdict failsFor9(Workload workload, long seed) {
        Verdict verdict = new Simulation(seed, workload, FaultPlan.none(), 10).run();
        return new Verdict(
                seed,
                seed == 9 ? "the planted failure" : null,
                verdict.packets(),
                verdict.arrived(),
                verdict.virtualNs(),
                verdict.broken(),
                verdict.digest(),
                verdict.counters());
    }

    /** The line that is printed for a run parses into the options of that run. */
    @Test
    void theLineThatRepeatsARunIsUnderstood() {
        ToolRun first = ToolRun.of("simulate --seed 11 --workload rc --operations 30 --loss 0.1 --json".split(" "));
        String line = new SimulateOptions(
                        1, 20, List.of(Workload.values()), 30, FaultPlan.none(), List.of("--loss", "0.1"))
                .rerun(Workload.RC, 11);
        assertThat(line).isEqualTo("verbena simulate --seed 11 --workload rc --operations 30 --loss 0.1");
        ToolRun again = ToolRun.of((line.substring("verbena ".length()) + " --json").split(" "));
        assertThat(withoutSpeed(again)).isEqualTo(withoutSpeed(first));
    }

    private static String withoutSpeed(ToolRun run) {
        return run.out().replaceAll("\"packets_per_second\" : .*", "");
    }
}
