// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class MeasuringTest {
    @Test
    void bandwidthCountsMegabytesOf2To20Bytes() {
        BandwidthReport report = BandwidthReport.of(1 << 20, 100, 2_000_000_000L, 70);
        assertThat(report.average()).isEqualTo(50, within(1e-9));
        assertThat(report.messageRate()).isEqualTo(50e-6, within(1e-12));
        assertThat(report.plus(report).average()).isEqualTo(100, within(1e-9));
        assertThat(report.plus(report).peak()).isEqualTo(140, within(1e-9));
    }

    @Test
    void thePeakIsTheFastestStretch() {
        Stamps stamps = new Stamps(4);
        long[] posted = {0, 10, 1000, 1010};
        long[] completed = {400, 800, 1100, 1150};
        for (int i = 0; i < 4; i++) {
            stamps.posted(i, posted[i]);
            stamps.completed(i, completed[i]);
        }
        // From the third post to the last completion: 150 for two messages; nothing is faster.
        assertThat(stamps.leastNanosPerMessage()).isEqualTo(75, within(1e-9));
    }

    @Test
    void messagesWithoutACompletionOfTheirOwnHaveNoStamp() {
        Stamps stamps = new Stamps(4);
        for (int i = 0; i < 4; i++) {
            stamps.posted(i, 100);
        }
        stamps.completed(3, 500);
        assertThat(stamps.leastNanosPerMessage()).isEqualTo(100, within(1e-9));
        assertThat(new Stamps(0).leastNanosPerMessage()).isZero();
        assertThat(new Stamps(1L << 40).isOn()).isFalse();
    }

    @Test
    void onlyTheMiddleOfADurationCounts() {
        RunClock clock = RunClock.ofSeconds(4);
        assertThat(clock.isOver(5_000_000_000L)).isFalse();
        assertThat(clock.isCounting(2_000_000_000L)).isFalse();
        clock.start(0);
        clock.start(3_000_000_000L);
        assertThat(clock.isCounting(999_999_999L)).isFalse();
        assertThat(clock.isCounting(1_000_000_000L)).isTrue();
        assertThat(clock.isCounting(2_999_999_999L)).isTrue();
        assertThat(clock.isCounting(3_000_000_000L)).isFalse();
        assertThat(clock.isOver(3_999_999_999L)).isFalse();
        assertThat(clock.isOver(4_000_000_000L)).isTrue();
        assertThat(clock.countedNanos()).isEqualTo(2_000_000_000L);
        RunClock endless = RunClock.ofSeconds(0);
        endless.start(0);
        assertThat(endless.isOver(Long.MAX_VALUE)).isFalse();
        assertThat(endless.elapsed(17)).isEqualTo(17);
    }

    @Test
    void resultsHaveTheShapeOfPerftest() {
        StringWriter text = new StringWriter();
        TextOutput output = new TextOutput(new PrintWriter(text));
        output.header();
        output.bandwidth(new BandwidthReport(65536, 5000, 1234.567, 1200.1, 0.019202, 0));
        Histogram nanos = new Histogram(3);
        for (int i = 1; i <= 1000; i++) {
            nanos.recordValue(i * 1000L);
        }
        output.latency(new LatencyReport(2, 1001, nanos, 0));
        output.end();
        assertThat(text.toString().lines())
                .containsExactly(
                        "-".repeat(87),
                        " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]",
                        " 65536      5000             1234.57            1200.10\t\t   0.019202",
                        " 2       1001          1.00           1000.45      500.22   "
                                + "\t       500.50      \t288.68 \t\t990.21  \t\t999.42 ",
                        "-".repeat(87));
        // perftest's own format, which other programs take apart at the blanks.
        assertThat(text.toString()
                        .lines()
                        .skip(2)
                        .findFirst()
                        .orElseThrow()
                        .trim()
                        .split("\\s+"))
                .containsExactly("65536", "5000", "1234.57", "1200.10", "0.019202");
    }
}
