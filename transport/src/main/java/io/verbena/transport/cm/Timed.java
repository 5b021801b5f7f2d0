// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import org.jspecify.annotations.Nullable;

/** Something that waits, most of the time for the answer to a message that is repeated until it comes. */
abstract sealed class Timed permits Conversation, SidrConversation {
    /** Of {@link Timers}. */
    long deadline;

    /** Of {@link Timers}: earlier ones first among those of the same time; 0 when none is armed. */
    long serial;

    /** What is repeated. */
    @Nullable
    Message message;

    /** The present wait. */
    long interval;

    int repeats;
    /** When no more is repeated. */
    long giveUp;

    /** Nobody wants events. */
    boolean abandoned;
}
