// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.QueuePairOptions;
import java.util.Locale;

/** The programs of rdma-core that a run is the counterpart of, and in what they differ (libibverbs/examples). */
enum PingpongType {
    /** Reliable connection: ibv_rc_pingpong. */
    RC,
    /** Unreliable connection: ibv_uc_pingpong. */
    UC,
    /** Datagrams: ibv_ud_pingpong. */
    UD,
    /** Reliable connections that share one receive queue: ibv_srq_pingpong. */
    SRQ;

    /** What ibv_ud_pingpong names in each datagram. */
    static final int QKEY = 0x11111111;

    /** ibv_srq_pingpong tells about so many queue pairs, used or not, and uses fewer. */
    static final int SRQ_LINES = 256;

    /** What the original fills its buffer with. */
    private static final byte FILL = 0x7b;

    String program() {
        return "ibv_" + name().toLowerCase(Locale.ROOT) + "_pingpong";
    }

    int defaultSize() {
        return this == UD ? 1024 : 4096;
    }

    int defaultQueuePairs() {
        return this == SRQ ? 16 : 1;
    }

    /** Lines that each side sends. */
    int lines() {
        return this == SRQ ? SRQ_LINES : 1;
    }

    /** Bytes in front of a message in the buffer. */
    int headerBytes() {
        return this == UD ? GlobalRouteHeader.BYTES : 0;
    }

    byte fill() {
        return this == SRQ ? 0 : FILL;
    }

    /** Whether a message that is lost is not sent again. */
    boolean loses() {
        return this == UC || this == UD;
    }

    QueuePairOptions queuePair(CompletionQueue completions) {
        return switch (this) {
            case RC, SRQ -> QueuePairOptions.rc(completions);
            case UC -> QueuePairOptions.uc(completions);
            case UD -> QueuePairOptions.ud(completions);
        };
    }
}
