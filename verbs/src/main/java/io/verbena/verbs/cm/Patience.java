// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import java.time.Duration;

/** What is left of a timeout when a wait takes several turns. */
final class Patience {
    /** In nanoseconds this is a long yet. */
    private static final Duration MOST = Duration.ofDays(36_500);

    private final Duration timeout;
    private final long start = System.nanoTime();

    Patience(Duration timeout) {
        this.timeout = timeout.compareTo(MOST) > 0 ? MOST : timeout;
    }

    /** Never negative. */
    Duration left() {
        Duration left = timeout.minusNanos(System.nanoTime() - start);
        return left.isNegative() ? Duration.ZERO : left;
    }
}
