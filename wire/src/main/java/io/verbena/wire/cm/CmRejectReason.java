// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Why a connection was refused (IBTA volume 1, 12.6.7.2). Reasons that are none of these stay numbers. */
public enum CmRejectReason {
    NO_QUEUE_PAIR(1),
    NO_EE_CONTEXT(2),
    NO_RESOURCES(3),
    TIMEOUT(4),
    UNSUPPORTED_REQUEST(5),
    INVALID_COMMUNICATION_ID(6),
    INVALID_COMMUNICATION_INSTANCE(7),
    INVALID_SERVICE_ID(8),
    INVALID_TRANSPORT_SERVICE_TYPE(9),
    STALE_CONNECTION(10),
    RDC_DOES_NOT_EXIST(11),
    INVALID_PRIMARY_GID(12),
    INVALID_PRIMARY_LID(13),
    INVALID_PRIMARY_SERVICE_LEVEL(14),
    INVALID_PRIMARY_TRAFFIC_CLASS(15),
    INVALID_PRIMARY_HOP_LIMIT(16),
    INVALID_PRIMARY_PACKET_RATE(17),
    INVALID_ALTERNATE_GID(18),
    INVALID_ALTERNATE_LID(19),
    INVALID_ALTERNATE_SERVICE_LEVEL(20),
    INVALID_ALTERNATE_TRAFFIC_CLASS(21),
    INVALID_ALTERNATE_HOP_LIMIT(22),
    INVALID_ALTERNATE_PACKET_RATE(23),
    CM_REDIRECTION(24),
    PORT_REDIRECTION(25),
    INVALID_PATH_MTU(26),
    INSUFFICIENT_RESPONDER_RESOURCES(27),
    CONSUMER_REJECT(28),
    RNR_RETRY_COUNT_REJECT(29),
    DUPLICATE_LOCAL_COMMUNICATION_ID(30),
    INVALID_CLASS_VERSION(31),
    INVALID_PRIMARY_FLOW_LABEL(32),
    INVALID_ALTERNATE_FLOW_LABEL(33),
    VENDOR_OPTION_NOT_SUPPORTED(35);

    private static final @Nullable CmRejectReason[] BY_NUMBER = new CmRejectReason[36];

    static {
        for (CmRejectReason reason : values()) {
            BY_NUMBER[reason.number] = reason;
        }
    }

    private final int number;

    CmRejectReason(int number) {
        this.number = number;
    }

    /** As on the wire, 16 bits. */
    public int number() {
        return number;
    }

    /** The reason of this number, or null. */
    public static @Nullable CmRejectReason of(int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
    }

    /** {@code invalid service id (8)}, {@code reason 77}. */
    public static String text(int number) {
        CmRejectReason known = of(number);
        return known == null
                ? "reason " + number
                : known.name().toLowerCase(Locale.ROOT).replace('_', ' ') + " (" + number + ")";
    }
}
