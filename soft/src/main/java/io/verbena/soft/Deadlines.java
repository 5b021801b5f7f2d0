// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import java.time.Duration;

/** Turns durations into nanoseconds without overflow: a century is as good as for ever. */
final class Deadlines {
    private static final long FOR_EVER = Long.MAX_VALUE / 4;

    private Deadlines() {}

    static long nanos(Duration timeout) {
        if (timeout.isNegative()) {
            return 0;
        }
        return timeout.compareTo(Duration.ofNanos(FOR_EVER)) >= 0 ? FOR_EVER : timeout.toNanos();
    }
}
