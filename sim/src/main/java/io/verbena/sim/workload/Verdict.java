// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import io.verbena.sim.FabricCounters;
import org.jspecify.annotations.Nullable;

/**
 * How a simulation ended.
 *
 * @param failure what a checker found, or null
 * @param packets sent by all hosts
 * @param arrived messages that took a receive at the other end, whole and in order where that is promised
 * @param virtualNs how long it took in virtual time
 * @param broken queue pairs that ended in the error state because nobody answered, as they must
 * @param digest of all frames; see {@link io.verbena.sim.World#digest}
 */
public record Verdict(
        long seed,
        @Nullable String failure,
        long packets,
        long arrived,
        long virtualNs,
        int broken,
        long digest,
        FabricCounters counters) {
    public boolean passed() {
        return failure == null;
    }
}
