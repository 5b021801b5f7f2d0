// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.spi;

import static io.verbena.verbs.QueuePairAttribute.ACCESS_FLAGS;
import static io.verbena.verbs.QueuePairAttribute.AV;
import static io.verbena.verbs.QueuePairAttribute.DEST_QPN;
import static io.verbena.verbs.QueuePairAttribute.MAX_DEST_RD_ATOMIC;
import static io.verbena.verbs.QueuePairAttribute.MAX_QP_RD_ATOMIC;
import static io.verbena.verbs.QueuePairAttribute.MIN_RNR_TIMER;
import static io.verbena.verbs.QueuePairAttribute.PATH_MTU;
import static io.verbena.verbs.QueuePairAttribute.PKEY_INDEX;
import static io.verbena.verbs.QueuePairAttribute.PORT;
import static io.verbena.verbs.QueuePairAttribute.QKEY;
import static io.verbena.verbs.QueuePairAttribute.RETRY_CNT;
import static io.verbena.verbs.QueuePairAttribute.RNR_RETRY;
import static io.verbena.verbs.QueuePairAttribute.RQ_PSN;
import static io.verbena.verbs.QueuePairAttribute.SQ_PSN;
import static io.verbena.verbs.QueuePairAttribute.STATE;
import static io.verbena.verbs.QueuePairAttribute.TIMEOUT;
import static io.verbena.verbs.QueuePairState.ERR;
import static io.verbena.verbs.QueuePairState.INIT;
import static io.verbena.verbs.QueuePairState.RESET;
import static io.verbena.verbs.QueuePairState.RTR;
import static io.verbena.verbs.QueuePairState.RTS;
import static io.verbena.verbs.QueuePairState.SQD;
import static io.verbena.verbs.QueuePairState.SQE;

