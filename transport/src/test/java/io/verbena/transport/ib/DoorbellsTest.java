// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.queue.WorkQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

final class DoorbellsTest {
    @Test
    void aBellThatRingsStaysInItsPlace() {
        Doorbells bells = new Doorbells(4);
        assertThat(bells.pending()).isFalse();
        assertThat(bells.answer()).isEqualTo(-1);
        for (int round = 0; round < 100; round++) {
            bells.ring(3);
            bells.ring(0);
            bells.ring(3);
            bells.ring(1);
            bells.ring(2);
            bells.ring(0);
            assertThat(bells.pending()).isTrue();
            assertThat(new int[] {bells.answer(), bells.answer(), bells.answer(), bells.answer(), bells.answer()})
                    .containsExactly(3, 0, 1, 2, -1);
            assertThat(bells.pending()).isFalse();
        }
    }

    /**
     * Two threads publish to a queue each and ring; the owner answers and looks. Each publication waits until the owner has seen the
     * one before, so a single missed bell stops the test.
     */
    @Test
    @Timeout(value = 30, unit = TimeUnit.SECONDS)
    void noRingIsMissed() throws InterruptedException {
        int rounds = 200_000;
        Doorbells bells = new Doorbells(2);
        WorkQueue[] queues = {new WorkQueue(4, 64), new WorkQueue(4, 64)};
        AtomicInteger[] seen = {new AtomicInteger(), new AtomicInteger()};
        Thread[] posters = new Thread[2];
        for (int handle = 0; handle < 2; handle++) {
            int mine = handle;
            posters[handle] = Thread.ofPlatform().daemon().start(() -> {
                for (int i = 1; i <= rounds; i++) {
                    queues[mine].publish(1);
                    bells.ring(mine);
                    // One round in sixteen waits: the others race with the owner.
                    while (i % 16 == 0 && seen[mine].get() < i && !Thread.interrupted()) {
                        Thread.yield();
                    }
                }
            });
        }
        while (seen[0].get() < rounds || seen[1].get() < rounds) {
            int handle = bells.answer();
            if (handle < 0) {
                Thread.yield();
                continue;
            }
            seen[handle].set((int) queues[handle].tail());
        }
        for (Thread poster : posters) {
            poster.join();
        }
        assertThat(bells.answer()).isBetween(-1, 1);
    }
}
