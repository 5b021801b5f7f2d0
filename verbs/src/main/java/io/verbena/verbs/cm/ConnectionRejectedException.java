// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import io.verbena.verbs.RdmaException;

/** The other side refused to connect. */
public final class ConnectionRejectedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final RejectReason rejectReason;
    private final transient PrivateData privateData;

    public ConnectionRejectedException(String message, RejectReason rejectReason, PrivateData privateData) {
        super(Reason.REJECTED, message);
        this.rejectReason = rejectReason;
        this.privateData = privateData;
    }

    public RejectReason rejectReason() {
        return rejectReason;
    }

    /** What the program on the other side wants this one to know. */
    public PrivateData privateData() {
        return privateData == null ? PrivateData.NONE : privateData;
    }
}
