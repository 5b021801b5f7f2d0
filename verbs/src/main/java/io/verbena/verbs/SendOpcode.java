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
    ATOMIC_FETCH_AND_ADD,
    /** Takes the rights of a type 2 memory window back, on this side. */
    LOCAL_INV,
    /** Gives a memory window a part of a region. */
    BIND_MW,
    /** A SEND that takes the rights of a memory window of the receiver back. */
    SEND_WITH_INV,
    /** Makes earlier writes visible, or persistent, at the peer (IBTA volume 1, annex A19). */
    FLUSH,
    /** Writes 8 aligned bytes at once (IBTA volume 1, annex A19). */
    ATOMIC_WRITE;

    private static final SendOpcode[] BY_ORDINAL = values();

    /** For providers that keep the ordinal in a slot. */
    public static SendOpcode ofOrdinal(int ordinal) {
        return BY_ORDINAL[ordinal];
    }

    public boolean hasImmediate() {
        return this == RDMA_WRITE_WITH_IMM || this == SEND_WITH_IMM;
    }

    public boolean isSend() {
        return this == SEND || this == SEND_WITH_IMM || this == SEND_WITH_INV;
    }

    public boolean isWrite() {
        return this == RDMA_WRITE || this == RDMA_WRITE_WITH_IMM;
    }

    public boolean isAtomic() {
        return this == ATOMIC_CMP_AND_SWP || this == ATOMIC_FETCH_AND_ADD;
    }

    /** Whether it is carried out on this side, without a packet. */
    public boolean isLocal() {
        return this == LOCAL_INV || this == BIND_MW;
    }

    /** Whether the operation names remote memory by address and rkey. */
    public boolean isRemote() {
        return !isSend() && !isLocal();
    }

    /** Whether the answer is written into local memory. */
    public boolean writesLocally() {
        return this == RDMA_READ || isAtomic();
    }

    /**
     * Whether the peer answers with more than an acknowledgement, so that {@code maxRdAtomic} bounds how many are under
     * way.
     */
    public boolean isAnswered() {
        return writesLocally() || this == FLUSH || this == ATOMIC_WRITE;
    }

    /** Whether a queue pair of this type can carry it out. */
    public boolean isPossibleOn(QueuePairType type) {
        return switch (type) {
            case RC -> true;
            case XRC_INI -> this != FLUSH && this != ATOMIC_WRITE;
            case UC -> isWrite() || isLocal() || this == SEND || this == SEND_WITH_IMM;
            case UD -> this == SEND || this == SEND_WITH_IMM;
            case XRC_TGT -> false;
        };
    }
}
