// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.queue.CompletionRing;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;

/**
 * What a queue pair of the engine is made of.
 *
 * @param receiveQueue its own receives; null with shared ones, and for XRC
 * @param sharedReceives receives that it shares with others
 * @param xrcDomain the number of the domain of an XRC target, else 0
 */
public record QueuePairSetup(
        QueuePairType type,
        int protectionDomain,
        boolean signalAll,
        WorkQueue sendQueue,
        @Nullable WorkQueue receiveQueue,
        @Nullable SharedReceives sharedReceives,
        int xrcDomain,
        CompletionRing sendRing,
        CompletionRing receiveRing) {}
