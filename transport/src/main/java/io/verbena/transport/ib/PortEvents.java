// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.queue.CompletionRing;

/**
 * What the engine tells the world above. Called by the port's owner during a duty cycle; must not call back into the
 * engine.
 */
public interface PortEvents {
    /** A ring got completions in this cycle; called once a cycle, after everything else. */
    void completions(CompletionRing ring);

    /** A ring had no room for a completion. */
    void completionQueueOverrun(CompletionRing ring);

    /** The first packet reached a queue pair in RTR. */
    void communicationEstablished(IbQueuePair queuePair);

    /** A queue pair went to ERR. */
    void queuePairFailed(IbQueuePair queuePair);

    /** A request of the peer broke a rule or a right; the queue pair is in error and no completion says so. */
    void accessError(IbQueuePair queuePair, String why);

    /** A queue pair in SQD has nothing under way any more. */
    void sendQueueDrained(IbQueuePair queuePair);

    /** A queue pair in ERR took its last receive from its shared queue. */
    void lastWqeReached(IbQueuePair queuePair);

    /** Fewer receives are left than was asked for. */
    void sharedReceiveQueueLimit(SharedReceives queue);
}
