// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

/**
 * Looks a few times before a thread goes to sleep, since most answers take less time than falling asleep and waking up.
 */
final class Spin {
    private static final long SPIN_NS = 20_000;

    private Spin() {}

    /** Whether a thread that found nothing since {@code start} looks once more before it sleeps until the deadline. */
    static boolean goesOn(long start, long deadline) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long now = System.nanoTime();
        return now - start < SPIN_NS && deadline - now > 0;
    }
}
