// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

/** What a queue pair can wait for. */
enum Timer {
    /** The time that a "receiver not ready" asked for. */
    RNR_WAIT,
    /** An answer to the oldest packet (local ACK timeout; IBTA volume 1, 9.7.6.1.3). */
    RETRANSMIT,
    /** A word of an idle peer. */
    KEEP_ALIVE;

    static final Timer[] ALL = values();
    static final int COUNT = ALL.length;
}
