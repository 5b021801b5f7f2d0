// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.SendFlags;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What an operation and what doing nothing costs. */
class CostTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void operationsAllocateNothing() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xmx256m",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        AllocationMeasurement.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        System.out.println(output);
        assertThat(process.waitFor()).as(output).isZero();
    }

    @Test
    void idleDevicesWithAHundredConnectionsUseNoCpu() throws InterruptedException {
        try (TwoDevices devices = new TwoDevices()) {
            idle(devices);
        }
    }

    private static void idle(TwoDevices devices) throws InterruptedException {
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
