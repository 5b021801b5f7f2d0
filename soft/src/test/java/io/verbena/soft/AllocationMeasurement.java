// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.FlushPlacement;
import io.verbena.verbs.FlushScope;
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowBinding;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.ReceiveRequest;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.SharedReceiveQueueOptions;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.XrcDomain;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.net.InetAddress;

/**
 * Measures what operations allocate, in a process of its own: there the compiler has seen nothing but this, as in a
 * program that is made for it, and what it removes does not depend on which tests ran before.
 */
final class AllocationMeasurement {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int OPERATIONS = 100_000;
    private static final int ATTEMPTS = 5;

    private final TwoDevices devices;
    private final WorkCompletion completion = new WorkCompletion();

    private AllocationMeasurement(TwoDevices devices) {
        this.devices = devices;
    }

    /** Measures all operations; a failed assertion ends the process with a code that is not 0. */
    public static void main(String[] arguments) throws InterruptedException {
        try (TwoDevices devices = new TwoDevices()) {
            AllocationMeasurement measurement = new AllocationMeasurement(devices);
            measurement.aPostedAndPolledWriteAllocatesNothing();
            measurement.aRequestBuiltAndPolledAllocatesNothing();
            measurement.anInlineSendAndItsReceiveAllocateNothing();
            measurement.inlineByAddressAllocatesNothing();
            measurement.anAtomicAllocatesNothing();
            measurement.aWriteOfManyPacketsAllocatesNothing();
            measurement.bindingAllocatesNothing();
            measurement.aFlushAndAnAtomicWriteAllocateNothing();
            measurement.anUnreliableSendAllocatesNothing();
            measurement.datagramsAllocateNothing();
            measurement.anExtendedSendAllocatesNothing();
        }
    }

    private interface Operation {
        void run() throws InterruptedException;
    }

    private void poll() {
        while (!devices.a.cq.poll(completion)) {
            Thread.onSpinWait();
        }
        if (!completion.isSuccess()) {
            throw new RdmaException(RdmaException.Reason.WORK_FAILED, completion.toString());
        }
    }

