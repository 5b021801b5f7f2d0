// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/** A verbs call failed; the message says what happened and what to do. */
public class RdmaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** Why, for programs. */
    public enum Reason {
        /** No such device, port, GID or host. */
        NOT_FOUND,
        /** Another process has the address. */
        ADDRESS_IN_USE,
        ADDRESS_NOT_AVAILABLE,
        PERMISSION_DENIED,
        /** An argument is outside what the device offers (EINVAL). */
        INVALID_ARGUMENT,
        /** Not possible in the object's present state. */
        INVALID_STATE,
        /** A send or receive queue has no free slot (ENOMEM of ibv_post_send). */
        QUEUE_FULL,
        /** A limit of the device is reached. */
        RESOURCE_EXHAUSTED,
        /** Other objects still depend on this one (EBUSY). */
        BUSY,
        UNSUPPORTED,
        /** The object was closed. */
        CLOSED,
        TIMED_OUT,
        /** The other side refused to connect. */
        REJECTED,
        /** Nobody answers at the address. */
        UNREACHABLE,
        /** The connection ended. */
        DISCONNECTED,
        /** The operating system reported an error. */
        IO,
        /** A work completion had an error status. */
        WORK_FAILED
    }

    public RdmaException(Reason reason, String message) {
        this(reason, message, null);
    }

    public RdmaException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
