// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

/**
 * How many answers may go to messages that belong to nothing, so that this port does not multiply what a stranger sends
 * (a token bucket that holds one second's worth).
 */
final class ReplyBudget {
    private static final long SECOND = 1_000_000_000L;

    private final long interval;
    /** When the bucket will be full again. */
    private long full;

    private boolean used;

    ReplyBudget(int perSecond) {
        interval = SECOND / perSecond;
    }

    boolean take(long now) {
        if (!used || full - now < 0) {
            used = true;
            full = now;
        }
        if (full + interval - now > SECOND) {
            return false;
        }
        full += interval;
        return true;
    }
}
