// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

/** States of a conversation (IBTA volume 1, 12.9.7; the specification's names are in brackets). */
public enum ConversationState {
    /** Active: asked, no answer yet (REQ Sent, REP Wait). */
    REQ_SENT,
    /** Passive: the consumer has not answered yet (REQ Rcvd). */
    REQ_RECEIVED,
    /** Passive: accepted, the other side has not said that it is ready (REP Sent). */
    REP_SENT,
    /** Active: accepted by the other side, the consumer is not ready yet (REP Rcvd). */
    REP_RECEIVED,
    ESTABLISHED,
    /** Asked to disconnect, no answer yet (DREQ Sent). */
    DREQ_SENT,
    /** The other side asked to disconnect, the consumer has not answered yet (DREQ Rcvd). */
    DREQ_RECEIVED,
    /** Over, while packets may still be on their way (TimeWait). */
    TIMEWAIT,
    /** Over; nothing is remembered (Idle). */
    CLOSED;

    /** Passive and not established. */
    boolean isHalfOpen() {
        return this == REQ_RECEIVED || this == REP_SENT;
    }
}
