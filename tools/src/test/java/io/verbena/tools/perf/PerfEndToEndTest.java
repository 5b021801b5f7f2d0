// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.tools.ToolPair;
import io.verbena.tools.ToolRun;
import io.verbena.tools.sideband.Sideband;
import io.verbena.tools.sideband.TcpSideband;
import io.verbena.verbs.Gid;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(180)
class PerfEndToEndTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "write-bw -n 20 -s 10000",
                "write-bw -n 20 -s 64 -I 64 -Q 7",
                "write-bw -n 20 -s 4096 -b -q 2",
                "read-bw -n 20 -s 10000 -o 2",
                "read-bw -n 20 -e",
                "send-bw -n 40 -s 10000 -r 8",
                "send-bw -n 40 -s 128 -q 3 -e",
                "send-bw -n 40 -s 4096 -b",
                "atomic-bw -n 20 -q 2",
                "atomic-bw -n 20 -A CMP_AND_SWAP -b",
                "write-bw -c UC -n 20 -s 10000",
                "write-bw -c UC -n 20 -s 4096 -b -q 2",
                "send-bw -c UC -n 40 -s 10000 --rate_limit 2000 --rate_units p",
                "send-bw -c UD -n 40 --rate_limit 2000 --rate_units p",
                "send-bw -c UD -n 40 -s 1 -q 3 -e",
                "send-bw -c UD -n 40 -s 64 -b",
                "send-bw -g -n 40 -s 64 --rate_limit 2000 --rate_units p",
            })
    void bandwidthIsMeasured(String options) throws Exception {
        ToolPair pair = ToolPair.of(("perf " + options).split(" "));
        int queuePairs = options.contains("-q") ? options.charAt(options.indexOf("-q ") + 3) - '0' : 1;
        int messages = (options.contains("-n 40") ? 40 : 20) * queuePairs;
        for (ToolRun run : List.of(pair.client(), pair.server())) {
            assertThat(run.exitCode()).as(run.err()).isZero();
            String[] result = lastResult(run);
            assertThat(result).hasSize(5);
            assertThat(result[1]).isEqualTo(Integer.toString(messages));
            assertThat(Double.parseDouble(result[3])).isGreaterThanOrEqualTo(0);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "write-lat -n 300 -s 2",
                "write-lat -n 10 -s 9000",
                "write-lat -n 10 -I 16",
                "read-lat -n 20",
                "read-lat -n 20 -e -s 5000",
                "send-lat -n 30 -r 4",
                "send-lat -n 30 -e",
                "atomic-lat -n 20",
                "write-lat -c UC -n 30 -s 3000",
                "send-lat -c UC -n 30 -s 10000",
                "send-lat -c UD -n 30 -s 4096 -r 4",
                "send-lat -c UD -n 30 -e",
                "send-lat -g -n 30",
            })
    void latencyIsMeasured(String options) throws Exception {
        ToolPair pair = ToolPair.of(("perf " + options).split(" "));
        assertThat(pair.client().exitCode()).as(pair.client().err()).isZero();
        assertThat(pair.server().exitCode()).as(pair.server().err()).isZero();
        String[] result = lastResult(pair.client());
        assertThat(result).hasSize(9);
        double min = Double.parseDouble(result[2]);
        double median = Double.parseDouble(result[4]);
        double p999 = Double.parseDouble(result[8]);
        assertThat(min).isPositive().isLessThanOrEqualTo(median);
        assertThat(median).isLessThanOrEqualTo(p999);
    }

    @ParameterizedTest
    @ValueSource(strings = {"write-bw", "send-bw", "write-lat", "read-lat", "send-lat"})
    void aRunOverASecondEndsByItself(String test) throws Exception {
        ToolPair pair = ToolPair.of("perf", test, "-D", "1", "-s", "64");
        assertThat(pair.client().exitCode()).as(pair.client().err()).isZero();
        assertThat(pair.server().exitCode()).as(pair.server().err()).isZero();
        assertThat(Long.parseLong(lastResult(pair.client())[1])).isPositive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"send-bw", "write-bw -b", "send-lat", "write-lat"})
    void allSizesRunOneAfterTheOther(String test) throws Exception {
        ToolPair pair = ToolPair.of(("perf " + test + " -a -n 5").split(" "));
        assertThat(pair.client().exitCode()).as(pair.client().err()).isZero();
        assertThat(pair.server().exitCode()).as(pair.server().err()).isZero();
        List<String> sizes = pair.client()
                .out()
                .lines()
                .filter(line -> line.matches(" \\d+ .*"))
                .map(line -> line.trim().replaceFirst("\\s.*", ""))
                .toList();
        assertThat(sizes).hasSize(23).startsWith("2", "4").endsWith("8388608");
    }

    @Test
    void datagramsRunFromTwoBytesToTheMtu() throws Exception {
        ToolPair pair = ToolPair.of("perf send-bw -c UD -a -n 5 -m 1024".split(" "));
        assertThat(pair.client().exitCode()).as(pair.client().err()).isZero();
        assertThat(pair.server().exitCode()).as(pair.server().err()).isZero();
        assertThat(pair.server().out().lines().filter(line -> line.matches(" \\d+ .*")))
                .hasSize(10)
                .last()
                .asString()
                .startsWith(" 1024 ");
    }

    @Test
    void aDatagramIsNoLongerThanTheMtu() throws Exception {
        ToolRun run =
                ToolPair.of("perf send-lat -c UD -s 2000 -m 1024".split(" ")).client();
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err()).contains("-s 2000 is more than a datagram carries: the MTU is 1024 (-c UD)");
    }

    @Test
    void messagesThatAreLostAreCountedAndEndTheRun() throws Exception {
        ToolPair pair = ToolPair.of(
                List.of("perf send-bw -c UD -n 40 -s 64 --json".split(" ")),
                List.of("perf send-bw -c UD -n 30 -s 64 --json".split(" ")));
        assertThat(pair.client().exitCode()).as(pair.client().err()).isZero();
        assertThat(pair.server().exitCode()).as(pair.server().err()).isZero();
        assertThat(pair.server().err()).contains("10 of 40 messages did not arrive: UD sends none again");
        assertThat(pair.server().out()).contains("\"lost\" : 10", "\"iterations\" : 30");
    }

    @Test
    void aLatencyTestSaysWhyItCannotGoOn() throws Exception {
        ToolPair pair = ToolPair.of(
                List.of("perf send-lat -c UC -n 40 -s 64".split(" ")),
                List.of("perf send-lat -c UC -n 30 -s 64".split(" ")));
        assertThat(pair.server().exitCode()).isEqualTo(1);
        assertThat(pair.server().err()).contains("one may be lost, as UC sends none again");
    }

    @Test
    void jsonHasPercentiles() throws Exception {
        ToolPair pair = ToolPair.of("perf", "read-lat", "-n", "20", "--json");
        assertThat(pair.client().out())
                .contains("\"test\" : \"read-lat\"", "\"role\" : \"client\"", "\"99.9\" : ", "\"t_min_usec\" : ");
        assertThat(pair.client().err()).isEmpty();
        assertThat(pair.server().out()).contains("\"results\" : [ ]");
    }

    /** A client that goes through the handshakes of a test and then vanishes, as a killed process does. */
    @ParameterizedTest
    @CsvSource({"send-bw, 4", "write-lat, 4", "write-bw, 3", "send-lat, 4"})
    void aClientThatVanishesIsNoticed(String test, int handshakes) throws Exception {
        int port = ToolPair.freePort();
        FutureTask<ToolRun> server =
                new FutureTask<>(() -> ToolRun.of("perf", test, "-n", "10", "-p", Integer.toString(port)));
        Thread.ofPlatform().daemon().start(server);
        try (Sideband client = TcpSideband.connect("127.0.0.1", port, "hint")) {
            PerfHandshake handshake = new PerfHandshake(client, true, DestinationForm.TEXT);
            handshake.versions();
            handshake.geometry();
            handshake.mtu(io.verbena.verbs.Mtu.MTU_1024);
            // Nobody has this address, as after kill -9.
            Gid nobody = Gid.of(InetAddress.ofLiteral("127.9.9.9"));
            PerfDestination self = new PerfDestination(0, 1, 0x123456, 1, 7, 0x1000, nobody);
            for (int i = 0; i < handshakes; i++) {
                handshake.destination(self);
            }
        }
        ToolRun run = server.get();
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err().lines().toList()).hasSize(2).last().asString().startsWith("verbena perf: ");
    }

    @Test
    void aClientOfAnotherProgramIsToldApart() throws Exception {
        int port = ToolPair.freePort();
        FutureTask<ToolRun> server =
                new FutureTask<>(() -> ToolRun.of("perf", "write-bw", "-p", Integer.toString(port)));
        Thread.ofPlatform().daemon().start(server);
        try (Sideband client = TcpSideband.connect("127.0.0.1", port, "hint")) {
            client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            ToolRun run = server.get();
            assertThat(run.exitCode()).isEqualTo(1);
            assertThat(run.err()).contains("does not speak perftest's protocol");
        }
    }

    private static String[] lastResult(ToolRun run) {
        return Arrays.stream(run.out().split("\\R"))
                .filter(line -> line.matches(" \\d+ .*"))
                .reduce((first, second) -> second)
                .orElseThrow(() -> new AssertionError("no result in " + run.out()))
                .trim()
                .split("\\s+");
    }
}
