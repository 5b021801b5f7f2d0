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
 * <p>The heap should be fixed and touched beforehand (the launcher sees to it): then what the process grows by is native.
 */
public final class QueuePairs {
    private static final int FEW = 16;
    private static final int SENDS = 16;
    private static final int RECEIVES = 2 * SENDS;
    private static final int IN_FLIGHT = FEW * SENDS;
    private static final int MESSAGE = 64;
    private static final int BATCH = 64;
    private static final int CLOCK_CHECKS = 256;
    /** Opcodes of received messages are not below it (ibv_wc_opcode). */
    private static final int RECEIVED = WorkCompletionOpcode.RECV.code();
    private static final long WARM_UP_NS = 5_000_000_000L;
    private static final long ROUND_NS = 2_000_000_000L;
    private static final int ROUNDS = 7;

    private final int pairs;
    private final Side one = new Side("rocev2:127.91.0.7");
    private final Side other = new Side("rocev2:127.91.0.8");
    private final WorkCompletion completion = new WorkCompletion();
    private int cursor;

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
        long[][] rates = new long[3][ROUNDS];
        measure(FEW, SENDS, true, WARM_UP_NS);
        measure(pairs, 1, true, WARM_UP_NS);
        for (int round = 0; round < ROUNDS; round++) {
            rates[0][round] = measure(FEW, SENDS, true, ROUND_NS);
            rates[1][round] = measure(pairs, 1, false, ROUND_NS);
            rates[2][round] = measure(pairs, 1, true, ROUND_NS);
        }
        System.out.printf("%n%-44s %10s %10s %10s %7s%n", "messages of 64 bytes", "lowest", "median", "highest", "ratio");
        long base = print(FEW + " queue pairs, " + SENDS + " under way at each", rates[0], 0);
        long unused = print(pairs + " in turn, " + IN_FLIGHT + " under way in all", rates[1], base);
        unused += print(pairs + ", one under way at each", rates[2], base);
        if (unused == 0) {
            throw new IllegalStateException("no message went through");
        }
        one.close();
        other.close();
    }

    private void report(Memory before, Memory after) {
        int made = 2 * (pairs - FEW);
        long rings = (long) SENDS * SendSlot.bytes(1, one.queuePairs.getFirst().capabilities().maxInlineData())
                + (long) RECEIVES * ReceiveSlot.bytes(1);
        System.out.printf("%d connected queue pairs that sent and received a message each:%n", made);
        System.out.printf("  rings    %6d B each (%d sends, %d receives)%n", rings, SENDS, RECEIVES);
        System.out.printf("  heap     %6d B each%n", (after.heap() - before.heap()) / made);
        System.out.printf(
                "  native   %6d B each beyond the rings%n", (after.resident() - before.resident()) / made - rings);
    }

    private static long print(String name, long[] rates, long base) {
        Arrays.sort(rates);
        long median = rates[rates.length / 2];
        System.out.printf(
                "%-44s %8d/s %8d/s %8d/s %7s%n",
                name,
                rates[0],
                median,
                rates[rates.length - 1],
                base == 0 ? "" : String.format("%.2f", (double) median / base));
        return median;
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
            one.send(i);
            other.send(i);
            one.drain(completion, 2);
            other.drain(completion, 2);
        }
    }

    /** Keeps messages under way for so long; returns how many completed in a second. */
    private long measure(int used, int each, boolean samePair, long nanos) {
        int underWay = samePair ? used * each : IN_FLIGHT;
        cursor = 0;
        for (int i = 0; i < underWay; i++) {
            one.send(next(used));
            if (i % BATCH == 0) {
                other.replenish(completion, Integer.MAX_VALUE);
            }
        }
        long done = 0;
        long start = System.nanoTime();
        long now = start;
        for (int i = 1; now - start < nanos; i++) {
            other.replenish(completion, Integer.MAX_VALUE);
            for (int n = 0; n < BATCH && one.completions.poll(completion); n++) {
                completion.orThrow();
                one.send(samePair ? (int) completion.wrId() : next(used));
                done++;
            }
            now = i % CLOCK_CHECKS == 0 ? System.nanoTime() : now;
        }
        for (int left = underWay; left > 0; ) {
            other.replenish(completion, Integer.MAX_VALUE);
            if (one.completions.poll(completion)) {
                completion.orThrow();
                left--;
            }
        }
        while (other.replenish(completion, BATCH)) {
            Thread.onSpinWait();
        }
        return done * 1_000_000_000L / (now - start);
    }

    private int next(int used) {
        cursor = cursor + 1 < used ? cursor + 1 : 0;
        return cursor;
    }

    private static final class Side implements AutoCloseable {
        private static final int CQ_ENTRIES = 1 << 16;

        final DeviceContext context;
        final ProtectionDomain domain;
        final CompletionQueue completions;
        final MemoryRegion region;
        final List<QueuePair> queuePairs = new ArrayList<>();

        Side(String device) {
            context = Devices.open(device);
            domain = context.allocateProtectionDomain();
            completions = context.createCompletionQueue(CQ_ENTRIES);
            region = domain.register(Arena.ofAuto().allocate(2 * MESSAGE, MESSAGE), AccessFlag.LOCAL_WRITE);
        }

        QueuePair create() {
            QueuePair created = domain.createQueuePair(
                    QueuePairOptions.rc(completions).withQueueDepth(SENDS, RECEIVES).withMaxSge(1, 1));
            queuePairs.add(created);
            return created;
        }

        void send(int index) {
            queuePairs.get(index).postSend(index, region, 0, MESSAGE, SendFlags.SIGNALED);
        }

        void receive(QueuePair queuePair, int index) {
            queuePair.postReceive(index, region, MESSAGE, MESSAGE);
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

        /** Posts again what was received, without waiting; whether there was anything. */
        boolean replenish(WorkCompletion completion, int most) {
            int count = 0;
            while (count < most && completions.poll(completion)) {
                completion.orThrow();
                receive(queuePairs.get((int) completion.wrId()), (int) completion.wrId());
                count++;
            }
            return count > 0;
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
