// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

/**
 * What a link has done since it was opened. Written by the owner of the link without any fence: another thread may read
 * a value that is a little old.
 */
public final class LinkCounters {
    long framesReceived;
    long framesSent;
    long backPressure;
    long pendingErrors;
    long sendFailures;
    long unreachable;
    long unreachableLost;

    LinkCounters() {}

    public long framesReceived() {
        return framesReceived;
    }

    public long framesSent() {
        return framesSent;
    }

    /** How often a frame had to wait for room. */
    public long backPressure() {
        return backPressure;
    }

    /** Sends that were refused because of an error of an earlier datagram, and tried again. */
    public long pendingErrors() {
        return pendingErrors;
    }

    /** Frames that the local stack refused for good: no route, too long for the path, not permitted. */
    public long sendFailures() {
        return sendFailures;
    }

    /** Errors that named a destination. */
    public long unreachable() {
        return unreachable;
    }

    /** Of these, those that nobody asked for in time. */
    public long unreachableLost() {
        return unreachableLost;
    }

    @Override
    public String toString() {
        return "received " + framesReceived + ", sent " + framesSent + ", back-pressure " + backPressure
                + ", pending errors " + pendingErrors + ", send failures " + sendFailures + ", unreachable "
                + unreachable
                + " (lost " + unreachableLost + ")";
    }
}
