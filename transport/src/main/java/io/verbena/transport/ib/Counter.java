// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import java.util.Locale;

/** What a port counts. Names that start with DROP are reasons for which a received frame was thrown away. */
public enum Counter {
    FRAMES_SENT,
    FRAMES_RECEIVED,
    BYTES_SENT,
    BYTES_RECEIVED,
    RETRANSMITTED_PACKETS,
    TIMEOUTS,
    SEQUENCE_NAKS_SENT,
    SEQUENCE_NAKS_RECEIVED,
    RNR_NAKS_SENT,
    RNR_NAKS_RECEIVED,
    IMPLIED_NAKS,
    DUPLICATE_REQUESTS,
    UNREACHABLE_REPORTS,
    /** Shorter than its headers. */
    DROP_TOO_SHORT,
    /** Transport version not 0. */
    DROP_BAD_VERSION,
    DROP_UNKNOWN_OPCODE,
    DROP_BAD_ICRC,
    /** No queue pair of this number. */
    DROP_NO_QUEUE_PAIR,
    /** The opcode belongs to another transport service. */
    DROP_WRONG_SERVICE,
    DROP_WRONG_PARTITION,
    /** The queue pair is not in a state that receives. */
    DROP_WRONG_STATE,
    /** Not from or to the address that the queue pair is connected to. */
    DROP_WRONG_ADDRESS,
    /** After a gap that was reported once already. */
    DROP_OUT_OF_SEQUENCE,
    /** A repetition that cannot be answered any more. */
    DROP_STALE_DUPLICATE,
    /** A datagram with another Q_Key than its queue pair's. */
    DROP_WRONG_QKEY,
    /** Nobody attached to the multicast group. */
    DROP_NO_GROUP_MEMBER,
    /** UC and UD: no receive was posted. */
    DROP_NO_RECEIVE,
    /** A datagram that is longer than the receive. */
    DROP_RECEIVE_TOO_SHORT,
    /** UC: part of a message that cannot be completed, because packets are lost or it breaks a rule. */
    DROP_INCOMPLETE_MESSAGE,
    /** An answer to nothing that was asked. */
    DROP_UNEXPECTED_RESPONSE,
    /** What came to queue pair 1 is no management datagram of 256 bytes. */
    DROP_NOT_A_MAD,
    /** A congestion notification; not acted on. */
    DROP_CONGESTION_NOTIFICATION;

    /** {@code drop.bad_icrc}, {@code frames_sent}. */
    public String key() {
        String name = name().toLowerCase(Locale.ROOT);
        return name.startsWith("drop_") ? "drop." + name.substring(5) : name;
    }
}
