// SPDX-License-Identifier: Apache-2.0
package io.verbena.bench;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SharedReceiveQueueOptions;
import io.verbena.verbs.XrcDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;

/**
 * Creates and destroys each kind of object many times, and shows what the process holds before and after. As many
 * cycles come first and are not counted: classes, compiled code and the C library's allocator, which keeps what it once
 * had, reach their size in them. A leak grows on.
 *
 * <p>The heap should be fixed and touched beforehand (the launcher sees to it): then what the process grows by is
 * native.
 */
public final class Churn {
    private static final int CYCLES = 100_000;
    /** A multicast group is joined in the kernel, and a device has a socket and a thread: fewer cycles of these. */
    private static final int SLOW_CYCLES = 2_000;

    private static final String DEVICE = "rocev2:127.91.0.9";
    private static final String PEER = "rocev2:127.91.0.10";
    private static final String PASSING = "rocev2:127.91.0.11";

    private final DeviceContext context = Devices.open(DEVICE);
    private final DeviceContext peerContext = Devices.open(PEER);
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final ProtectionDomain peerDomain = peerContext.allocateProtectionDomain();
    private final CompletionQueue completions = context.createCompletionQueue(16);
    private final CompletionQueue peerCompletions = peerContext.createCompletionQueue(16);
    private final XrcDomain xrcDomain = context.openXrcDomain();
    private final MemorySegment memory = Arena.ofAuto().allocate(4096, 64);
    private final int cycles;

    private Churn(int cycles) {
        this.cycles = cycles;
    }

    /** One life of an object. */
    private interface Cycle {
        void run() throws Exception;
    }

    /** With the number of cycles, 100,000 when it is not said. */
    public static void main(String[] arguments) throws Exception {
        new Churn(arguments.length > 0 ? Integer.parseInt(arguments[0]) : CYCLES).run();
    }

    private void run() throws Exception {
        System.out.printf(
                "%-24s %8s %8s %13s %13s %13s %13s%n",
                "object", "cycles", "seconds", "heap before", "heap after", "RSS before", "RSS after");
        measure(
                "protection domain",
                cycles,
                () -> context.allocateProtectionDomain().close());
        measure(
                "memory region",
                cycles,
                () -> domain.register(memory, AccessFlag.LOCAL_WRITE).close());
        measure(
                "memory window",
                cycles,
                () -> domain.allocateMemoryWindow(MemoryWindowType.TYPE_2).close());
        measure(
                "completion channel",
                cycles,
                () -> context.createCompletionChannel().close());
        measure("completion queue", cycles, this::completionQueue);
        measure("shared receive queue", cycles, this::sharedReceives);
        measure("XRC domain", cycles, () -> context.openXrcDomain().close());
        AddressVector vector = AddressVector.to(Gid.of(InetAddress.getByName("127.91.0.10")));
        measure(
                "address handle",
                cycles,
                () -> domain.createAddressHandle(vector).close());
        measure("RC queue pair, connected", cycles, () -> connected(QueuePairOptions.rc(completions)));
        measure("UC queue pair, connected", cycles, () -> connected(QueuePairOptions.uc(completions)));
        measure("UD queue pair, active", cycles, this::datagrams);
        measure(
                "XRC target",
                cycles,
                () -> domain.createQueuePair(QueuePairOptions.xrcTarget(xrcDomain))
                        .close());
        QueuePair member = domain.createQueuePair(QueuePairOptions.ud(completions));
        Gid group = Gid.of(InetAddress.getByName("239.1.91.1"));
        measure("multicast membership", Math.min(cycles, SLOW_CYCLES), () -> {
            member.attachMulticast(group);
            member.detachMulticast(group);
        });
        member.close();
        measure(
                "device",
                Math.min(cycles, SLOW_CYCLES),
                () -> Devices.open(PASSING).close());
        close();
    }

    private void completionQueue() {
        try (CompletionChannel channel = context.createCompletionChannel();
                CompletionQueue queue = context.createCompletionQueue(16, channel)) {
            queue.requestNotify(false);
        }
    }

    private void sharedReceives() {
        domain.createSharedReceiveQueue(SharedReceiveQueueOptions.of(16)).close();
        domain.createSharedReceiveQueue(SharedReceiveQueueOptions.of(16).withXrc(xrcDomain, completions))
                .close();
    }

    private void connected(QueuePairOptions options) {
        boolean reliable = options.type().name().equals("RC");
        QueuePairOptions other = reliable ? QueuePairOptions.rc(peerCompletions) : QueuePairOptions.uc(peerCompletions);
        try (QueuePair one = domain.createQueuePair(options.withQueueDepth(16, 16));
                QueuePair two = peerDomain.createQueuePair(other.withQueueDepth(16, 16))) {
            one.connect(two.endpoint());
            two.connect(one.endpoint());
        }
    }

    private void datagrams() {
        try (QueuePair one =
                domain.createQueuePair(QueuePairOptions.ud(completions).withQueueDepth(16, 16))) {
            one.activate(1);
        }
    }

    private static void measure(String name, int count, Cycle cycle) throws Exception {
        repeat(count, cycle);
        Memory before = Memory.settled();
        long start = System.nanoTime();
        repeat(count, cycle);
        double seconds = (System.nanoTime() - start) / 1e9;
        Memory after = Memory.settled();
        System.out.printf(
                "%-24s %8d %8.1f %9d KiB %9d KiB %9d KiB %9d KiB%n",
                name,
                count,
                seconds,
                before.heap() >> 10,
                after.heap() >> 10,
                before.resident() >> 10,
                after.resident() >> 10);
    }

    private static void repeat(int count, Cycle cycle) throws Exception {
        for (int i = 0; i < count; i++) {
            cycle.run();
        }
    }

    private void close() {
        xrcDomain.close();
        peerCompletions.close();
        completions.close();
        peerDomain.close();
        domain.close();
        peerContext.close();
        context.close();
    }
}