    /**
     * In steady state less than one byte for each operation, on this thread and on the agents' threads. Code that is
     * not compiled yet may allocate what escape analysis removes later, so there are a few attempts.
     */
    private void assertAllocatesNothing(String what, int operations, Operation operation) throws InterruptedException {
        double own = 0;
        double agents = 0;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            for (int i = 0; i < operations / 10; i++) {
                operation.run();
            }
            long agentsBefore = agentBytes();
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < operations; i++) {
                operation.run();
            }
            own = (double) (THREADS.getCurrentThreadAllocatedBytes() - before) / operations;
            agents = (double) (agentBytes() - agentsBefore) / operations;
            if (own < 1 && agents < 1) {
                break;
            }
        }
        System.out.println(what + ": " + own + " B/op on the polling thread, " + agents + " B/op on the agents");
        assertThat(own).as(what).isLessThan(1);
        assertThat(agents).as("agents, " + what).isLessThan(1);
    }

    private static long agentBytes() {
        long sum = 0;
        for (ThreadInfo thread : THREADS.getThreadInfo(THREADS.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().startsWith("verbena-")) {
                sum += THREADS.getThreadAllocatedBytes(thread.getThreadId());
            }
        }
        return sum;
    }

    private void aPostedAndPolledWriteAllocatesNothing() throws InterruptedException {
        long remote = devices.b.region.address();
        int rkey = devices.b.region.rkey();
        assertAllocatesNothing("write", OPERATIONS, () -> {
            devices.a.qp.postWrite(1, devices.a.region, 0, 64, remote, rkey, SendFlags.SIGNALED);
            poll();
        });
    }

    private void aRequestBuiltAndPolledAllocatesNothing() throws InterruptedException {
        long remote = devices.b.region.address();
        int rkey = devices.b.region.rkey();
        SendRequest request = devices.a.qp.sendRequest();
        assertAllocatesNothing("built read", OPERATIONS / 5, () -> {
            request.read(remote, rkey)
                    .sge(devices.a.region, 0, 64)
                    .sge(devices.a.region, 128, 64)
                    .signaled()
                    .post();
            poll();
        });
    }

    private void anInlineSendAndItsReceiveAllocateNothing() throws InterruptedException {
        SendRequest request = devices.a.qp.sendRequest();
        ReceiveRequest receive = new ReceiveRequest();
        var data = devices.a.memory.asSlice(0, 32);
        WorkCompletion received = new WorkCompletion();
        assertAllocatesNothing("inline send and receive", OPERATIONS / 5, () -> {
            devices.b.qp.post(receive.id(1).sge(devices.b.region, 0, 64));
            request.send().inline(data).signaled().post();
            poll();
            while (!devices.b.cq.poll(received)) {
                Thread.onSpinWait();
            }
        });
    }

    private void inlineByAddressAllocatesNothing() throws InterruptedException {
        long remote = devices.b.region.address();
        int rkey = devices.b.region.rkey();
        assertAllocatesNothing("inline write by address", OPERATIONS / 5, () -> {
            devices.a.qp.postWrite(1, devices.a.region, 0, 32, remote, rkey, SendFlags.SIGNALED | SendFlags.INLINE);
            poll();
        });
    }

    private void anAtomicAllocatesNothing() throws InterruptedException {
        var local = devices.a.region;
        var remote = devices.b.region;
        assertAllocatesNothing("fetch and add", OPERATIONS / 5, () -> {
            devices.a.qp.postFetchAndAdd(
                    1, local.address(), local.lkey(), remote.address(), remote.rkey(), 1, SendFlags.SIGNALED);
            poll();
        });
    }

    private void pollBoth(CompletionQueue received) {
        poll();
        while (!received.poll(completion)) {
            Thread.onSpinWait();
        }
    }

    private void anUnreliableSendAllocatesNothing() throws InterruptedException {
        TwoDevices.Side b = devices.b;
        SharedReceiveQueue shared = b.keep(b.domain.createSharedReceiveQueue(SharedReceiveQueueOptions.of(8)));
        devices.a.replaceQueuePair(QueuePairOptions.uc(devices.a.cq));
        b.qp.close();
        b.qp = b.keep(b.domain.createQueuePair(QueuePairOptions.uc(b.cq).withSharedReceiveQueue(shared)));
        devices.connect();
        assertAllocatesNothing("UC send and shared receive", OPERATIONS / 5, () -> {
            shared.postReceive(1, b.region, 0, 8192);
            devices.a.qp.postSend(1, devices.a.region, 0, 5000, SendFlags.SIGNALED);
            pollBoth(b.cq);
        });
    }

    private void datagramsAllocateNothing() throws InterruptedException {
        TwoDevices.Side a = devices.a;
        TwoDevices.Side b = devices.b;
        a.replaceQueuePair(QueuePairOptions.ud(a.cq)).activate(1);
        b.replaceQueuePair(QueuePairOptions.ud(b.cq)).activate(1);
        Gid group = Gid.of(InetAddress.ofLiteral("239.255.47.91"));
        b.qp.attachMulticast(group);
        AddressHandle toB = a.keep(
                a.domain.createAddressHandle(AddressVector.to(b.qp.endpoint().gid())));
        AddressHandle toGroup = a.keep(a.domain.createAddressHandle(AddressVector.to(group)));
        long address = a.region.address();
        int lkey = a.region.lkey();
        int number = b.qp.qpNumber();
        assertAllocatesNothing("datagram", OPERATIONS / 5, () -> {
            b.qp.postReceive(1, b.region, 0, 1024);
            a.qp.postSendTo(1, address, 64, lkey, toB, number, 1, SendFlags.SIGNALED);
            pollBoth(b.cq);
        });
        assertAllocatesNothing("multicast datagram", OPERATIONS / 5, () -> {
            b.qp.postReceive(1, b.region, 0, 1024);
            a.qp.postSendTo(1, address, 64, lkey, toGroup, 0xffffff, 1, SendFlags.SIGNALED);
            pollBoth(b.cq);
        });
    }

    private void anExtendedSendAllocatesNothing() throws InterruptedException {
        TwoDevices.Side a = devices.a;
        TwoDevices.Side b = devices.b;
        XrcDomain domain = b.keep(b.context.openXrcDomain());
        SharedReceiveQueue shared = b.keep(b.domain.createSharedReceiveQueue(
                SharedReceiveQueueOptions.of(8).withXrc(domain, b.cq)));
        a.replaceQueuePair(QueuePairOptions.xrcInitiator(a.cq));
        b.qp.close();
        b.qp = b.keep(b.domain.createQueuePair(QueuePairOptions.xrcTarget(domain)));
        devices.connect();
        SendRequest request = a.qp.sendRequest();
        assertAllocatesNothing("XRC send", OPERATIONS / 5, () -> {
            shared.postReceive(1, b.region, 0, 64);
            request.send()
                    .sharedReceiveQueue(shared.number())
                    .sge(a.region, 0, 64)
                    .signaled()
                    .post();
            pollBoth(b.cq);
        });
    }

    private void aWriteOfManyPacketsAllocatesNothing() throws InterruptedException {
        long remote = devices.b.region.address();
        int rkey = devices.b.region.rkey();
        assertAllocatesNothing("64 KiB write", 1_000, () -> {
            devices.a.qp.postWrite(1, devices.a.region, 0, 65536, remote, rkey, SendFlags.SIGNALED);
            poll();
        });
    }

    private void bindingAllocatesNothing() throws InterruptedException {
        try (MemoryRegion region = devices.a.domain.register(devices.a.memory, AccessFlag.MEMORY_WINDOW_BIND);
                MemoryWindow window = devices.a.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            MemoryWindowBinding binding = MemoryWindowBinding.of(region, 0, 64, AccessFlag.REMOTE_READ);
            SendRequest request = devices.a.qp.sendRequest();
            assertAllocatesNothing("bind and invalidate", OPERATIONS / 5, () -> {
                request.bind(window, window.nextRkey(), binding).post();
                request.localInvalidate(window.rkey()).signaled().post();
                poll();
            });
        }
    }

    private void aFlushAndAnAtomicWriteAllocateNothing() throws InterruptedException {
        MemoryRegion remote = devices.b.region;
        try (MemoryRegion region = devices.b.domain.register(devices.b.memory, AccessFlag.FLUSH_GLOBAL)) {
            SendRequest request = devices.a.qp.sendRequest();
            assertAllocatesNothing("atomic write and flush", OPERATIONS / 5, () -> {
                request.atomicWrite(remote.address(), remote.rkey(), 1).post();
                request.flush(region.address(), region.rkey(), 8, FlushPlacement.GLOBAL, FlushScope.RANGE)
                        .signaled()
                        .post();
                poll();
            });
        }
    }
}
