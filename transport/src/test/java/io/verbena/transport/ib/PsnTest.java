// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.wire.ib.Aeth;
import org.junit.jupiter.api.Test;

final class PsnTest {
    private static final int[] EDGES = {0, 1, 2, 0x7ffffe, 0x7fffff, 0x800000, 0x800001, 0xfffffe, 0xffffff};

    /** Against arithmetic on numbers that do not wrap, for everything near the edges. */
    @Test
    void differenceIsWhatWasAdded() {
        for (int edge : EDGES) {
            for (int near = -40; near <= 40; near++) {
                int psn = edge + near & Psn.MASK;
                for (int distance = -40; distance <= 40; distance++) {
                    int moved = Psn.add(psn, distance);
                    assertThat(moved).isBetween(0, Psn.MASK);
                    assertThat(Psn.diff(moved, psn)).isEqualTo(distance);
                    assertThat(Psn.diff(psn, moved)).isEqualTo(-distance);
                }
            }
        }
    }

    /** The sign changes at half the number space, nowhere else. */
    @Test
    void comparisonHoldsWithinHalfTheSpace() {
        for (int psn : EDGES) {
            assertThat(Psn.diff(Psn.add(psn, Psn.WINDOW_MAX - 1), psn)).isEqualTo(Psn.WINDOW_MAX - 1);
            assertThat(Psn.diff(Psn.add(psn, Psn.WINDOW_MAX), psn)).isEqualTo(-Psn.WINDOW_MAX);
            assertThat(Psn.diff(Psn.add(psn, -Psn.WINDOW_MAX), psn)).isEqualTo(-Psn.WINDOW_MAX);
            assertThat(Psn.add(psn, Psn.MASK + 1)).isEqualTo(psn);
        }
    }

    /** Two tables of the same times, written down independently. */
    @Test
    void rnrTimesAgreeWithTheWireModule() {
        for (int code = 0; code < 32; code++) {
            assertThat(RnrTimer.nanoseconds(code)).isEqualTo(Aeth.rnrTimerUs(code) * 1000L);
        }
    }
}
