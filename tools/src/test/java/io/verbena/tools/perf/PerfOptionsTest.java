// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.Mtu;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
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

    @ParameterizedTest
    @CsvSource({
        // test, options, size at MTU 1024, tx depth, rx depth, completion moderation
        "SEND_BW, -c UD, 1024, 128, 1000, 100",
        "SEND_BW, -c UD -n 20000, 1024, 128, 16000, 100",
        "SEND_BW, -c UD -r 7, 1024, 128, 7, 100",
        "SEND_BW, -c UC, 65536, 128, 1000, 1",
        "SEND_LAT, -c UD, 2, 1, 1000, 1",
        "SEND_BW, -g -s 64, 64, 128, 1000, 100",
    })
    void unreliableServicesPostAllReceivesAhead(
            PerfTest test, String options, int size, int tx, int rx, int moderation) {
        PerfParameters parameters = parse(test, options.split(" ")).forMtu(Mtu.MTU_1024);
        assertThat(parameters.size()).isEqualTo(size);
        assertThat(parameters.sendDepth()).isEqualTo(tx);
        assertThat(parameters.receiveDepth()).isEqualTo(rx);
        assertThat(parameters.completionModeration()).isEqualTo(moderation);
    }

    @ParameterizedTest
    @CsvSource({
        "WRITE_BW, -c UD, datagrams carry send tests only",
        "READ_LAT, -c UC, need an answer",
        "ATOMIC_BW, -c UC, need an answer",
        "SEND_LAT, --rate_limit 1, is for bandwidth tests",
        "SEND_BW, --rate_limit 1 -e, do not go together",
        "SEND_BW, --rate_limit -1, is not possible",
        "SEND_BW, -M 239.1.2.3, -M is the group of -g",
        "WRITE_BW, -g, datagrams carry send tests only",
        "SEND_BW, -R -c UC, the connection manager connects -c RC and -c UD only",
        "WRITE_BW, -R -c UC, the connection manager connects -c RC and -c UD only",
        "SEND_BW, -R -g, -R and -g do not go together",
        "READ_LAT, -R -x 1, do not go together",
    })
    void whatAServiceCannotDoIsTold(PerfTest test, String options, String message) {
        assertThatThrownBy(() -> parse(test, options.split(" ")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource({
        "239.1.2.3, ::ffff:239.1.2.3",
        "0:0:0:0:0:0:0:0:0:0:255:255:239:1:2:0x3, ::ffff:239.1.2.3",
        "ff15::7, ff15:0:0:0:0:0:0:7",
    })
    void aGroupIsAnAddressOrSixteenNumbers(String text, String gid) {
        assertThat(parse(PerfTest.SEND_BW, "-g", "-M", text).group()).hasToString(gid);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.1.2.3", "fd77::1", "group", "239.1.2.256", "0:0:0:0:0:0:0:0:0:0:255:255:256:1:2:3", ""})
    void whatIsNoGroupIsTold(String text) {
        assertThatThrownBy(() -> parse(PerfTest.SEND_BW, "-g", "-M", text))
                .isInstanceOf(CommandLine.ParameterException.class)
                .hasMessageContaining("is no multicast group");
    }

    @Test
    void aRateIsATimeBetweenMessages() {
        assertThat(new RateLimit(0, RateLimit.Unit.G).gapNanos(100)).isZero();
        assertThat(new RateLimit(8, RateLimit.Unit.G).gapNanos(1000)).isEqualTo(1000);
        assertThat(new RateLimit(1, RateLimit.Unit.M).gapNanos(1 << 20)).isEqualTo(1_000_000_000);
        assertThat(new RateLimit(500, RateLimit.Unit.P).gapNanos(7)).isEqualTo(2_000_000);
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
        assertThat(p.managed()).isFalse();
        assertThat(parse(PerfTest.SEND_BW, "-R").managed()).isTrue();
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
