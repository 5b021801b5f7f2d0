// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** Transport services (ibv_qp_type). */
public enum QueuePairType {
    /** Reliable connection. */
    RC,
    /** Unreliable connection: a lost packet loses its message, and nobody is told. */
    UC,
    /** Unreliable datagram: each send names its destination. */
    UD,
    /** The sending half of an extended reliable connection: sends only, each to a shared receive queue of the peer. */
    XRC_INI,
    /**
     * The receiving half of an extended reliable connection: it has no queues of its own (IBTA volume 1, annex A14).
     */
    XRC_TGT;

    /** Whether one peer belongs to the queue pair. */
    public boolean isConnected() {
        return this != UD;
    }

    /** Whether sends can be posted. */
    public boolean hasSendQueue() {
        return this != XRC_TGT;
    }

    /** Whether receives arrive, in a queue of its own or a shared one that belongs to it. */
    public boolean hasReceiveQueue() {
        return this != XRC_INI && this != XRC_TGT;
    }
}
