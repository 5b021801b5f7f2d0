// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.wire.ib.Aeth;
import org.jspecify.annotations.Nullable;

/**
 * What the responder's checks say of a request packet, and what follows for a reliable connection: the NAK, the status
 * of the receive that the message had taken, and whether the queue pair is lost (IBTA volume 1, 9.9.3, tables 62 and
 * 63).
 */
enum RequestVerdict {
    OK(0, null, false),
    /** Handled completely by the check itself. */
    DONE(0, null, false),
    /** Packets before this one are missing: class B, the requester repeats. */
    OUT_OF_SEQUENCE(Aeth.NAK_PSN_SEQUENCE_ERROR, null, false),
    /** No receive is posted: class B, the requester waits. */
    RECEIVER_NOT_READY(Aeth.RNR_NAK, null, false),
    /** FIRST, MIDDLE, LAST and ONLY do not make a message: class C. */
    WRONG_ORDER(Aeth.NAK_INVALID_REQUEST, WorkCompletionStatus.REM_INV_REQ_ERR, true),
    /** The queue pair does not allow this operation: class C. */
    OPERATION_NOT_ENABLED(Aeth.NAK_INVALID_REQUEST, WorkCompletionStatus.REM_INV_REQ_ERR, true),
    /** The packet is longer or shorter than its place in the message allows: class C. */
    WRONG_LENGTH(Aeth.NAK_INVALID_REQUEST, WorkCompletionStatus.REM_INV_REQ_ERR, true),
    /** An atomic's address is not a multiple of 8: class C. */
    UNALIGNED_ATOMIC(Aeth.NAK_INVALID_REQUEST, WorkCompletionStatus.REM_INV_REQ_ERR, true),
    /**
     * The key of a SEND with invalidate names no window that it may take back: class J, and a NAK, so that the sender
     * learns it (rxe keeps silent).
     */
    NOT_INVALIDATED(Aeth.NAK_REMOTE_ACCESS_ERROR, WorkCompletionStatus.REM_INV_REQ_ERR, true),
    /** More READs and atomics outstanding than max_dest_rd_atomic: class C. */
    TOO_MANY_READS(Aeth.NAK_INVALID_REQUEST, WorkCompletionStatus.REM_INV_REQ_ERR, true),
    /** Key, domain, right or range of remote memory: class D. */
    REMOTE_ACCESS(Aeth.NAK_REMOTE_ACCESS_ERROR, WorkCompletionStatus.LOC_ACCESS_ERR, true),
    /** The receive is shorter than the message: class F. */
    RECEIVE_TOO_SHORT(Aeth.NAK_INVALID_REQUEST, WorkCompletionStatus.LOC_LEN_ERR, true),
    /** The receive names memory that may not be written: class E. */
    RECEIVE_NOT_WRITABLE(Aeth.NAK_REMOTE_OPERATIONAL_ERROR, WorkCompletionStatus.LOC_PROT_ERR, true);

    private final int syndrome;
    private final @Nullable WorkCompletionStatus receiveStatus;
    private final boolean fatal;

    RequestVerdict(int syndrome, @Nullable WorkCompletionStatus receiveStatus, boolean fatal) {
        this.syndrome = syndrome;
        this.receiveStatus = receiveStatus;
        this.fatal = fatal;
    }

    int syndrome() {
        return syndrome;
    }

    @Nullable
    WorkCompletionStatus receiveStatus() {
        return receiveStatus;
    }

    boolean fatal() {
        return fatal;
    }
}
