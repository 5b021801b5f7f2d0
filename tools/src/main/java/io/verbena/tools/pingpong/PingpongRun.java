// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.CounterSummary;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.devices.DevicePicker;
import io.verbena.tools.sideband.Sideband;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.GidEntry;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairEndpoint;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One end of the game: a queue pair, one buffer that is both sent and received into, and the loop. */
final class PingpongRun implements AutoCloseable {
    private static final int PORT = 1;
    private static final long RECEIVE = 1;
    private static final long SEND = 2;
    /** What the original fills its buffer with. */
    private static final byte FILL = 0x7b;

    private static final int PAGE = 4096;
    /** A peer that is gone shows by retries within 4 s when something was sent to it, else by this. */
    private static final Duration SILENCE = Duration.ofSeconds(10);
    /** Lets the acknowledgement of the last message leave before the device closes. */
    private static final long LINGER_MILLIS = 50;

    private final DeviceContext device;
    private final PingpongOptions options;
    private final Resources resources = new Resources();
    private final MemorySegment buffer;
    private final MemoryRegion region;
    private final @Nullable CompletionChannel channel;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final GidEntry gid;
    private final WorkCompletion completion = new WorkCompletion();
    private int sent;
    private int received;
    private int receivesPosted;
    private long pending;

    PingpongRun(DeviceContext device, PingpongOptions options) {
        this.device = device;
        this.options = options;
        boolean complete = false;
        try {
            Mtu active = device.queryPort(PORT).activeMtu();
            if (options.mtu().compareTo(active) > 0) {
                throw new CommandFailure("-m " + options.mtu().bytes() + " is above the active MTU of "
                        + device.device().name() + ", which is " + active.bytes());
            }
            gid = DevicePicker.chooseGid(device, PORT, options.gidIndex());
            Arena arena = resources.arena();
            buffer = arena.allocate(options.size(), PAGE).fill(FILL);
            ProtectionDomain domain = resources.add(device.allocateProtectionDomain());
            region = resources.add(domain.register(buffer, AccessFlag.LOCAL_WRITE));
            channel = options.events() ? resources.add(device.createCompletionChannel()) : null;
            completions = resources.add(device.createCompletionQueue(options.receiveDepth() + 1, channel));
            queuePair = resources.add(domain.createQueuePair(QueuePairOptions.rc(completions)
                    .withQueueDepth(1, options.receiveDepth())
                    .withMaxSge(1, 1)
                    .withMaxInlineData(0)));
            complete = true;
        } finally {
            if (!complete) {
                resources.close();
            }
        }
    }

    QueuePairEndpoint local() {
        QueuePairEndpoint endpoint = queuePair.endpoint();
        return new QueuePairEndpoint(endpoint.lid(), endpoint.qpNumber(), endpoint.psn(), gid.gid());
    }

    /**
     * Exchanges addresses, brings the queue pair up, posts the receives, and ends the TCP connection as the original
     * does.
     */
    QueuePairEndpoint connect(Sideband sideband) throws InterruptedException, IOException {
        QueuePairEndpoint local = local();
        QueuePairEndpoint remote = options.client()
                ? PingpongExchange.asClient(sideband, local, peer -> bringUp(peer, sideband.peer()))
                : PingpongExchange.asServer(sideband, local, peer -> bringUp(peer, sideband.peer()));
        sideband.close();
        return remote;
    }

    private void bringUp(QueuePairEndpoint peer, String peerName) {
        DevicePicker.requireReachable(gid.gid(), peer.gid(), peerName);
        // Values of pp_connect_ctx in rc_pingpong.c.
        queuePair.connect(
                peer,
                new QueuePairAttributes()
                        .accessFlags(0)
                        .addressVector(new AddressVector(peer.gid(), gid.index(), 0, 1, 0, 0))
                        .pathMtu(options.mtu())
                        .timeout(14)
                        .retryCount(7)
                        .rnrRetry(7)
                        .minRnrTimer(12)
                        .maxRdAtomic(1)
                        .maxDestRdAtomic(1));
        postReceives();
        if (channel != null) {
            completions.requestNotify();
        }
    }

    PingpongResult run() throws InterruptedException {
        if (options.check() && options.client()) {
            markPages();
        }
        long start = System.nanoTime();
        pending = RECEIVE;
        if (options.client()) {
            postSend();
        }
        while (sent < options.iterations() || received < options.iterations()) {
            awaitCompletion();
            handle();
        }
        long nanos = System.nanoTime() - start;
        if (options.check()) {
            check();
        }
        Thread.sleep(LINGER_MILLIS);
        return new PingpongResult(options, nanos);
    }

    private void awaitCompletion() throws InterruptedException {
        long deadline = System.nanoTime() + SILENCE.toNanos();
        int spins = 0;
        while (!completions.poll(completion)) {
            if (channel != null) {
                if (channel.await(Duration.ofSeconds(1)) != null) {
                    completions.requestNotify();
                }
            } else {
                Thread.onSpinWait();
            }
            if ((channel != null || (++spins & 0xfff) == 0) && System.nanoTime() - deadline > 0) {
                throw new CommandFailure(
                        "nothing came from the peer for " + SILENCE.toSeconds() + " s, after " + received + " of "
                                + options.iterations() + " messages; is it still running, with the same -n and -s?"
                                + CounterSummary.of(device));
            }
        }
    }

    private void handle() {
        if (!completion.isSuccess()) {
            throw new CommandFailure((completion.wrId() == SEND ? "sending" : "receiving") + " message "
                    + (completion.wrId() == SEND ? sent + 1 : received + 1) + " failed: " + completion.status() + ", "
                    + completion.status().meaning());
        }
        if (completion.wrId() == SEND) {
            sent++;
        } else {
            received++;
            // As the original: refilled when all but one are used up.
            if (--receivesPosted <= 1) {
                postReceives();
            }
        }
        pending &= ~completion.wrId();
        if (sent < options.iterations() && pending == 0) {
            postSend();
            pending = RECEIVE | SEND;
        }
    }

    private void postReceives() {
        while (receivesPosted < options.receiveDepth()) {
            queuePair.postReceive(RECEIVE, region, 0, options.size());
            receivesPosted++;
        }
    }

    private void postSend() {
        queuePair.postSend(SEND, region, 0, options.size(), SendFlags.SIGNALED);
        pending |= SEND;
    }

    /**
     * With -c the original's client zeroes the first byte of each page, and its server looks for these zeros at the
     * end.
     */
    private void markPages() {
        for (long i = 0; i < options.size(); i += PAGE) {
            buffer.set(ValueLayout.JAVA_BYTE, i, (byte) 0);
        }
    }

    private void check() {
        for (long i = 0; i < options.size(); i++) {
            byte expected = i % PAGE == 0 ? 0 : FILL;
            if (buffer.get(ValueLayout.JAVA_BYTE, i) != expected) {
                throw new CommandFailure("invalid data in page " + i / PAGE + ": byte " + i + " is 0x"
                        + Integer.toHexString(buffer.get(ValueLayout.JAVA_BYTE, i) & 0xff) + " and not 0x"
                        + Integer.toHexString(expected) + "; does the client check too (-c)?");
            }
        }
    }

    @Override
    public void close() {
        resources.close();
    }
}
