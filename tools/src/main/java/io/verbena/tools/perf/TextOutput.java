// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.io.PrintWriter;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Text in the shape of perftest's, so that what reads the one reads the other. */
final class TextOutput implements PerfOutput {
    private static final String LINE = "-".repeat(87);
    private static final String BANDWIDTH =
            " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]";
    private static final String LATENCY =
            " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
                    + "    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ";
    private static final String LATENCY_DURATION = " #bytes        #iterations       t_avg[usec]    tps average";

    private final PrintWriter out;
    private @Nullable PerfParameters parameters;

    TextOutput(PrintWriter out) {
        this.out = out;
    }

    @Override
    public void begin(PerfContext context, String device, String peer) {
        PerfParameters p = context.parameters();
        parameters = p;
        line(LINE);
        line("                    %s", title(p));
        if (p.events()) {
            line(" Test with events.");
        }
        line(" Dual-port       : OFF\t\tDevice         : %s", device);
        line(" Number of qps   : %d\t\tTransport type : IB", p.queuePairs());
        line(" Connection type : %s\t\tUsing SRQ      : OFF", p.connection());
        if (p.posts()) {
            line(" TX depth        : %d", p.sendDepth());
        }
        if (p.verb() == PerfTest.Verb.SEND && (!p.client() || p.bidirectional())) {
            line(" RX depth        : %d", p.receiveDepth());
        }
        if (p.test().isBandwidth()) {
            line(" CQ Moderation   : %d", p.completionModeration());
        }
        line(" Mtu             : %d[B]", context.mtu().bytes());
        line(" Link type       : Ethernet");
        line(" GID index       : %d", context.gid().index());
        if (p.verb().isAnswered()) {
            line(" Outstand reads  : %d", context.outstandingReads());
        } else {
            line(" Max inline data : %d[B]", p.inlineBytes());
        }
        line(" rdma_cm QPs     : %s", p.managed() ? "ON" : "OFF");
        line(" Data ex. method : %s", p.managed() ? "rdma_cm" : "Ethernet");
        line(LINE);
    }

    private static String title(PerfParameters p) {
        StringBuilder title = new StringBuilder(p.verb().title()).append(' ');
        if (p.verb() == PerfTest.Verb.ATOMIC) {
            title.append(p.compareAndSwap() ? "CMP_AND_SWAP " : "FETCH_AND_ADD ");
        }
        if (p.bidirectional()) {
            title.append("Bidirectional ");
        }
        return title.append(p.test().isBandwidth() ? "BW Test" : "Latency Test").toString();
    }

    @Override
    public void endpoint(boolean local, PerfDestination endpoint) {
        StringBuilder text = new StringBuilder(format(
                " %s address: LID %#04x QPN %#06x PSN %#06x",
                local ? "local" : "remote", endpoint.lid(), endpoint.qpNumber(), endpoint.psn()));
        PerfTest.Verb verb = parameters == null ? PerfTest.Verb.SEND : parameters.verb();
        if (verb == PerfTest.Verb.READ) {
            text.append(format(" OUT %#04x", endpoint.outstandingReads()));
        }
        if (verb == PerfTest.Verb.READ || verb == PerfTest.Verb.WRITE) {
            text.append(format(" RKey %#08x VAddr %#016x", endpoint.rkey(), endpoint.address()));
        }
        line("%s", text);
        StringBuilder gid = new StringBuilder(" GID: ");
        byte[] bytes = HexFormat.of().parseHex(endpoint.gid().toHex());
        for (int i = 0; i < bytes.length; i++) {
            gid.append(i == 0 ? "" : ":").append(format("%02d", bytes[i] & 0xff));
        }
        line("%s", gid);
    }

    @Override
    public void header() {
        line(LINE);
        PerfParameters p = parameters;
        if (p == null || p.test().isBandwidth()) {
            line("%s", BANDWIDTH);
        } else {
            line("%s", p.isDuration() ? LATENCY_DURATION : LATENCY);
        }
    }

    @Override
    public void bandwidth(BandwidthReport report) {
        line(
                " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f",
                report.size(), report.iterations(), report.peak(), report.average(), report.messageRate());
    }

    @Override
    public void latency(LatencyReport report) {
        if (parameters != null && parameters.isDuration()) {
            line(
                    " %-7d       %d            %-7.2f        %-7.2f",
                    report.size(), report.iterations(), report.meanMicros(), report.messagesPerSecond());
            return;
        }
        line(
                " %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f",
                report.size(),
                report.iterations(),
                report.minMicros(),
                report.maxMicros(),
                report.percentileMicros(50),
                report.meanMicros(),
                report.deviationMicros(),
                report.percentileMicros(99),
                report.percentileMicros(99.9));
    }

    @Override
    public void end() {
        line(LINE);
    }

    @SuppressWarnings("AnnotateFormatMethod") // Its annotation would be a dependency.
    private void line(String format, Object... values) {
        out.println(format(format, values));
        out.flush();
    }

    @SuppressWarnings("AnnotateFormatMethod")
    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
