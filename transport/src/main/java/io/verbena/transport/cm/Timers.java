// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Everything that waits, by the time it waits for; one entry each. */
final class Timers {
    private final TreeSet<Timed> waiting = new TreeSet<>(Timers::compare);
    private long serials;

    private static int compare(Timed one, Timed other) {
        long difference = one.deadline - other.deadline;
        return difference != 0 ? Long.signum(difference) : Long.compare(one.serial, other.serial);
    }

    void arm(Timed timed, long deadline) {
        disarm(timed);
        timed.deadline = deadline;
        timed.serial = ++serials;
        waiting.add(timed);
    }

    void disarm(Timed timed) {
        if (timed.serial != 0) {
            waiting.remove(timed);
            timed.serial = 0;
        }
    }

    /** {@link Long#MAX_VALUE} when nothing waits. */
    long first() {
        return waiting.isEmpty() ? Long.MAX_VALUE : waiting.first().deadline;
    }

    /** Takes one whose time has come, or null. */
    @Nullable
    Timed pollDue(long now) {
        if (waiting.isEmpty() || waiting.first().deadline - now > 0) {
            return null;
        }
        Timed due = waiting.removeFirst();
        due.serial = 0;
        return due;
    }
}
