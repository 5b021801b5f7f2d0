// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.mckey;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.CounterSummary;
import io.verbena.tools.cli.Resources;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A datagram queue pair on the device that leads to the group, and its memory. */
final class MckeyEnd implements AutoCloseable {
    private static final int PORT = 1;
    /** Work that is posted at a time. */
    private static final int DEPTH_MAX = 256;

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private final Resources resources = new Resources();
    private final WorkCompletion completion = new WorkCompletion();
    private final EventChannel channel;
    private final ConnectionId id;
    private final int depth;
    private final MemorySegment memory;
    private final MemoryRegion region;
    private final CompletionQueue completions;
    private final QueuePair queuePair;

    /**
     * @param source the local address to use, or null
     * @param slotBytes memory for each of the works that are posted at a time
     */
    MckeyEnd(@Nullable InetAddress source, MckeyOptions options, int slotBytes) throws InterruptedException {
        depth = Math.min(options.count(), DEPTH_MAX);
        boolean complete = false;
        try {
            channel = resources.add(EventChannel.open());
            id = resolve(source, options.group().toAddress());
            DeviceContext device = id.context();
            int mtu = device.queryPort(PORT).activeMtu().bytes();
            if (options.size() > mtu) {
                throw new CommandFailure("-S " + options.size() + " is more than a datagram carries: the active MTU of "
                        + device.device().name() + " is " + mtu);
            }
            memory = resources.arena().allocate((long) depth * slotBytes, Long.BYTES);
            region = resources.add(domain().register(memory, AccessFlag.LOCAL_WRITE));
            completions = resources.add(device.createCompletionQueue(depth));
            queuePair = resources.add(id.createQueuePair(QueuePairOptions.ud(completions)
                    .withQueueDepth(depth, depth)
                    .withMaxSge(1, 1)
                    .withMaxInlineData(0)));
            complete = true;
        } finally {
            if (!complete) {
                resources.close();
            }
        }
    }

    private ConnectionId resolve(@Nullable InetAddress source, InetAddress group) throws InterruptedException {
        ConnectionId created = channel.createId(PortSpace.UDP);
        if (source != null) {
            created.bind(new InetSocketAddress(source, 0));
        }
        created.resolveAddress(null, new InetSocketAddress(group, 0), TIMEOUT);
        if (channel.await(TIMEOUT) instanceof ConnectionEvent.AddressFailed failed) {
            throw failed.cause();
        }
        return created;
    }

    /** Hears the group; the event tells how to send to it. */
    ConnectionEvent.MulticastJoined join(MckeyOptions options) throws InterruptedException {
        id.joinMulticast(options.group().toAddress());
        if (channel.await(TIMEOUT) instanceof ConnectionEvent.MulticastJoined joined) {
            return joined;
        }
        throw new CommandFailure("the group " + options.group() + " cannot be joined");
    }

    int depth() {
        return depth;
    }

    Resources resources() {
        return resources;
    }

    DeviceContext device() {
        return id.context();
    }

    ProtectionDomain domain() {
        return id.protectionDomain();
    }

    MemorySegment memory() {
        return memory;
    }

    MemoryRegion region() {
        return region;
    }

    QueuePair queuePair() {
        return queuePair;
    }

    /** The next completion, or a failure that says how many there were before. */
    WorkCompletion await(MckeyOptions options, int done, String what) throws InterruptedException {
        if (!completions.await(completion, options.timeout())) {
            throw new CommandFailure(
                    what + " " + done + " of " + options.count() + " messages; the next did not come in "
                            + options.timeout().toSeconds() + " s, and datagrams that are lost are not sent again"
                            + CounterSummary.of(device()));
        }
        if (!completion.isSuccess()) {
            throw new CommandFailure(what + " message " + (done + 1) + " failed: " + completion.status() + ", "
                    + completion.status().meaning());
        }
        return completion;
    }

    @Override
    public void close() {
        resources.close();
    }
}
