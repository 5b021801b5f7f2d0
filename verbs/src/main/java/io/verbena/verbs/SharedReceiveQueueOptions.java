// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * What a shared receive queue is made of (ibv_srq_init_attr_ex).
 *
 * @param maxWr receives that the queue holds
 * @param maxSge scatter/gather entries of a receive
 * @param xrcDomain for XRC: the domain by which target queue pairs reach the queue; null for the queue pairs that are
 *     created with it
 * @param completionQueue for XRC: where its receives are reported; null otherwise, as each queue pair has its own
 */
public record SharedReceiveQueueOptions(
        int maxWr,
        int maxSge,
        @Nullable XrcDomain xrcDomain,
        @Nullable CompletionQueue completionQueue) {
    public SharedReceiveQueueOptions {
        if ((xrcDomain == null) != (completionQueue == null)) {
            throw new IllegalArgumentException("an XRC domain and a completion queue come together or not at all");
        }
    }

    /** A queue for RC, UC or UD queue pairs, with receives of up to 4 entries. */
    public static SharedReceiveQueueOptions of(int maxWr) {
        return new SharedReceiveQueueOptions(maxWr, 4, null, null);
    }

    public SharedReceiveQueueOptions withMaxSge(int entries) {
        return new SharedReceiveQueueOptions(maxWr, entries, xrcDomain, completionQueue);
    }

    /** The queue belongs to an XRC domain and reports to {@code queue}. */
    public SharedReceiveQueueOptions withXrc(XrcDomain domain, CompletionQueue queue) {
        return new SharedReceiveQueueOptions(maxWr, maxSge, domain, queue);
    }
}
