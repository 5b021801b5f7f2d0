// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** Transport services (ibv_qp_type). */
public enum QueuePairType {
    /** Reliable connection. */
    RC,
    /** Unreliable connection. */
    UC,
    /** Unreliable datagram. */
    UD
}
