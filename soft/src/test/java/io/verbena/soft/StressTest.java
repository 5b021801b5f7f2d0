// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Eight queue pairs, four threads, all operations mixed; every byte is looked at. */
class StressTest {
    private static final int QUEUE_PAIRS = 8;
    private static final int THREADS = 4;
    private static final int AREA = 1 << 18;
    private static final int PART = AREA / 4;
    private static final long DURATION_NS = 3_000_000_000L;

    private final AtomicLong additions = new AtomicLong();
    private final AtomicLong operations = new AtomicLong();

    @Test
    void mixedOperationsFromManyThreadsKeepEveryByte() throws InterruptedException, ExecutionException {
        try (TwoDevices devices = new TwoDevices((long) AREA * QUEUE_PAIRS + 64);
                ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Lane> lanes = new ArrayList<>();
            for (int i = 0; i < QUEUE_PAIRS; i++) {
                lanes.add(new Lane(devices, i));
            }
            long end = System.nanoTime() + DURATION_NS;
            List<Future<?>> running = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                Lane first = lanes.get(t);
                Lane second = lanes.get(t + THREADS);
                running.add(threads.submit(() -> {
                    while (System.nanoTime() < end) {
                        first.round();
                        second.round();
                    }
                    return null;
                }));
            }
            for (Future<?> one : running) {
                one.get();
            }
            assertThat(devices.b.memory.get(JAVA_LONG, (long) AREA * QUEUE_PAIRS))
                    .as("the counter that all add to")
                    .isEqualTo(additions.get())
                    .isPositive();
            System.out.println("stress: " + operations + " operations verified");
        }
    }

    /** A queue pair with its own quarter areas: source, WRITE target and READ result, SEND target, atomic result. */
    private final class Lane {
        private final TwoDevices devices;
        private final CompletionQueue sends;
        private final CompletionQueue receives;
        private final QueuePair one;
        private final QueuePair other;
        private final long area;
        private final Random random;
        private final WorkCompletion completion = new WorkCompletion();

        Lane(TwoDevices devices, int index) {
            this.devices = devices;
            area = (long) AREA * index;
            random = new Random(index);
            sends = devices.a.keep(devices.a.context.createCompletionQueue(64));
            receives = devices.b.keep(devices.b.context.createCompletionQueue(64));
            one = devices.a.keep(devices.a.domain.createQueuePair(QueuePairOptions.rc(sends)));
            other = devices.b.keep(devices.b.domain.createQueuePair(QueuePairOptions.rc(receives)));
            TwoDevices.connect(one, other, new QueuePairAttributes());
        }

        void round() throws InterruptedException {
            TwoDevices.Side a = devices.a;
            TwoDevices.Side b = devices.b;
            int size = random.nextInt(PART);
            long seed = random.nextLong();
            fill(a.memory.asSlice(area, PART), seed);
            long remote = b.region.address() + area;
            int rkey = b.region.rkey();
            other.postReceive(seed, b.region, area + PART, PART);
            one.postWrite(1, a.region, area, size, remote, rkey, SendFlags.NONE);
            one.postRead(2, a.region, area + PART, size, remote, rkey, SendFlags.SIGNALED);
            one.postSendWithImmediate(3, a.region.address() + area, size, a.region.lkey(), size, SendFlags.NONE);
            one.postFetchAndAdd(
                    4,
                    a.region.address() + area + 2 * PART,
                    a.region.lkey(),
                    b.region.address() + (long) AREA * QUEUE_PAIRS,
                    rkey,
                    3,
                    SendFlags.SIGNALED | SendFlags.FENCE);
            additions.addAndGet(3);
            expect(sends, 2);
            expect(receives, seed);
            assertThat(completion.immediate()).isEqualTo(size);
            assertThat(completion.byteLength()).isEqualTo(size);
            expect(sends, 4);
            MemorySegment source = a.memory.asSlice(area, size);
            assertSame(b.memory.asSlice(area, size), source);
            assertSame(a.memory.asSlice(area + PART, size), source);
            assertSame(b.memory.asSlice(area + PART, size), source);
            operations.addAndGet(4);
        }

        private void expect(CompletionQueue queue, long id) throws InterruptedException {
            assertThat(queue.await(completion, TwoDevices.TIMEOUT)).isTrue();
            assertThat(completion.orThrow().wrId()).isEqualTo(id);
        }

        private void assertSame(MemorySegment actual, MemorySegment expected) {
            assertThat(actual.mismatch(expected)).isEqualTo(-1);
        }

        private void fill(MemorySegment memory, long seed) {
            long value = seed;
            for (long i = 0; i < memory.byteSize(); i += 8) {
                value = value * 6364136223846793005L + 1442695040888963407L;
                memory.set(JAVA_LONG, i, value);
            }
        }
    }
}
