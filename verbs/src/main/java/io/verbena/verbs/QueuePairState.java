// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** States of a queue pair (ibv_qp_state, same order; IBTA volume 1, 10.3.1). */
public enum QueuePairState {
    RESET,
    INIT,
    /** Ready to receive. */
    RTR,
    /** Ready to send. */
    RTS,
    /** Send queue drained. */
    SQD,
    /** Send queue error. */
    SQE,
    ERR
}
