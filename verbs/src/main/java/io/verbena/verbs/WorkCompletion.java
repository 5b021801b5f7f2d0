// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * A reusable view of one completion, filled by {@link CompletionQueue#poll(WorkCompletion)} (ibv_wc). Not thread-safe.
 *
 * <p>When {@link #status()} is not SUCCESS only {@link #wrId()}, the status, {@link #qpNumber()},
 * {@link #vendorError()} and {@link #timestamp()} mean anything (ibv_poll_cq(3)); reading anything else then throws
 * {@link IllegalStateException}, so that the mistake cannot go unseen.
 */
public final class WorkCompletion {
    /** {@link #flags()}: the message carried immediate data. */
    public static final int WITH_IMMEDIATE = 1 << 1;
    /** {@link #flags()}: the first 40 bytes of the receive buffer hold the global route header (UD). */
    public static final int WITH_GRH = 1;
    /** {@link #flags()}: the sender invalidated the key {@link #invalidatedKey()}. */
    public static final int WITH_INVALIDATE = 1 << 3;

    private long wrId;
    private WorkCompletionStatus status = WorkCompletionStatus.SUCCESS;
    private WorkCompletionOpcode opcode = WorkCompletionOpcode.SEND;
    private int flags;
    private long byteLength;
    private int immediate;
    private int qpNumber;
    private int sourceQp;
    private int vendorError;
    private long timestamp;

    /** Fills the view; for providers. */
    public void set(
            long wrId,
            WorkCompletionStatus status,
            WorkCompletionOpcode opcode,
            int flags,
            long byteLength,
            int immediate,
            int qpNumber,
            int sourceQp,
            int vendorError,
            long timestamp) {
        this.wrId = wrId;
        this.status = status;
        this.opcode = opcode;
        this.flags = flags;
        this.byteLength = byteLength;
        this.immediate = immediate;
        this.qpNumber = qpNumber;
        this.sourceQp = sourceQp;
        this.vendorError = vendorError;
        this.timestamp = timestamp;
    }

    /** The number that the work request was posted with. */
    public long wrId() {
        return wrId;
    }

    public WorkCompletionStatus status() {
        return status;
    }

    public boolean isSuccess() {
        return status == WorkCompletionStatus.SUCCESS;
    }

    /** The local queue pair. */
    public int qpNumber() {
        return qpNumber;
    }

    /** A provider's own detail of an error: the NAK syndrome on {@code soft}, 0 where there is none. */
    public int vendorError() {
        return vendorError;
    }

    public WorkCompletionOpcode opcode() {
        requireSuccess();
        return opcode;
    }

    /** {@link #WITH_IMMEDIATE}, {@link #WITH_GRH}, {@link #WITH_INVALIDATE}. */
    public int flags() {
        requireSuccess();
        return flags;
    }

    /** Bytes received, read or written; includes the 40 bytes of the GRH area on UD. */
    public long byteLength() {
        requireSuccess();
        return byteLength;
    }

    public boolean hasImmediate() {
        return (flags() & WITH_IMMEDIATE) != 0;
    }

    /** The 32 bits of immediate data as the sender gave them (big-endian on the wire). */
    public int immediate() {
        if (!hasImmediate()) {
            throw new IllegalStateException("this completion carries no immediate data; ask hasImmediate() first");
        }
        return immediate;
    }

    /** The key that a SEND with invalidate took away. */
    public int invalidatedKey() {
        if ((flags() & WITH_INVALIDATE) == 0) {
            throw new IllegalStateException("this completion invalidated no key");
        }
        return immediate;
    }

    /** The sender's queue pair (UD). */
    public int sourceQp() {
        requireSuccess();
        return sourceQp;
    }

    /** When the device finished the work, by {@link DeviceContext#clockNanos()}. */
    public long timestamp() {
        return timestamp;
    }

    /** This view, or an exception that says what went wrong; for programs that treat any failed work as fatal. */
    public WorkCompletion orThrow() {
        if (!isSuccess()) {
            throw new RdmaException(RdmaException.Reason.WORK_FAILED, toString());
        }
        return this;
    }

    private void requireSuccess() {
        if (status != WorkCompletionStatus.SUCCESS) {
            throw new IllegalStateException("undefined on a failed completion: " + this);
        }
    }

    @Override
    public String toString() {
        String where = "wr_id " + wrId + " on QP 0x" + Integer.toHexString(qpNumber);
        if (!isSuccess()) {
            return status + " (" + status.meaning() + "): " + where
                    + (vendorError == 0 ? "" : ", detail 0x" + Integer.toHexString(vendorError));
        }
        return opcode + " of " + byteLength + " bytes: " + where;
    }
}
