// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** How a work request ended (ibv_wc_status, same codes; IBTA volume 1, 11.6.2). */
public enum WorkCompletionStatus {
    SUCCESS("success"),
    LOC_LEN_ERR("a local buffer or message length does not fit"),
    LOC_QP_OP_ERR("the queue pair cannot do this operation"),
    LOC_EEC_OP_ERR("local EE context operation error"),
    LOC_PROT_ERR("a local key, range or right does not fit"),
    WR_FLUSH_ERR("flushed because the queue pair is in the error state"),
    MW_BIND_ERR("the memory window could not be bound"),
    BAD_RESP_ERR("the peer answered with something unexpected"),
    LOC_ACCESS_ERR("local protection error on arriving data"),
    REM_INV_REQ_ERR(
            "the peer finds the request invalid: operation not enabled on its queue pair, length, or alignment"),
    REM_ACCESS_ERR("the peer denies access: key, range or right"),
    REM_OP_ERR("the peer could not carry out the request"),
    RETRY_EXC_ERR("no answer from the peer after all retries: it is gone, unreachable, or not connected"),
    RNR_RETRY_EXC_ERR("the peer had no receive posted after all retries"),
    LOC_RDD_VIOL_ERR("RD domain violation"),
    REM_INV_RD_REQ_ERR("invalid RD request"),
    REM_ABORT_ERR("the peer aborted the operation"),
    INV_EECN_ERR("invalid EE context number"),
    INV_EEC_STATE_ERR("invalid EE context state"),
    FATAL_ERR("fatal error"),
    RESP_TIMEOUT_ERR("response timeout"),
    GENERAL_ERR("general error");

    private static final WorkCompletionStatus[] BY_CODE = values();

    private final String meaning;

    WorkCompletionStatus(String meaning) {
        this.meaning = meaning;
    }

    /** The number of ibv_wc_status. */
    public int code() {
        return ordinal();
    }

    /** In words. */
    public String meaning() {
        return meaning;
    }

    public static WorkCompletionStatus ofCode(int code) {
        return BY_CODE[code];
    }
}
