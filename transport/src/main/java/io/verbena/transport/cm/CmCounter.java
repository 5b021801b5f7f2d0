// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import java.util.Locale;

/** What a connection manager counts. Names that start with DROP are reasons for which a message was thrown away. */
public enum CmCounter {
    MESSAGES_SENT,
    MESSAGES_RECEIVED,
    /** Messages sent again because no answer came. */
    REPETITIONS,
    /** Messages that came again, and were answered as before. */
    DUPLICATES,
    /** Connections given up because the other side began anew with the same queue pair. */
    STALE_CONNECTIONS,
    /** Requests refused by this port rather than by a consumer. */
    REQUESTS_REFUSED,
    /** Connections that were not established and had to make room for others. */
    DISPLACED,
    /** Not of a connection manager, or of a version that is not known. */
    DROP_WRONG_CLASS,
    /** An attribute that is not known or not supported. */
    DROP_UNSUPPORTED,
    /** Fields that mean nothing. */
    DROP_MALFORMED,
    /** About a conversation that does not exist. */
    DROP_UNKNOWN_CONVERSATION,
    /** Not from the address that the conversation is with. */
    DROP_WRONG_ADDRESS,
    /** A DREQ with another queue pair than the conversation's. */
    DROP_WRONG_QUEUE_PAIR,
    /** The conversation is in a state that has no use for it. */
    DROP_WRONG_STATE,
    /** A request beyond what a listener or the port takes at a time. */
    DROP_BACKLOG,
    /** An answer that was not sent, for there were too many. */
    DROP_REPLY;

    /** {@code cm.drop.backlog}, {@code cm.repetitions}. */
    public String key() {
        String name = name().toLowerCase(Locale.ROOT);
        return "cm." + (name.startsWith("drop_") ? "drop." + name.substring(5) : name);
    }
}
