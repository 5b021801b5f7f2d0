// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** Names the attributes that {@link QueuePair#modify} takes (ibv_qp_attr_mask). */
public enum QueuePairAttribute {
    STATE,
    ACCESS_FLAGS,
    PKEY_INDEX,
    PORT,
    QKEY,
    AV,
    PATH_MTU,
    TIMEOUT,
    RETRY_CNT,
    RNR_RETRY,
    RQ_PSN,
    MAX_QP_RD_ATOMIC,
    MIN_RNR_TIMER,
    SQ_PSN,
    MAX_DEST_RD_ATOMIC,
    DEST_QPN
}
