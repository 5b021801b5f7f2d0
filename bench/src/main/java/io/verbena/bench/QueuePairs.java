// SPDX-License-Identifier: Apache-2.0
package io.verbena.bench;

import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.SendSlot;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What many queue pairs cost: the memory of an idle one beyond its rings, and the rate of small messages over 10,000
 * beside that over 16, in one process and in turns. One socket serves all queue pairs of a device.
 *
 * <p>The heap should be fixed and touched beforehand (the launcher sees to it): then what the process grows by is
 * native.
 */
public final class QueuePairs {
    private static final int FEW = 16;
    private static final int SENDS = 16;
    private static final int RECEIVES = 2 * SENDS;
    private static final int LARGEST = 4096;
    private static final int[] SIZES = {64, LARGEST};
    private static final int[] DEPTHS = {1, SENDS};
    private static final int BATCH = SENDS;
    private static final int CLOCK_CHECKS = 256;
    /** Opcodes of received messages are not below it (ibv_wc_opcode). */
    private static final int RECEIVED = WorkCompletionOpcode.RECV.code();

    private static final long WARM_UP_NS = 3_000_000_000L;
    private static final long ROUND_NS = 1_000_000_000L;
    private static final int ROUNDS = 5;

    private final int pairs;
    private final Side one = new Side("rocev2:127.91.0.7");
    private final Side other = new Side("rocev2:127.91.0.8");
    private final WorkCompletion completion = new WorkCompletion();

    private QueuePairs(int pairs) {
        this.pairs = pairs;
    }

    /** With the number of pairs of queue pairs, 10,000 when it is not said. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        new QueuePairs(arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000).run();
    }

    private void run() throws IOException, InterruptedException {
        connect(FEW);
        exchange(FEW);
        Memory before = Memory.settled();
        connect(pairs);
        exchange(pairs);
        Memory after = Memory.settled();
        report(before, after);
        System.out.printf(
                "%n%-28s %13s %13s %13s %7s%n", "messages in a second", "lowest", "median", "highest", "ratio");
        for (int bytes : SIZES) {
            for (int depth : DEPTHS) {
                compare(bytes, depth);
            }
        }
        one.close();
        other.close();
    }

    private void report(Memory before, Memory after) {
        int made = 2 * (pairs - FEW);
        long rings = (long) SENDS
                        * SendSlot.bytes(
                                1, one.queuePairs.getFirst().capabilities().maxInlineData())
                + (long) RECEIVES * ReceiveSlot.bytes(1);
        System.out.printf("%d connected queue pairs that sent and received a message each:%n", made);
        System.out.printf("  rings    %6d B each (%d sends, %d receives)%n", rings, SENDS, RECEIVES);
        System.out.printf("  heap     %6d B each%n", (after.heap() - before.heap()) / made);
        System.out.printf(
                "  native   %6d B each beyond the rings%n", (after.resident() - before.resident()) / made - rings);
    }

    /** Few and all queue pairs in turns, with so many messages of so many bytes under way at each. */
    private void compare(int bytes, int depth) {
        long[] few = new long[ROUNDS];
        long[] all = new long[ROUNDS];
        for (int round = -1; round < ROUNDS; round++) {
            long nanos = round < 0 ? WARM_UP_NS : ROUND_NS;
            few[Math.max(0, round)] = measure(FEW, bytes, depth, nanos);
            all[Math.max(0, round)] = measure(pairs, bytes, depth, nanos);
        }
        print(bytes, depth, FEW, few, "");
        print(bytes, depth, pairs, all, String.format("%.2f", (double) median(all) / median(few)));
    }

    private static void print(int bytes, int depth, int used, long[] rates, String ratio) {
        long[] sorted = rates.clone();
        Arrays.sort(sorted);
        System.out.printf(
                "%5d B, %2d at each of %5d %13d %13d %13d %7s%n",
                bytes, depth, used, sorted[0], median(rates), sorted[sorted.length - 1], ratio);
    }

    private static long median(long[] rates) {
        long[] sorted = rates.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private void connect(int total) {
        for (int i = one.queuePairs.size(); i < total; i++) {
            QueuePair left = one.create();
            QueuePair right = other.create();
            left.connect(right.endpoint());
            right.connect(left.endpoint());
            for (int n = 0; n < RECEIVES; n++) {
                one.receive(left, i);
                other.receive(right, i);
            }
        }
    }

    /** One message each way at each pair. */
    private void exchange(int total) {
        for (int i = 0; i < total; i++) {
            one.send(i, SIZES[0]);
            other.send(i, SIZES[0]);
            one.drain(completion, 2);
            other.drain(completion, 2);
        }
    }

    /** Keeps messages under way for so long; returns how many completed in a second. */
    private long measure(int used, int bytes, int depth, long nanos) {
        for (int i = 0; i < used * depth; i++) {
            one.send(i % used, bytes);
            if (i % BATCH == 0) {
                other.replenish(completion);
            }
        }
        long done = 0;
        long start = System.nanoTime();
        long now = start;
        for (int i = 1; now - start < nanos; i++) {
            other.replenish(completion);
            for (int n = 0; n < BATCH && one.completions.poll(completion); n++) {
                completion.orThrow();
                one.send((int) completion.wrId(), bytes);
                done++;
            }
            now = i % CLOCK_CHECKS == 0 ? System.nanoTime() : now;
        }
        for (int left = used * depth; left > 0; ) {
            other.replenish(completion);
            if (one.completions.poll(completion)) {
                completion.orThrow();
                left--;
            }
        }
        other.replenish(completion);
        return done * 1_000_000_000L / (now - start);
    }

    private static final class Side implements AutoCloseable {
        private static final int CQ_ENTRIES = 1 << 18;

        final DeviceContext context;
        final ProtectionDomain domain;
        final CompletionQueue completions;
        final MemoryRegion region;
        final List<QueuePair> queuePairs = new ArrayList<>();

        Side(String device) {
            context = Devices.open(device);
            domain = context.allocateProtectionDomain();
            completions = context.createCompletionQueue(CQ_ENTRIES);
            region = domain.register(Arena.ofAuto().allocate(2 * LARGEST, 64), AccessFlag.LOCAL_WRITE);
        }

        QueuePair create() {
            QueuePair created = domain.createQueuePair(QueuePairOptions.rc(completions)
                    .withQueueDepth(SENDS, RECEIVES)
                    .withMaxSge(1, 1));
            queuePairs.add(created);
            return created;
        }

        void send(int index, int bytes) {
            queuePairs.get(index).postSend(index, region, 0, bytes, SendFlags.SIGNALED);
        }

        void receive(QueuePair queuePair, int index) {
            queuePair.postReceive(index, region, LARGEST, LARGEST);
        }

        /** Polls so many completions and posts again what was received. */
        void drain(WorkCompletion completion, int count) {
            for (int left = count; left > 0; ) {
                if (completions.poll(completion)) {
                    completion.orThrow();
                    left--;
                    if (completion.opcode().code() >= RECEIVED) {
                        receive(queuePairs.get((int) completion.wrId()), (int) completion.wrId());
                    }
                }
            }
        }

        /** Posts again what was received, without waiting. */
        void replenish(WorkCompletion completion) {
            while (completions.poll(completion)) {
                completion.orThrow();
                receive(queuePairs.get((int) completion.wrId()), (int) completion.wrId());
            }
        }

        @Override
        public void close() {
            queuePairs.forEach(QueuePair::close);
            region.close();
            completions.close();
            domain.close();
            context.close();
        }
    }
}
