// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import java.util.Locale;

/** What a fabric has done, by {@link Kind}. Not thread-safe. */
public final class FabricCounters {
    /** What is counted. */
    public enum Kind {
        SENT,
        DELIVERED,
        LOST,
        DUPLICATED,
        REORDERED,
        CORRUPTED,
        TRUNCATED,
        /** Lost in a partition. */
        PARTITIONED,
        /** Lost because a link was down. */
        LINK_DOWN,
        /** Lost because the packet was too large for its path. */
        BLACK_HOLED,
        /** Hit by a scripted fault or dropped by an interceptor. */
        SCRIPTED,
        /** Lost because the receiver did not keep up. */
        OVERFLOWED,
        /** Lost because nobody has the address. */
        NO_HOST;

        public String key() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final long[] counts = new long[Kind.values().length];

    FabricCounters() {}

    void count(Kind kind) {
        counts[kind.ordinal()]++;
    }

    public long get(Kind kind) {
        return counts[kind.ordinal()];
    }
}
