// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.queue.CompletionRing;
import io.verbena.transport.queue.WorkQueue;

/** What a queue pair of the engine is made of. */
public record QueuePairSetup(
        int protectionDomain,
        boolean signalAll,
        WorkQueue sendQueue,
        WorkQueue receiveQueue,
        CompletionRing sendRing,
        CompletionRing receiveRing) {}
