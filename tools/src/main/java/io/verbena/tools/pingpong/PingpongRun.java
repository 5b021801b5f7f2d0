// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.CounterSummary;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.devices.DevicePicker;
import io.verbena.tools.sideband.Sideband;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressHandle;
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
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.SharedReceiveQueueOptions;
import io.verbena.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One end of the game: queue pairs, one buffer that is both sent and received into, and the loop. */
final class PingpongRun implements AutoCloseable {
    private static final int PORT = 1;
    private static final int RECEIVE = 1;
    private static final int SEND = 2;
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
    private final QueuePair[] queuePairs;
    private final @Nullable SharedReceiveQueue shared;
    private final int[] destinations;
    private final int[] pending;
    private final ProtectionDomain domain;
    private final GidEntry gid;
    private final WorkCompletion completion = new WorkCompletion();
    private int sent;
    private int received;
    private int receivesPosted;
    private @Nullable AddressHandle handle;

    PingpongRun(DeviceContext device, PingpongOptions options) {
        this.device = device;
        this.options = options;
        PingpongType type = options.type();
        queuePairs = new QueuePair[options.queuePairs()];
        destinations = new int[queuePairs.length];
        pending = new int[queuePairs.length];
        boolean complete = false;
        try {
            checkMtu(device.queryPort(PORT).activeMtu());
            gid = DevicePicker.chooseGid(device, PORT, options.gidIndex());
            Arena arena = resources.arena();
            long bytes = (long) type.headerBytes() + options.size();
            buffer = arena.allocate(bytes, PAGE).fill(type.fill());
            domain = resources.add(device.allocateProtectionDomain());
            region = resources.add(domain.register(buffer, AccessFlag.LOCAL_WRITE));
            channel = options.events() ? resources.add(device.createCompletionChannel()) : null;
            completions =
                    resources.add(device.createCompletionQueue(options.receiveDepth() + queuePairs.length, channel));
            shared = type != PingpongType.SRQ
                    ? null
                    : resources.add(domain.createSharedReceiveQueue(
                            SharedReceiveQueueOptions.of(options.receiveDepth()).withMaxSge(1)));
            QueuePairOptions wanted = type.queuePair(completions)
                    .withQueueDepth(1, options.receiveDepth())
                    .withMaxSge(1, 1)
                    .withMaxInlineData(0);
            for (int i = 0; i < queuePairs.length; i++) {
                queuePairs[i] = resources.add(
                        domain.createQueuePair(shared == null ? wanted : wanted.withSharedReceiveQueue(shared)));
            }
            complete = true;
        } finally {
            if (!complete) {
                resources.close();
            }
        }
    }

    private void checkMtu(Mtu active) {
        String name = device.device().name();
        if (options.type() != PingpongType.UD && options.mtu().compareTo(active) > 0) {
            throw new CommandFailure("-m " + options.mtu().bytes() + " is above the active MTU of " + name
                    + ", which is " + active.bytes());
        }
        if (options.type() == PingpongType.UD && options.size() > active.bytes()) {
            throw new CommandFailure("-s " + options.size() + " is more than a datagram carries: the active MTU of "
                    + name + " is " + active.bytes());
        }
    }

    List<QueuePairEndpoint> local() {
        List<QueuePairEndpoint> local = new ArrayList<>();
        for (QueuePair queuePair : queuePairs) {
            QueuePairEndpoint endpoint = queuePair.endpoint();
            local.add(new QueuePairEndpoint(endpoint.lid(), endpoint.qpNumber(), endpoint.psn(), gid.gid()));
        }
        return local;
    }

    /**
     * Exchanges addresses, brings the queue pairs up, posts the receives, and ends the TCP connection as the original
     * does.
     */
    List<QueuePairEndpoint> connect(Sideband sideband) throws InterruptedException, IOException {
        List<QueuePairEndpoint> local = local();
        PingpongExchange exchange =
                new PingpongExchange(sideband, options.type().lines());
        List<QueuePairEndpoint> remote = options.client()
                ? exchange.asClient(local, peers -> bringUp(peers, sideband.peer()))
                : exchange.asServer(local, peers -> bringUp(peers, sideband.peer()));
        sideband.close();
        return remote;
    }

