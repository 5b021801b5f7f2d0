// SPDX-License-Identifier: Apache-2.0
package io.verbena.bench;

import com.sun.management.OperatingSystemMXBean;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairEndpoint;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

/**
 * What devices cost when nothing happens: two processes connect 100 queue pairs, use each once, and then say how much
 * CPU time their whole process took in 30 seconds. Run without arguments it starts the second process itself.
 */
public final class IdleDevices {
    private static final int QUEUE_PAIRS = 100;
    private static final Duration SETTLE = Duration.ofSeconds(3);
    private static final Duration MEASURED = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private IdleDevices() {}

    /** Without arguments the first process, with one the second, which talks to the first over its standard streams. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length > 0) {
            measure("second", "rocev2:127.91.0.6", System.in, System.out);
            return;
        }
        Process second = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElse("java"),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        IdleDevices.class.getName(),
                        "second")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        measure("first", "rocev2:127.91.0.5", second.getInputStream(), second.getOutputStream());
        second.waitFor();
    }

    private static void measure(String name, String device, InputStream in, OutputStream out)
            throws InterruptedException {
        try (DeviceContext context = Devices.open(device);
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(2 * QUEUE_PAIRS);
                MemoryRegion region = domain.register(
                        Arena.ofAuto().allocate(4096), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
            List<QueuePair> queuePairs = new ArrayList<>();
            PrintStream peer = new PrintStream(out, true, StandardCharsets.UTF_8);
            for (int i = 0; i < QUEUE_PAIRS; i++) {
                queuePairs.add(domain.createQueuePair(QueuePairOptions.rc(completions)));
                peer.println(queuePairs.get(i).endpoint());
            }
            peer.println(region.address() + " " + region.rkey() + " connected");
            use(queuePairs, completions, region, new Scanner(in, StandardCharsets.UTF_8), peer);
            Thread.sleep(SETTLE);
            OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            long before = system.getProcessCpuTime();
            Thread.sleep(MEASURED);
            double used = (system.getProcessCpuTime() - before) / 1e9;
            System.err.printf("%s process: %.3f s of CPU time in %d s%n", name, used, MEASURED.toSeconds());
            queuePairs.forEach(QueuePair::close);
        }
    }

    /** Connects all queue pairs and lets each WRITE once. */
    private static void use(
            List<QueuePair> queuePairs,
            CompletionQueue completions,
            MemoryRegion region,
            Scanner answers,
            PrintStream peer)
            throws InterruptedException {
        for (QueuePair queuePair : queuePairs) {
            queuePair.connect(QueuePairEndpoint.parse(answers.next()));
        }
        long address = answers.nextLong();
        int rkey = answers.nextInt();
        answers.next();
        peer.println("ready");
        answers.next();
        WorkCompletion completion = new WorkCompletion();
        for (QueuePair queuePair : queuePairs) {
            queuePair.postWrite(1, region, 0, 64, address, rkey, SendFlags.SIGNALED);
            if (!completions.await(completion, PATIENCE)) {
                throw new IllegalStateException("no completion");
            }
            completion.orThrow();
        }
    }
}
