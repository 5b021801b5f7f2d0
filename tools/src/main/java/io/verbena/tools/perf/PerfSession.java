// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.ByteSize;
import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.Progress;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.sideband.Sideband;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Mtu;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * A test from the first byte over the sideband to the last: handshakes and runs in perftest's order, which differs from
 * test to test.
 */
final class PerfSession implements AutoCloseable {
    private final DeviceContext device;
    private final Sideband sideband;
    private final QueuePairSource source;
    private PerfParameters parameters;
    private final PerfOutput output;
    private final PrintWriter err;
    private final PerfHandshake handshake;
    private final Resources resources = new Resources();

    PerfSession(
            DeviceContext device,
            Sideband sideband,
            QueuePairSource source,
            PerfParameters parameters,
            PerfOutput output,
            PrintWriter err) {
        this.device = device;
        this.sideband = sideband;
        this.source = source;
        this.parameters = parameters;
        this.output = output;
        this.err = err;
        handshake = new PerfHandshake(sideband, parameters.client(), source.form());
    }

    void run() throws InterruptedException {
        handshake.versions();
        PerfHandshake.Geometry geometry = handshake.geometry();
        Mtu mtu = handshake.mtu(ownMtu());
        parameters = parameters.forMtu(mtu);
        PerfContext context = resources.add(new PerfContext(device, source, parameters, geometry, mtu));
        createQueuePairs(context);
        output.begin(context, device.device().name(), sideband.peer());
        connect(context);
        if (!parameters.test().isBandwidth()) {
            latency(context);
        } else if (parameters.verb() == PerfTest.Verb.SEND) {
            sendBandwidth(context);
        } else {
            bandwidth(context);
        }
    }

    private void createQueuePairs(PerfContext context) throws InterruptedException {
        if (source.connects()) {
            handshake.destination(PerfDestination.NONE);
        }
        context.createQueuePairs();
        if (source.connects()) {
            handshake.destination(PerfDestination.NONE);
        }
    }

    private Mtu ownMtu() {
        Mtu active = device.queryPort(PerfContext.PORT).activeMtu();
        Mtu wanted = Objects.requireNonNullElse(parameters.mtu(), active);
        if (wanted.compareTo(active) > 0) {
            throw new CommandFailure("-m " + wanted.bytes() + " is above the active MTU of "
                    + device.device().name() + ", which is " + active.bytes());
        }
        return wanted;
    }

    private void connect(PerfContext context) throws InterruptedException {
        PerfTest.Verb verb = parameters.verb();
        if (!parameters.test().isBandwidth() && verb != PerfTest.Verb.SEND) {
            handshake.destination(context.local(0));
        }
        PerfDestination[] peers = new PerfDestination[parameters.queuePairs()];
        for (int i = 0; i < peers.length; i++) {
            peers[i] = handshake.destination(context.local(i));
        }
        for (int i = 0; i < peers.length; i++) {
            context.connect(i, peers[i], sideband.peer());
        }
        if (verb == PerfTest.Verb.SEND) {
            handshake.destination(context.local(0));
        }
        for (int i = 0; i < peers.length; i++) {
            output.endpoint(true, context.local(i));
        }
        for (int i = 0; i < peers.length; i++) {
            output.endpoint(false, handshake.destination(context.local(i)));
        }
        if (verb != PerfTest.Verb.SEND) {
            handshake.destination(context.local(0));
        }
    }

    /** WRITE, READ and atomics: the server's program does nothing, unless both sides post. */
    private void bandwidth(PerfContext context) throws InterruptedException {
        boolean both = parameters.bidirectional();
        PerfDestination own = context.local(0);
        BandwidthReport last = BandwidthReport.NONE;
        output.header();
        if (!parameters.posts()) {
            handshake.awaitPeer(own);
            output.bandwidth(handshake.reports(last));
            handshake.close(own);
            return;
        }
        for (int size : parameters.sizes()) {
            BandwidthRun run = new BandwidthRun(context, size, patience(context));
            if (both) {
                handshake.awaitPeer(own);
            }
            last = watched(size, run);
            if (both) {
                if (parameters.allSizes()) {
                    handshake.awaitPeer(own);
                }
                last = last.plus(handshake.reports(last));
            }
            output.bandwidth(last);
        }
        if (!both) {
            handshake.awaitPeer(own);
            handshake.reports(last);
        }
        handshake.close(own);
    }

    private void sendBandwidth(PerfContext context) throws InterruptedException {
        PerfDestination own = context.local(0);
        output.header();
        for (int size : parameters.sizes()) {
            BandwidthRun run = new BandwidthRun(context, size, patience(context));
            run.prepare();
            handshake.awaitPeer(own);
            BandwidthReport report = watched(size, run);
            if (parameters.bidirectional() && !parameters.isDuration()) {
                report = report.plus(handshake.reports(report));
            }
            output.bandwidth(report);
            if (parameters.allSizes()) {
                handshake.awaitPeer(own);
            }
        }
        handshake.close(own);
    }

    private void latency(PerfContext context) throws InterruptedException {
        PerfDestination own = context.local(0);
        PerfTest.Verb verb = parameters.verb();
        if (verb.isAnswered() && !parameters.client()) {
            // Its device answers; there is nothing to print.
            handshake.close(own);
            return;
        }
        output.header();
        for (int size : parameters.sizes()) {
            LatencyRun run = LatencyRun.of(context, size, patience(context));
            run.prepare();
            if (verb == PerfTest.Verb.SEND) {
                handshake.awaitPeer(own);
            }
            Progress progress = progress(size, run::moved);
            LatencyReport report;
            try {
                report = run.run();
            } finally {
                progress.close();
            }
            output.latency(report);
        }
        if (verb == PerfTest.Verb.WRITE) {
            // ib_write_lat ends without a word; the last message was the client's.
            if (parameters.client()) {
                sideband.finishFirst();
            } else {
                sideband.finish();
            }
        } else {
            handshake.close(own);
        }
    }

    private BandwidthReport watched(int size, BandwidthRun run) throws InterruptedException {
        Progress progress = progress(size, run::moved);
        BandwidthReport report;
        try {
            report = run.run();
        } finally {
            progress.close();
        }
        if (report.lost() > 0) {
            err.println(report.lost() + " of " + (report.iterations() + report.lost()) + " messages did not arrive: "
                    + parameters.connection() + " sends none again; --rate_limit at the sender helps a slow receiver");
            err.flush();
        }
        return report;
    }

    private Progress progress(int size, LongSupplier moved) {
        long start = System.nanoTime();
        long total = parameters.iterations() * parameters.queuePairs();
        return Progress.start(err, () -> {
            double seconds = Math.max(1, System.nanoTime() - start) / 1e9;
            long count = moved.getAsLong();
            String of = parameters.isDuration()
                    ? String.format(Locale.ROOT, "%.0f of %d s", seconds, parameters.durationSeconds())
                    : count + " of " + total;
            return String.format(
                    Locale.ROOT,
                    "%s: %s, %.1f MB/sec, %.0f messages/sec",
                    ByteSize.format(size),
                    of,
                    count * size / seconds / BandwidthReport.MEGABYTE,
                    count / seconds);
        });
    }

    private Patience patience(PerfContext context) {
        boolean needsAll = parameters.connection().loses() && !parameters.test().isBandwidth();
        return new Patience(sideband, context.channel(), needsAll ? parameters.connection() : null);
    }

    @Override
    public void close() {
        resources.close();
    }
}