    private void bringUp(List<QueuePairEndpoint> peers, String peerName) {
        for (int i = 0; i < queuePairs.length; i++) {
            QueuePairEndpoint peer = peers.get(i);
            DevicePicker.requireReachable(gid.gid(), peer.gid(), peerName);
            destinations[i] = peer.qpNumber();
            if (options.type() == PingpongType.UD) {
                queuePairs[i].activate(PingpongType.QKEY);
                handle = resources.add(domain.createAddressHandle(
                        new AddressVector(peer.gid(), gid.index(), 0, AddressVector.HOP_LIMIT, 0, 0)));
            } else {
                connect(queuePairs[i], peer);
            }
        }
        postReceives();
        if (channel != null) {
            completions.requestNotify();
        }
    }

    /** With the values of pp_connect_ctx in rc_pingpong.c; an unreliable connection takes fewer of them. */
    private void connect(QueuePair queuePair, QueuePairEndpoint peer) {
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
    }

    PingpongResult run() throws InterruptedException {
        if (options.check() && options.client()) {
            markPages();
        }
        long start = System.nanoTime();
        for (int i = 0; i < queuePairs.length; i++) {
            pending[i] = RECEIVE;
            if (options.client()) {
                postSend(i);
            }
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
                throw silence();
            }
        }
    }

    private CommandFailure silence() {
        return new CommandFailure("nothing came from the peer for " + SILENCE.toSeconds() + " s, after " + received
                + " of " + options.iterations() + " messages; "
                + (options.type().loses()
                        ? "a message may be lost, as " + options.type() + " sends none again; or is the peer gone, or"
                                + " does it run with another -n, -s or --type?"
                        : "is it still running, with the same -n and -s?")
                + CounterSummary.of(device));
    }

    private void handle() {
        if (!completion.isSuccess()) {
            throw new CommandFailure((completion.wrId() == SEND ? "sending" : "receiving") + " message "
                    + (completion.wrId() == SEND ? sent + 1 : received + 1) + " failed: " + completion.status() + ", "
                    + completion.status().meaning());
        }
        int index = indexOf(completion.qpNumber());
        if (completion.wrId() == SEND) {
            sent++;
        } else {
            received++;
            // As the original: refilled when no more than one for each queue pair is left.
            if (--receivesPosted <= queuePairs.length) {
                postReceives();
            }
        }
        pending[index] &= (int) ~completion.wrId();
        if (sent < options.iterations() && pending[index] == 0) {
            postSend(index);
            pending[index] = RECEIVE | SEND;
        }
    }

    private int indexOf(int qpNumber) {
        int index = 0;
        while (queuePairs[index].qpNumber() != qpNumber) {
            index++;
        }
        return index;
    }

    private void postReceives() {
        int bytes = options.type().headerBytes() + options.size();
        while (receivesPosted < options.receiveDepth()) {
            if (shared != null) {
                shared.postReceive(RECEIVE, region, 0, bytes);
            } else {
                queuePairs[0].postReceive(RECEIVE, region, 0, bytes);
            }
            receivesPosted++;
        }
    }

    private void postSend(int index) {
        int offset = options.type().headerBytes();
        if (handle != null) {
            queuePairs[index].postSendTo(
                    SEND,
                    region.address() + offset,
                    options.size(),
                    region.lkey(),
                    handle,
                    destinations[index],
                    PingpongType.QKEY,
                    SendFlags.SIGNALED);
        } else {
            queuePairs[index].postSend(SEND, region, offset, options.size(), SendFlags.SIGNALED);
        }
        pending[index] |= SEND;
    }

    /**
     * With -c the original's client zeroes the first byte of each page, and its server looks for these zeros at the
     * end.
     */
    private void markPages() {
        for (long i = 0; i < options.size(); i += PAGE) {
            buffer.set(ValueLayout.JAVA_BYTE, options.type().headerBytes() + i, (byte) 0);
        }
    }

    private void check() {
        for (long i = 0; i < options.size(); i++) {
            byte expected = i % PAGE == 0 ? 0 : options.type().fill();
            byte found = buffer.get(ValueLayout.JAVA_BYTE, options.type().headerBytes() + i);
            if (found != expected) {
                throw new CommandFailure("invalid data in page " + i / PAGE + ": byte " + i + " is 0x"
                        + Integer.toHexString(found & 0xff) + " and not 0x" + Integer.toHexString(expected)
                        + "; does the client check too (-c)?");
            }
        }
    }

    @Override
    public void close() {
        resources.close();
    }
}
