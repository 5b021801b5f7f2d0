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
import java.lang.foreign.MemorySegment;

/** A datagram queue pair with the Q_Key of the connection manager, and its memory. */
final class MckeyEnd implements AutoCloseable {
    /** What all UDP port space users of librdmacm share (rdma_cma.h, RDMA_UDP_QKEY). */
    static final int QKEY = 0x01234567;

    static final int PORT = 1;

    /** Work that is posted at a time. */
    private static final int DEPTH_MAX = 256;

    private final DeviceContext device;
    private final Resources resources = new Resources();
    private final WorkCompletion completion = new WorkCompletion();
    private final int depth;
    private final ProtectionDomain domain;
    private final MemorySegment memory;
    private final MemoryRegion region;
    private final CompletionQueue completions;
    private final QueuePair queuePair;

    /** @param slotBytes memory for each of the works that are posted at a time */
    MckeyEnd(DeviceContext device, MckeyOptions options, int slotBytes) {
        this.device = device;
        depth = Math.min(options.count(), DEPTH_MAX);
        boolean complete = false;
        try {
            int mtu = device.queryPort(PORT).activeMtu().bytes();
            if (options.size() > mtu) {
                throw new CommandFailure("-S " + options.size() + " is more than a datagram carries: the active MTU of "
                        + device.device().name() + " is " + mtu);
            }
            memory = resources.arena().allocate((long) depth * slotBytes, Long.BYTES);
            domain = resources.add(device.allocateProtectionDomain());
            region = resources.add(domain.register(memory, AccessFlag.LOCAL_WRITE));
            completions = resources.add(device.createCompletionQueue(depth));
            queuePair = resources.add(domain.createQueuePair(QueuePairOptions.ud(completions)
                    .withQueueDepth(depth, depth)
                    .withMaxSge(1, 1)
                    .withMaxInlineData(0)));
            queuePair.activate(QKEY);
            complete = true;
        } finally {
            if (!complete) {
                resources.close();
            }
        }
    }

    int depth() {
        return depth;
    }

    Resources resources() {
        return resources;
    }

    ProtectionDomain domain() {
        return domain;
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
                            + CounterSummary.of(device));
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
