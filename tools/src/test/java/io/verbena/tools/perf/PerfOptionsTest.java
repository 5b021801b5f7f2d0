// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.Mtu;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class PerfOptionsTest {
    private static PerfParameters parse(PerfTest test, String... args) {
        Holder holder = new Holder();
        new CommandLine(holder).parseArgs(args);
        return holder.options.resolve(test, true);
    }

    @CommandLine.Command
    private static final class Holder {
        @CommandLine.Mixin
        private PerfOptions options = new PerfOptions();
    }

    @ParameterizedTest
    @CsvSource({
        // test, size, iterations, tx depth, rx depth, completion moderation: perftest 4.5's defaults
        "WRITE_BW, 65536, 5000, 128, 1, 1",
        "WRITE_LAT, 2, 1000, 1, 1, 1",
        "READ_BW, 65536, 1000, 128, 1, 1",
        "READ_LAT, 2, 1000, 1, 1, 1",
        "SEND_BW, 65536, 1000, 128, 512, 1",
        "SEND_LAT, 2, 1000, 1, 512, 1",
        "ATOMIC_BW, 8, 1000, 128, 1, 100",
        "ATOMIC_LAT, 8, 1000, 1, 1, 1",
    })
    void defaultsAreThoseOfPerftest(PerfTest test, int size, long iterations, int tx, int rx, int moderation) {
        PerfParameters parameters = parse(test);
        assertThat(parameters.size()).isEqualTo(size);
        assertThat(parameters.iterations()).isEqualTo(iterations);
        assertThat(parameters.sendDepth()).isEqualTo(tx);
        assertThat(parameters.receiveDepth()).isEqualTo(rx);
        assertThat(parameters.completionModeration()).isEqualTo(moderation);
        assertThat(parameters.timeout()).isEqualTo(14);
        assertThat(parameters.mtu()).isNull();
        assertThat(parameters.isDuration()).isFalse();
    }

    @Test
    void theLettersOfPerftestAreUnderstood() {
        PerfParameters p = parse(
                PerfTest.SEND_BW,
                "-s",
                "4k",
                "-n",
                "50",
                "-q",
                "4",
                "-t",
                "16",
                "-r",
                "32",
                "-m",
                "2048",
                "-b",
                "-e",
                "-x",
                "1",
                "-F",
                "-u",
                "10",
                "-I",
                "64",
                "-Q",
                "8");
        assertThat(p.size()).isEqualTo(4096);
        assertThat(p.iterations()).isEqualTo(50);
        assertThat(p.queuePairs()).isEqualTo(4);
        assertThat(p.sendDepth()).isEqualTo(16);
        assertThat(p.receiveDepth()).isEqualTo(32);
        assertThat(p.mtu()).isEqualTo(Mtu.MTU_2048);
        assertThat(p.bidirectional()).isTrue();
        assertThat(p.events()).isTrue();
        assertThat(p.gidIndex()).isEqualTo(1);
        assertThat(p.timeout()).isEqualTo(10);
        assertThat(p.inlineBytes()).isEqualTo(64);
        assertThat(p.completionModeration()).isEqualTo(8);
        assertThat(parse(PerfTest.READ_BW, "-o", "3").outstandingReads()).isEqualTo(3);
        assertThat(parse(PerfTest.ATOMIC_BW, "-A", "CMP_AND_SWAP").compareAndSwap())
                .isTrue();
        assertThat(parse(PerfTest.ATOMIC_BW).compareAndSwap()).isFalse();
    }

    @Test
    void depthsAreNoDeeperThanTheTestIsLong() {
        PerfParameters p = parse(PerfTest.SEND_BW, "-n", "5");
        assertThat(p.sendDepth()).isEqualTo(5);
        assertThat(p.receiveDepth()).isEqualTo(5);
        assertThat(parse(PerfTest.ATOMIC_BW, "-n", "5").completionModeration()).isEqualTo(5);
    }

    @Test
    void aDurationTakesTheIterationsPlace() {
        PerfParameters p = parse(PerfTest.WRITE_BW, "-D", "3");
        assertThat(p.isDuration()).isTrue();
        assertThat(p.iterations()).isZero();
        assertThat(p.sendDepth()).isEqualTo(128);
    }

    @Test
    void allSizesAreThosePerftestRuns() {
        PerfParameters p = parse(PerfTest.WRITE_BW, "-a");
        assertThat(p.sizes()).hasSize(23).startsWith(2, 4, 8).endsWith(1 << 22, 1 << 23);
        assertThat(p.size()).isEqualTo(1 << 23);
        assertThat(p.completionModeration()).isEqualTo(100);
    }

    @ParameterizedTest
    @CsvSource({
        "WRITE_BW, -n 4, -n",
        "WRITE_BW, -n 100 -D 2, -n and -D",
        "WRITE_BW, -a -D 2, -D and -a",
        "WRITE_BW, -e -D 2, -D and -e",
        "WRITE_LAT, -q 2, -q",
        "WRITE_LAT, -b, -b",
        "WRITE_LAT, -e, -e",
        "ATOMIC_LAT, -s 16, 8 bytes",
        "ATOMIC_BW, -a, 8 bytes",
        "WRITE_BW, -m 1000, MTU",
        "WRITE_BW, -t 0, -t",
        "WRITE_BW, -s 0, -s",
        "READ_BW, -u 32, -u",
    })
    void whatDoesNotGoTogetherIsSaid(PerfTest test, String args, String expected) {
        assertThatThrownBy(() -> parse(test, args.split(" ")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(expected);
    }

    @Test
    void testsHaveTheirNameAndThatOfTheRealProgram() throws Exception {
        PerfTest.Converter converter = new PerfTest.Converter();
        assertThat(converter.convert("write-bw")).isEqualTo(PerfTest.WRITE_BW);
        assertThat(converter.convert("ib_atomic_lat")).isEqualTo(PerfTest.ATOMIC_LAT);
        assertThatThrownBy(() -> converter.convert("wrte-bw")).hasMessageContaining("write-bw, write-lat, read-bw");
    }
}
