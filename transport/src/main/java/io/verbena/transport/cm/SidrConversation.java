// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;

/** A question for the queue pair of a datagram service, on either side. */
public final class SidrConversation extends Timed {
    final int requestId;
    final long transaction;

    SidrConversation(boolean active, long serviceId, Path path, int requestId, long transaction) {
        super(active, serviceId, path);
        this.requestId = requestId;
        this.transaction = transaction;
    }
}