import io.verbena.verbs.QueuePairAttribute;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.RdmaException;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which state may follow which, and which attributes each step requires and allows (IBTA volume 1, table 91 "QP State
 * Transition Properties"). The check and its message both come from this table.
 */
public final class QueuePairTransitions {
    private record Step(Set<QueuePairAttribute> required, Set<QueuePairAttribute> optional) {}

    private static final Map<QueuePairType, Map<QueuePairState, Map<QueuePairState, Step>>> TABLE =
            new EnumMap<>(QueuePairType.class);

    static {
        QueuePairType type = QueuePairType.RC;
        row(type, RESET, INIT, of(PKEY_INDEX, PORT, ACCESS_FLAGS), of());
        row(type, INIT, INIT, of(), of(PKEY_INDEX, PORT, ACCESS_FLAGS));
        row(
                type,
                INIT,
                RTR,
                of(AV, PATH_MTU, DEST_QPN, RQ_PSN, MAX_DEST_RD_ATOMIC, MIN_RNR_TIMER),
                of(PKEY_INDEX, ACCESS_FLAGS));
        row(
                type,
                RTR,
                RTS,
                of(TIMEOUT, RETRY_CNT, RNR_RETRY, SQ_PSN, MAX_QP_RD_ATOMIC),
                of(ACCESS_FLAGS, MIN_RNR_TIMER));
        row(type, RTS, RTS, of(), of(ACCESS_FLAGS, MIN_RNR_TIMER));
        anyTo(type);

        type = QueuePairType.UC;
        row(type, RESET, INIT, of(PKEY_INDEX, PORT, ACCESS_FLAGS), of());
        row(type, INIT, INIT, of(), of(PKEY_INDEX, PORT, ACCESS_FLAGS));
        row(type, INIT, RTR, of(AV, PATH_MTU, DEST_QPN, RQ_PSN), of(PKEY_INDEX, ACCESS_FLAGS));
        row(type, RTR, RTS, of(SQ_PSN), of(ACCESS_FLAGS));
        row(type, RTS, RTS, of(), of(ACCESS_FLAGS));
        anyTo(type);

        type = QueuePairType.UD;
        row(type, RESET, INIT, of(PKEY_INDEX, PORT, QKEY), of());
        row(type, INIT, INIT, of(), of(PKEY_INDEX, PORT, QKEY));
        row(type, INIT, RTR, of(), of(PKEY_INDEX, QKEY));
        row(type, RTR, RTS, of(SQ_PSN), of(QKEY));
        row(type, RTS, RTS, of(), of(QKEY));
        anyTo(type);

        type = QueuePairType.XRC_INI;
        row(type, RESET, INIT, of(PKEY_INDEX, PORT, ACCESS_FLAGS), of());
        row(type, INIT, INIT, of(), of(PKEY_INDEX, PORT, ACCESS_FLAGS));
        row(type, INIT, RTR, of(AV, PATH_MTU, DEST_QPN, RQ_PSN), of(PKEY_INDEX, ACCESS_FLAGS));
        row(type, RTR, RTS, of(TIMEOUT, RETRY_CNT, RNR_RETRY, SQ_PSN, MAX_QP_RD_ATOMIC), of(ACCESS_FLAGS));
        row(type, RTS, RTS, of(), of(ACCESS_FLAGS));
        anyTo(type);

        type = QueuePairType.XRC_TGT;
        row(type, RESET, INIT, of(PKEY_INDEX, PORT, ACCESS_FLAGS), of());
        row(type, INIT, INIT, of(), of(PKEY_INDEX, PORT, ACCESS_FLAGS));
        row(
                type,
                INIT,
                RTR,
                of(AV, PATH_MTU, DEST_QPN, RQ_PSN, MAX_DEST_RD_ATOMIC, MIN_RNR_TIMER),
                of(PKEY_INDEX, ACCESS_FLAGS));
        row(type, RTR, RTS, of(TIMEOUT, SQ_PSN), of(ACCESS_FLAGS, MIN_RNR_TIMER));
        row(type, RTS, RTS, of(), of(ACCESS_FLAGS, MIN_RNR_TIMER));
        anyTo(type);
    }

    private QueuePairTransitions() {}

    /**
     * Checks a step and the attributes given for it ({@code STATE} itself apart).
     *
     * @throws RdmaException INVALID_ARGUMENT naming the step, what is missing and what is not allowed
     */
    public static void check(
            QueuePairType type, QueuePairState from, QueuePairState to, Set<QueuePairAttribute> given) {
        Map<QueuePairState, Step> steps = TABLE.getOrDefault(type, Map.of()).getOrDefault(from, Map.of());
        Step step = steps.get(to);
        if (step == null) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    type + " queue pair: " + from + " -> " + to + " is not possible; from " + from + " it can go to "
                            + steps.keySet());
        }
        EnumSet<QueuePairAttribute> missing = EnumSet.copyOf(step.required);
        missing.removeAll(given);
        EnumSet<QueuePairAttribute> extra = EnumSet.noneOf(QueuePairAttribute.class);
        extra.addAll(given);
        extra.remove(STATE);
        extra.removeAll(step.required);
        extra.removeAll(step.optional);
        if (!missing.isEmpty() || !extra.isEmpty()) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    type + " queue pair: " + from + " -> " + to
                            + (missing.isEmpty() ? "" : ": missing " + missing)
                            + (extra.isEmpty() ? "" : ": not allowed here " + extra));
        }
    }

    private static void anyTo(QueuePairType type) {
        for (QueuePairState from : QueuePairState.values()) {
            row(type, from, RESET, of(), of());
            row(type, from, ERR, of(), of());
        }
        Set<QueuePairAttribute> changeable = type == QueuePairType.UD ? of(QKEY) : of(ACCESS_FLAGS);
        if (type == QueuePairType.UC || type == QueuePairType.UD) {
            row(type, SQE, RTS, of(), changeable);
        }
        if (type.hasSendQueue()) {
            row(type, RTS, SQD, of(), of());
            row(type, SQD, SQD, of(), changeable);
            row(type, SQD, RTS, of(), changeable);
        }
    }

    private static void row(
            QueuePairType type,
            QueuePairState from,
            QueuePairState to,
            Set<QueuePairAttribute> required,
            Set<QueuePairAttribute> optional) {
        TABLE.computeIfAbsent(type, t -> new EnumMap<>(QueuePairState.class))
                .computeIfAbsent(from, f -> new EnumMap<>(QueuePairState.class))
                .put(to, new Step(required, optional));
    }

    private static Set<QueuePairAttribute> of(QueuePairAttribute... attributes) {
        EnumSet<QueuePairAttribute> set = EnumSet.noneOf(QueuePairAttribute.class);
        set.addAll(List.of(attributes));
        return set;
    }
}
