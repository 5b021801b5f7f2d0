// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** Operations of a send queue (ibv_wr_opcode). */
public enum SendOpcode {
    RDMA_WRITE,
    RDMA_WRITE_WITH_IMM,
    SEND,
    SEND_WITH_IMM,
    RDMA_READ,
    ATOMIC_CMP_AND_SWP,
    ATOMIC_FETCH_AND_ADD;

    private static final SendOpcode[] BY_ORDINAL = values();

    /** For providers that keep the ordinal in a slot. */
    public static SendOpcode ofOrdinal(int ordinal) {
        return BY_ORDINAL[ordinal];
    }

    public boolean hasImmediate() {
        return this == RDMA_WRITE_WITH_IMM || this == SEND_WITH_IMM;
    }

    public boolean isAtomic() {
        return this == ATOMIC_CMP_AND_SWP || this == ATOMIC_FETCH_AND_ADD;
    }

    /** Whether the operation names remote memory by address and rkey. */
    public boolean isRemote() {
        return this != SEND && this != SEND_WITH_IMM;
    }

    /** Whether the answer is written into local memory. */
    public boolean writesLocally() {
        return this == RDMA_READ || isAtomic();
    }
}
