// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

/**
 * What one side says of its queue pair in a REQ or a REP (IBTA volume 1, 12.7).
 *
 * @param queuePair its number
 * @param startingPsn the PSN that the other side shall start sending with (IBTA volume 1, 12.7.31)
 * @param responderResources READs and atomics that it answers at a time, 0 to 255
 * @param initiatorDepth READs and atomics that it has under way at a time, 0 to 255
 * @param rnrRetry how often the other side shall try again when this one has no receive posted, 0 to 7
 * @param sharedReceives whether its receives come from a shared receive queue
 */
public record CmEndpoint(
        int queuePair,
        int startingPsn,
        int responderResources,
        int initiatorDepth,
        int rnrRetry,
        boolean sharedReceives) {}
