// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.QueuePairOptions;

/** The service that a test runs on. */
enum Connection {
    RC,
    UC,
    UD;

    /** What perftest names in each datagram. */
    static final int QKEY = 0x11111111;

    /** Whether a message that is lost is not sent again. */
    boolean loses() {
        return this != RC;
    }

    boolean carries(PerfTest.Verb verb) {
        return switch (this) {
            case RC -> true;
            case UC -> !verb.isAnswered();
            case UD -> verb == PerfTest.Verb.SEND;
        };
    }

    /** Bytes in front of a received message. */
    int headerBytes() {
        return this == UD ? GlobalRouteHeader.BYTES : 0;
    }

    QueuePairOptions queuePair(CompletionQueue sendQueue) {
        return switch (this) {
            case RC -> QueuePairOptions.rc(sendQueue);
            case UC -> QueuePairOptions.uc(sendQueue);
            case UD -> QueuePairOptions.ud(sendQueue);
        };
    }
}
