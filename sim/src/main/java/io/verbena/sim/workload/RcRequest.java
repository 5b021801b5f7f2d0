// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.WorkCompletionOpcode;

/** What is known of a request under way. Reused. */
final class RcRequest {
    long sequence;
    SendOpcode opcode = SendOpcode.SEND;
    int length;
    boolean signaled;
    int immediate;

    /** Where its bytes come from. */
    int source;

    /** Which counter an atomic operation works on, and its value before and after. */
    int counter;

    long before;
    long after;

    void begin(long number, SendOpcode what) {
        sequence = number;
        opcode = what;
        length = 0;
        signaled = false;
    }

    boolean takesReceive() {
        return opcode.isSend() || opcode == SendOpcode.RDMA_WRITE_WITH_IMM;
    }

    boolean isAtomic() {
        return opcode == SendOpcode.ATOMIC_CMP_AND_SWP
                || opcode == SendOpcode.ATOMIC_FETCH_AND_ADD
                || opcode == SendOpcode.ATOMIC_WRITE;
    }

    WorkCompletionOpcode completionOpcode() {
        return switch (opcode) {
            case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> WorkCompletionOpcode.RDMA_WRITE;
            case RDMA_READ -> WorkCompletionOpcode.RDMA_READ;
            case ATOMIC_CMP_AND_SWP -> WorkCompletionOpcode.COMP_SWAP;
            case ATOMIC_FETCH_AND_ADD -> WorkCompletionOpcode.FETCH_ADD;
            case ATOMIC_WRITE -> WorkCompletionOpcode.ATOMIC_WRITE;
            case FLUSH -> WorkCompletionOpcode.FLUSH;
            default -> WorkCompletionOpcode.SEND;
        };
    }
}
