// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.demo;

import io.verbena.tools.cli.Resources;
import io.verbena.tools.cli.StandardCommand;
import io.verbena.tools.devices.DevicePicker;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceOptions;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairEndpoint;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The other process of the demo. It registers memory, connects, posts receives, says where everything is, and sleeps.
 * When its standard input ends, because the demo is over or because its process is gone, it wakes up, says what it
 * finds, and ends.
 */
@Command(name = "demo-target", hidden = true, description = "The sleeping process of the demo.")
public final class DemoTargetCommand extends StandardCommand {
    /** Receives on each queue pair that was named with --receiver. */
    static final int RECEIVES = 300;

    static final int MESSAGE_BYTES = 256;
    static final int COUNTERS_BYTES = 4096;
    /** Both ends of a connection must have the same MTU. */
    static final Mtu NARROW_MTU = Mtu.MTU_1024;

    @Option(names = "--size", required = true)
    private long size;

    @Option(names = "--first", required = true, description = "The first loopback address to try, 127.0.0.N.")
    private int first;

    @Option(names = "--peer", required = true, description = "An endpoint to connect to.")
    private List<String> peers = new ArrayList<>();

    @Option(names = "--receiver", description = "Index of a queue pair that gets receives.")
    private List<Integer> receivers = new ArrayList<>();

    @Option(names = "--narrow", description = "Index of a queue pair whose packets are small.")
    private List<Integer> narrow = new ArrayList<>();

    @Override
    public Integer call() throws Exception {
        try (Resources resources = new Resources()) {
            DeviceContext device = resources.add(DevicePicker.openLoopback(first, DeviceOptions.defaults()));
            Arena arena = resources.arena();
            ProtectionDomain domain = resources.add(device.allocateProtectionDomain());
            MemorySegment memory = arena.allocate(size, 4096);
            MemorySegment counters = arena.allocate(COUNTERS_BYTES, 4096);
            MemorySegment messages = arena.allocate((long) RECEIVES * MESSAGE_BYTES * receivers.size() + 1, 4096);
            MemoryRegion memoryRegion = resources.add(register(domain, memory));
            MemoryRegion countersRegion = resources.add(register(domain, counters));
            MemoryRegion messagesRegion = resources.add(domain.register(messages, AccessFlag.LOCAL_WRITE));
            CompletionQueue completions =
                    resources.add(device.createCompletionQueue(RECEIVES * peers.size() + peers.size()));
            out().println("device " + device.device().name());
            out().println("memory " + memoryRegion.address() + " " + memoryRegion.rkey() + " " + size);
            out().println("counters " + countersRegion.address() + " " + countersRegion.rkey());
            long offset = 0;
            for (int i = 0; i < peers.size(); i++) {
                QueuePair queuePair = resources.add(
                        domain.createQueuePair(QueuePairOptions.rc(completions).withQueueDepth(1, RECEIVES)));
                QueuePairAttributes attributes = new QueuePairAttributes();
                if (narrow.contains(i)) {
                    attributes.pathMtu(NARROW_MTU);
                }
                queuePair.connect(QueuePairEndpoint.parse(peers.get(i)), attributes);
                if (receivers.contains(i)) {
                    for (int j = 0; j < RECEIVES; j++) {
                        queuePair.postReceive(offset, messagesRegion, offset, MESSAGE_BYTES);
                        offset += MESSAGE_BYTES;
                    }
                }
                out().println("endpoint " + queuePair.endpoint());
            }
            out().println("ready");
            out().flush();
            long cpuNanos = sleep();
            report(completions, memory, counters, messages, cpuNanos);
            return 0;
        }
    }

    private static MemoryRegion register(ProtectionDomain domain, MemorySegment memory) {
        return domain.register(
                memory,
                AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_ATOMIC);
    }

    /** Sleeps in the kernel until standard input ends; returns the CPU time that this thread used meanwhile. */
    private static long sleep() throws IOException {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        boolean measured = threads.isCurrentThreadCpuTimeSupported();
        long before = measured ? threads.getCurrentThreadCpuTime() : 0;
        while (System.in.read() >= 0) {
            // Nobody writes here; only the end counts.
        }
        return measured ? threads.getCurrentThreadCpuTime() - before : 0;
    }

    private void report(
            CompletionQueue completions,
            MemorySegment memory,
            MemorySegment counters,
            MemorySegment messages,
            long cpuNanos) {
        WorkCompletion completion = new WorkCompletion();
        String message = "";
        long received = 0;
        while (completions.poll(completion)) {
            if (!completion.isSuccess()) {
                continue; // Receives of the queue pair whose peer trespassed were flushed.
            }
            if (received++ == 0) {
                byte[] text = messages.asSlice(completion.wrId(), completion.byteLength())
                        .toArray(ValueLayout.JAVA_BYTE);
                message = new String(text, StandardCharsets.UTF_8);
            }
        }
        out().println("hash " + Memory.hash(memory));
        out().println("sum " + counters.get(ValueLayout.JAVA_LONG, 0));
        out().println("messages " + received);
        out().println("cpu " + cpuNanos);
        out().println("message " + message);
        out().println("bye");
        out().flush();
    }
}
