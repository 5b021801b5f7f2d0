// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.fuzz.FuzzTarget;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** No input that fuzzing started from or has found uncovers a fault; see Fuzzing in CONTRIBUTING.md. */
class FuzzCorpusTest {
    static List<FuzzTarget> targets() {
        List<FuzzTarget> targets = FuzzTarget.beside(FuzzCorpusTest.class);
        assertThat(targets).isNotEmpty();
        return targets;
    }

    @ParameterizedTest
    @MethodSource("targets")
    @Timeout(60)
    void corpusUncoversNothing(FuzzTarget target) throws IOException {
        target.replay();
    }
}
