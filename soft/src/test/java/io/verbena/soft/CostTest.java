// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.ReceiveRequest;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendRequest;
import io.verbena.verbs.WorkCompletion;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an operation and what doing nothing costs. */
class CostTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int OPERATIONS = 100_000;
    private static final int ATTEMPTS = 5;

    private TwoDevices devices;
    private final WorkCompletion completion = new WorkCompletion();

    @BeforeEach
    void open() {
        devices = new TwoDevices();
    }

    @AfterEach
    void close() {
        devices.close();
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
     * In steady state less than one byte for each operation, on this thread and on the agents' threads. Code that is not compiled yet
     * may allocate what escape analysis removes later, so there are a few attempts.
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

    @Test
    void aPostedAndPolledWriteAllocatesNothing() throws InterruptedException {
        long remote = devices.b.region.address();
        int rkey = devices.b.region.rkey();
        assertAllocatesNothing("write", OPERATIONS, () -> {
            devices.a.qp.postWrite(1, devices.a.region, 0, 64, remote, rkey, SendFlags.SIGNALED);
            poll();
        });
    }

    @Test
    void aRequestBuiltAndPolledAllocatesNothing() throws InterruptedException {
        long remote = devices.b.region.address();
        int rkey = devices.b.region.rkey();
        SendRequest request = devices.a.qp.sendRequest();
        assertAllocatesNothing("built read", OPERATIONS / 10, () -> {
            request.read(remote, rkey)
                    .sge(devices.a.region, 0, 64)
                    .sge(devices.a.region, 128, 64)
                    .signaled()
                    .post();
            poll();
        });
    }

    @Test
    void anInlineSendAndItsReceiveAllocateNothing() throws InterruptedException {
        SendRequest request = devices.a.qp.sendRequest();
        ReceiveRequest receive = new ReceiveRequest();
        var data = devices.a.memory.asSlice(0, 32);
        WorkCompletion received = new WorkCompletion();
        assertAllocatesNothing("inline send and receive", OPERATIONS / 10, () -> {
            devices.b.qp.post(receive.id(1).sge(devices.b.region, 0, 64));
            request.send().inline(data).signaled().post();
            poll();
            while (!devices.b.cq.poll(received)) {
                Thread.onSpinWait();
            }
        });
    }

    @Test
    void inlineByAddressAllocatesNothing() throws InterruptedException {
        long remote = devices.b.region.address();
        int rkey = devices.b.region.rkey();
        assertAllocatesNothing("inline write by address", OPERATIONS / 10, () -> {
            devices.a.qp.postWrite(1, devices.a.region, 0, 32, remote, rkey, SendFlags.SIGNALED | SendFlags.INLINE);
            poll();
        });
    }

    @Test
    void anAtomicAllocatesNothing() throws InterruptedException {
        var local = devices.a.region;
        var remote = devices.b.region;
        assertAllocatesNothing("fetch and add", OPERATIONS / 10, () -> {
            devices.a.qp.postFetchAndAdd(
                    1, local.address(), local.lkey(), remote.address(), remote.rkey(), 1, SendFlags.SIGNALED);
            poll();
        });
    }

    @Test
    void aWriteOfManyPacketsAllocatesNothing() throws InterruptedException {
        long remote = devices.b.region.address();
        int rkey = devices.b.region.rkey();
        assertAllocatesNothing("64 KiB write", 2_000, () -> {
            devices.a.qp.postWrite(1, devices.a.region, 0, 65536, remote, rkey, SendFlags.SIGNALED);
            poll();
        });
    }

    @Test
    void idleDevicesWithAHundredConnectionsUseNoCpu() throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            QueuePair one = devices.a.keep(devices.a.domain.createQueuePair(devices.a.options()));
            QueuePair other = devices.b.keep(devices.b.domain.createQueuePair(devices.b.options()));
            TwoDevices.connect(one, other, new QueuePairAttributes());
            one.postWrite(
                    1, devices.a.region, 0, 8, devices.b.region.address(), devices.b.region.rkey(), SendFlags.SIGNALED);
            devices.a.next().orThrow();
        }
        OperatingSystemMXBean os = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        Thread.sleep(500);
        long agentsBefore = agentCpu();
        long before = os.getProcessCpuTime();
        Thread.sleep(2_000);
        long agents = agentCpu() - agentsBefore;
        System.out.println("idle: process " + (os.getProcessCpuTime() - before) / 1_000_000.0 + " ms, agents "
                + agents / 1_000_000.0 + " ms of CPU in 2 s");
        // What else runs in a test JVM (compilers, the test engine) is not what is asked here.
        assertThat(agents).isLessThan(100_000_000);
    }

    private static long agentCpu() {
        long sum = 0;
        for (ThreadInfo thread : THREADS.getThreadInfo(THREADS.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().startsWith("verbena-")) {
                sum += THREADS.getThreadCpuTime(thread.getThreadId());
            }
        }
        return sum;
    }
}
