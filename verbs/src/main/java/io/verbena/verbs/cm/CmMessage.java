// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

/** The messages that carry private data, for {@link ConnectionId#privateDataMax}. */
public enum CmMessage {
    /** Asks for a connection (REQ). */
    REQUEST,
    /** Accepts it (REP). */
    REPLY,
    /** Refuses it (REJ). */
    REJECT,
    /** Asks for the queue pair of a datagram service (SIDR_REQ). */
    SIDR_REQUEST,
    /** Tells it (SIDR_REP). */
    SIDR_REPLY
}
