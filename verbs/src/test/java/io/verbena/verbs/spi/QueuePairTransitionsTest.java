// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.QueuePairAttribute;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.RdmaException;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The table itself, against IBTA volume 1, table 91. */
class QueuePairTransitionsTest {
    private static RdmaException refused(
            QueuePairType type, QueuePairState from, QueuePairState to, Set<QueuePairAttribute> given) {
        RdmaException e =
                catchThrowableOfType(RdmaException.class, () -> QueuePairTransitions.check(type, from, to, given));
        assertThat(e).isNotNull();
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        return e;
    }

    @ParameterizedTest
    @EnumSource
    void everyStateLeadsToResetAndToError(QueuePairType type) {
        for (QueuePairState from : QueuePairState.values()) {
            for (QueuePairState to : Set.of(QueuePairState.RESET, QueuePairState.ERR)) {
                assertThatCode(() -> QueuePairTransitions.check(type, from, to, EnumSet.of(QueuePairAttribute.STATE)))
                        .doesNotThrowAnyException();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "RC, RESET, RTR", "RC, RESET, RTS", "RC, INIT, RTS", "RC, INIT, SQD", "RC, RTR, INIT", "RC, RTR, RTR",
        "RC, RTS, RTR", "RC, RTS, SQE", "RC, SQE, RTS", "RC, ERR, RTS", "UC, RTR, INIT", "UD, RESET, RTS"
    })
    void stepsThatDoNotExistAreRefused(QueuePairType type, QueuePairState from, QueuePairState to) {
        assertThat(refused(type, from, to, EnumSet.allOf(QueuePairAttribute.class)))
                .hasMessageContaining(type + " queue pair: " + from + " -> " + to + " is not possible");
    }

    @ParameterizedTest
    @CsvSource({
        "RC, RESET, INIT, ACCESS_FLAGS PKEY_INDEX PORT",
        "RC, INIT, RTR, AV PATH_MTU RQ_PSN MIN_RNR_TIMER MAX_DEST_RD_ATOMIC DEST_QPN",
        "RC, RTR, RTS, TIMEOUT RETRY_CNT RNR_RETRY MAX_QP_RD_ATOMIC SQ_PSN",
        "UC, RESET, INIT, ACCESS_FLAGS PKEY_INDEX PORT",
        "UC, INIT, RTR, AV PATH_MTU RQ_PSN DEST_QPN",
        "UC, RTR, RTS, SQ_PSN",
        "UD, RESET, INIT, PKEY_INDEX PORT QKEY",
        "UD, INIT, RTR, ''",
        "UD, RTR, RTS, SQ_PSN"
    })
    void eachRequiredAttributeIsMissedByName(QueuePairType type, QueuePairState from, QueuePairState to, String names) {
        EnumSet<QueuePairAttribute> required = EnumSet.noneOf(QueuePairAttribute.class);
        for (String name : names.isEmpty() ? new String[0] : names.split(" ")) {
            required.add(QueuePairAttribute.valueOf(name));
        }
        QueuePairTransitions.check(type, from, to, required);
        for (QueuePairAttribute missing : required) {
            EnumSet<QueuePairAttribute> given = EnumSet.copyOf(required);
            given.remove(missing);
            assertThat(refused(type, from, to, given)).hasMessageContaining("missing [" + missing + "]");
        }
    }

    @Test
    void whatIsNotAllowedIsNamed() {
        assertThat(refused(
                        QueuePairType.RC,
                        QueuePairState.RTS,
                        QueuePairState.RTS,
                        EnumSet.of(QueuePairAttribute.SQ_PSN, QueuePairAttribute.ACCESS_FLAGS)))
                .hasMessageContaining("not allowed here [SQ_PSN]");
        QueuePairTransitions.check(
                QueuePairType.RC,
                QueuePairState.RTS,
                QueuePairState.RTS,
                EnumSet.of(QueuePairAttribute.MIN_RNR_TIMER, QueuePairAttribute.ACCESS_FLAGS));
    }
}
