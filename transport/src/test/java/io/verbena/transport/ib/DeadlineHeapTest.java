// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class DeadlineHeapTest {
    /** Against a map from queue pair to the earliest time it was filed for; times around the wrap of nanoTime too. */
    @Test
    void behavesAsAMapOfEarliestTimes() {
        TestHost host = new TestHost(0, 1, 3);
        Settings settings = new Settings();
        IbQueuePair[] all = new IbQueuePair[150];
        for (int i = 0; i < all.length; i++) {
            all[i] = new TestQueuePair(host, settings).qp;
        }
        for (int seed = 0; seed < 40; seed++) {
            Random random = new Random(seed);
            long base = seed % 2 == 0 ? random.nextInt() : Long.MAX_VALUE - 500;
            DeadlineHeap heap = new DeadlineHeap();
            Map<IbQueuePair, Long> model = new HashMap<>();
            for (int step = 0; step < 2000; step++) {
                IbQueuePair one = all[random.nextInt(all.length)];
                long time = base + random.nextInt(1000);
                switch (random.nextInt(4)) {
                    case 0, 1 -> {
                        heap.schedule(one, time);
                        model.merge(one, time, (old, now) -> now - old < 0 ? now : old);
                    }
                    case 2 -> {
                        heap.remove(one);
                        model.remove(one);
                    }
                    default -> {
                        IbQueuePair due = heap.pollDue(time);
                        long earliest = earliest(model, base);
                        if (due == null) {
                            assertThat(model.isEmpty() || earliest - time > 0).isTrue();
                        } else {
                            assertThat(model.remove(due)).isEqualTo(earliest);
                            assertThat(earliest - time).isLessThanOrEqualTo(0);
                        }
                    }
                }
                assertThat(heap.first()).isEqualTo(model.isEmpty() ? Long.MAX_VALUE : earliest(model, base));
            }
            model.keySet().forEach(heap::remove);
            assertThat(heap.first()).isEqualTo(Long.MAX_VALUE);
        }
    }

    private static long earliest(Map<IbQueuePair, Long> model, long base) {
        return base
                + model.values().stream().mapToLong(time -> time - base).min().orElse(0);
    }
}
