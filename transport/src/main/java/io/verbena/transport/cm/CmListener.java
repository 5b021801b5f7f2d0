// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import org.jspecify.annotations.Nullable;

/** A service that connections can be made to, and the queue pair of which can be asked for. */
public final class CmListener {
    final long serviceId;
    final int backlog;
    /** Requests that the consumer has not answered. */
    int unanswered;

    private @Nullable Object attachment;

    CmListener(long serviceId, int backlog) {
        this.serviceId = serviceId;
        this.backlog = backlog;
    }

    public long serviceId() {
        return serviceId;
    }

    public int backlog() {
        return backlog;
    }

    /** What the consumer keeps here. */
    public @Nullable Object attachment() {
        return attachment;
    }

    public void attach(@Nullable Object object) {
        attachment = object;
    }
}
