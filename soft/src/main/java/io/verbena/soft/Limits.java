// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

/** What a software device offers; see {@link io.verbena.verbs.DeviceAttributes}. */
final class Limits {
    static final String VERSION = "0.1.0";
    /** Not an assigned OUI: the locally administered bit is set. */
    static final int VENDOR_ID = 0x02_56_52;

    static final long MAX_MR_SIZE = 1L << 47;
    static final long PAGE_SIZES = 0xffff_f000L;
    static final long MAX_MESSAGE = 1L << 31;
    static final int MAX_QP_WR = 1 << 16;
    static final int MAX_SGE = 32;
    static final int MAX_INLINE = 1024;
    static final int MAX_QP = 1 << 15;
    static final int MAX_SRQ = 1 << 15;
    static final int MAX_SRQ_WR = 1 << 16;
    static final int MAX_MW = 1 << 20;
    static final int MAX_XRC_DOMAINS = 1 << 10;
    static final int MAX_CQ = 1 << 16;
    static final int MAX_CQE = 1 << 20;
    static final int MAX_MR = 1 << 20;
    static final int MAX_PD = 1 << 16;
    static final int MAX_RD_ATOMIC = 128;
    /** 4.096 us * 2^15 = 134 ms, as rxe says: a software responder may be off its core for a while. */
    static final int LOCAL_ACK_DELAY = 15;
    /** IPv6, UDP, BTH, the largest extended headers and the ICRC, as rxe reserves them. */
    static final int HEADER_BYTES_MAX = 80;

    private Limits() {}
}
