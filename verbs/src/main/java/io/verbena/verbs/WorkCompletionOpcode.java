// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** What a completed work request was (ibv_wc_opcode). */
public enum WorkCompletionOpcode {
    SEND(0),
    RDMA_WRITE(1),
    RDMA_READ(2),
    COMP_SWAP(3),
    FETCH_ADD(4),
    BIND_MW(5),
    LOCAL_INV(6),
    FLUSH(8),
    ATOMIC_WRITE(9),
    RECV(1 << 7),
    /**
     * A WRITE with immediate took a receive: {@code byteLength} is what was written, nothing is in the receive's
     * buffer.
     */
    RECV_RDMA_WITH_IMM((1 << 7) + 1);

    private static final WorkCompletionOpcode[] BY_ORDINAL = values();

    private final int code;

    WorkCompletionOpcode(int code) {
        this.code = code;
    }

    /** The number of ibv_wc_opcode. */
    public int code() {
        return code;
    }

    /** For providers that keep the ordinal in a slot. */
    public static WorkCompletionOpcode ofOrdinal(int ordinal) {
        return BY_ORDINAL[ordinal];
    }
}
