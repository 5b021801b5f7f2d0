// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.queue.WorkQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
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
     * A thread publishes work and rings, twice in a row, and then waits until the owner has seen both: the second ring
     * races with the answer to the first, and a single missed one stops the test.
     */
    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    void noRingIsMissed() throws InterruptedException {
        int rounds = 20_000;
        Doorbells bells = new Doorbells(2);
        WorkQueue queue = new WorkQueue(4, 64);
        AtomicLong seen = new AtomicLong();
        AtomicBoolean missed = new AtomicBoolean();
        Thread poster = Thread.ofPlatform().daemon().start(() -> {
            for (int i = 1; i <= rounds && !missed.get(); i++) {
                queue.publish(1);
                bells.ring(1);
                for (int spin = i & 31; spin > 0; spin--) {
                    Thread.onSpinWait();
                }
                queue.publish(1);
                bells.ring(1);
                long deadline = System.nanoTime() + 5_000_000_000L;
                for (int spin = 0; seen.get() < 2L * i && !missed.get(); spin++) {
                    if (spin > 1000) {
                        LockSupport.parkNanos(1_000);
                        missed.set(System.nanoTime() - deadline > 0);
                    }
                }
            }
        });
        for (int idle = 0; seen.get() < 2L * rounds && !missed.get(); idle++) {
            if (bells.answer() >= 0) {
                seen.set(queue.tail());
                idle = 0;
            } else if (idle > 1000) {
                LockSupport.parkNanos(1_000);
            }
        }
        poster.join();
        assertThat(missed).as("a ring that the owner never saw").isFalse();
    }
}
