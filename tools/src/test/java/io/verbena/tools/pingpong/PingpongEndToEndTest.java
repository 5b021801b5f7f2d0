// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.tools.ToolPair;
import io.verbena.tools.ToolRun;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class PingpongEndToEndTest {
    @ParameterizedTest
    @ValueSource(strings = {"", "-e", "-s 1 -n 30", "-s 100k -m 4096 -n 20", "-r 3 -n 50"})
    void bothEndsGetWhatTheOtherSent(String options) throws Exception {
        String[] command = ("pingpong -c -n 40 " + options).trim().split("\\s+");
        if (options.contains("-n")) {
            command = ("pingpong -c " + options).split("\\s+");
        }
        ToolPair pair = ToolPair.of(command);
        for (ToolRun run : List.of(pair.client(), pair.server())) {
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.out().lines().toList())
                    .hasSize(4)
                    .satisfiesExactly(
                            line -> assertThat(line)
                                    .matches("  local address:  LID 0x0000, QPN 0x[0-9a-f]{6}, "
                                            + "PSN 0x[0-9a-f]{6}, GID ::ffff:127.*"),
                            line -> assertThat(line).startsWith("  remote address: LID 0x0000, QPN 0x"),
                            line -> assertThat(line)
                                    .matches("\\d+ bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec"),
                            line -> assertThat(line)
                                    .matches("\\d+ iters in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d usec/iter"));
        }
    }

    @Test
    void aServerThatChecksFindsAClientThatDoesNotMark() throws Exception {
        ToolPair pair = ToolPair.of(List.of("pingpong", "-c", "-n", "5"), List.of("pingpong", "-n", "5"));
        assertThat(pair.client().exitCode()).isZero();
        assertThat(pair.server().exitCode()).isEqualTo(1);
        assertThat(pair.server().err()).contains("invalid data in page 0");
    }

    @Test
    void jsonHasTheNumbers() throws Exception {
        ToolPair pair = ToolPair.of("pingpong", "--json", "-n", "10", "-s", "64");
        assertThat(pair.client().out()).contains("\"role\" : \"client\"", "\"iterations\" : 10", "\"bytes\" : 1280");
        assertThat(pair.server().out()).contains("\"role\" : \"server\"");
    }

    @Test
    void aMessageThatDoesNotFitIsToldOnBothEnds() throws Exception {
        ToolPair pair = ToolPair.of(List.of("pingpong", "-s", "64"), List.of("pingpong", "-s", "4096"));
        assertThat(pair.client().exitCode()).isEqualTo(1);
        assertThat(pair.client().err()).contains("failed: REM_INV_REQ_ERR");
        assertThat(pair.server().exitCode()).isEqualTo(1);
        assertThat(pair.server().err()).contains("failed: LOC_LEN_ERR");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "uc",
                "uc -e -s 5000",
                "ud",
                "ud -e -s 1",
                "ud -s 4096 -r 3",
                "srq",
                "srq -q 3 -r 5 -e",
                "srq -q 255 -s 100 -n 600",
            })
    void otherServicesBringWhatTheOtherSentToo(String options) throws Exception {
        String iterations = options.contains("-n") ? "" : " -n 40";
        ToolPair pair = ToolPair.of(("pingpong -c --type " + options + iterations).split(" "));
        for (ToolRun run : List.of(pair.client(), pair.server())) {
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.out()).contains(" iters in ");
        }
    }

    @Test
    void aDatagramIsNoLongerThanTheMtu() throws Exception {
        ToolRun run = ToolPair.of("pingpong", "--type", "ud", "-s", "5000").client();
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err()).contains("-s 5000 is more than a datagram carries: the active MTU of ", " is 4096");
    }

    @Test
    void anotherNumberOfQueuePairsIsTold() throws Exception {
        ToolPair pair = ToolPair.of(
                List.of("pingpong", "--type", "srq", "-q", "2"), List.of("pingpong", "--type", "srq", "-q", "3"));
        assertThat(pair.server().exitCode()).isEqualTo(1);
        assertThat(pair.server().err()).contains("has 3 queue pairs, this side 2; give both the same -q");
        assertThat(pair.client().exitCode()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "--type foo, expected one of",
        "--type ud -m 1024, takes no -m",
        "--type uc -q 2, -q is for --type srq",
        "--type srq -q 256, 1 to 255",
        "--type srq -r 4, less than one receive for each of 16",
        "-s 0, -s 0 is not possible",
        "-m 1000, -m:",
        "-p 65536, is no TCP port",
    })
    void wrongOptionsAreToldBeforeAnythingStarts(String options, String message) {
        ToolRun run = ToolRun.of(("pingpong " + options).split(" "));
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains(message, "Try 'verbena pingpong --help'.");
        assertThat(run.out()).isEmpty();
    }
}
