// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.demo;

import io.verbena.verbs.QueuePairEndpoint;
import java.util.List;

/**
 * What the target tells before it falls asleep: all that others need to use its memory.
 *
 * @param memoryAddress of the large region
 * @param countersAddress of a small region for atomics
 * @param endpoints one queue pair for each of the initiator's, in its order
 */
record TargetInfo(
        String device,
        long memoryAddress,
        int memoryKey,
        long memoryLength,
        long countersAddress,
        int countersKey,
        List<QueuePairEndpoint> endpoints) {
    TargetInfo {
        endpoints = List.copyOf(endpoints);
    }
}
