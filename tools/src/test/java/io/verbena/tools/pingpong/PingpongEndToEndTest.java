// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.tools.ToolPair;
import io.verbena.tools.ToolRun;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
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
}
