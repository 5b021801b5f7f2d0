// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks a few times before a thread goes to sleep, since most answers take less time than falling asleep and waking up.
 */
final class Spin {
    private static final long SPIN_NS = 20_000;

    private Spin() {}

    /** The first result that is not null, or null after a short while or at the deadline. */
    static <T> @Nullable T until(long deadline, Supplier<@Nullable T> look) throws InterruptedException {
        long start = System.nanoTime();
        do {
            T found = look.get();
            if (found != null) {
                return found;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        } while (System.nanoTime() - start < SPIN_NS && deadline - System.nanoTime() > 0);
        return null;
    }
}
