// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import java.util.LinkedHashSet;
import org.jspecify.annotations.Nullable;

/** A service that connections can be made to, and the queue pair of which can be asked for. */
public final class CmListener {
    final long serviceId;
    final int backlog;
    /** What the consumer has not answered, in the order in which it came. */
    private final LinkedHashSet<Timed> unanswered = new LinkedHashSet<>();

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

    int unanswered() {
        return unanswered.size();
    }

    boolean isFull() {
        return unanswered.size() >= backlog;
    }

    void asked(Timed one) {
        one.listener = this;
        unanswered.add(one);
    }

    static void answered(Timed one) {
        CmListener listener = one.listener;
        if (listener != null) {
            listener.unanswered.remove(one);
        }
    }

    /**
     * The newest one of an address that has more than half of what is unanswered, while another address asks; or null.
     */
    @Nullable
    Timed crowding(Path back) {
        // A vote in one round finds who may have a majority, the next round whether it has one (Boyer and Moore).
        Timed newest = null;
        int lead = 0;
        for (Timed one : unanswered) {
            boolean same = newest != null && one.path.sharesRemote(newest.path);
            if (lead == 0 || same) {
                newest = one;
            }
            lead += lead == 0 || same ? 1 : -1;
        }
        if (newest == null || back.sharesRemote(newest.path)) {
            return null;
        }
        int count = 0;
        for (Timed one : unanswered) {
            count += one.path.sharesRemote(newest.path) ? 1 : 0;
        }
        return 2 * count > unanswered.size() ? newest : null;
    }

    /** What the consumer keeps here. */
    public @Nullable Object attachment() {
        return attachment;
    }

    public void attach(@Nullable Object object) {
        attachment = object;
    }
}
