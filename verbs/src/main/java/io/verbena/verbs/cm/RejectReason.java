// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

/** Why a connection was refused (IBTA volume 1, 12.6.7.2). */
public enum RejectReason {
    NO_QUEUE_PAIR(1),
    NO_END_TO_END_CONTEXT(2),
    NO_RESOURCES(3),
    /** The other side waited for an answer in vain. */
    TIMEOUT(4),
    UNSUPPORTED(5),
    INVALID_COMMUNICATION_ID(6),
    INVALID_COMMUNICATION_INSTANCE(7),
    /** Nobody listens to the port. */
    INVALID_SERVICE_ID(8),
    INVALID_TRANSPORT_TYPE(9),
    /** The other side thinks that the queue pair has a connection already; trying again helps. */
    STALE_CONNECTION(10),
    NO_RESOURCE_DOMAIN(11),
    INVALID_GID(12),
    INVALID_LID(13),
    INVALID_SERVICE_LEVEL(14),
    INVALID_TRAFFIC_CLASS(15),
    INVALID_HOP_LIMIT(16),
    INVALID_PACKET_RATE(17),
    INVALID_ALTERNATE_GID(18),
    INVALID_ALTERNATE_LID(19),
    INVALID_ALTERNATE_SERVICE_LEVEL(20),
    INVALID_ALTERNATE_TRAFFIC_CLASS(21),
    INVALID_ALTERNATE_HOP_LIMIT(22),
    INVALID_ALTERNATE_PACKET_RATE(23),
    PORT_AND_CM_REDIRECT(24),
    PORT_REDIRECT(25),
    INVALID_MTU(26),
    INSUFFICIENT_RESPONDER_RESOURCES(27),
    /** The program on the other side refused (rdma_reject). */
    CONSUMER_DEFINED(28),
    INVALID_RNR_RETRY(29),
    DUPLICATE_LOCAL_COMMUNICATION_ID(30),
    INVALID_CLASS_VERSION(31),
    INVALID_FLOW_LABEL(32),
    INVALID_ALTERNATE_FLOW_LABEL(33),
    VENDOR_OPTION_NOT_SUPPORTED(35),
    /** A number without a name. */
    OTHER(0);

    private static final RejectReason[] ALL = values();

    private final int number;

    RejectReason(int number) {
        this.number = number;
    }

    /** The number on the wire, 0 of {@link #OTHER}. */
    public int number() {
        return number;
    }

    public static RejectReason of(int number) {
        for (RejectReason reason : ALL) {
            if (reason.number == number) {
                return reason;
            }
        }
        return OTHER;
    }
}
