// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.sim.FabricCounters;
import io.verbena.sim.FaultPlan;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SimulationTest {
    private static final int OPERATIONS = 200;

    @ParameterizedTest
    @EnumSource
    void everyWorkloadPassesOnAPerfectFabric(Workload workload) {
        Verdict verdict = new Simulation(1, workload, FaultPlan.none(), OPERATIONS).run();
        assertThat(verdict.failure()).isNull();
        assertThat(verdict.broken()).isZero();
        assertThat(verdict.packets()).isGreaterThan((long) OPERATIONS * workload.queuePairs());
    }

    @ParameterizedTest
    @EnumSource
    void everyWorkloadPassesUnderFaults(Workload workload) {
        for (long seed = 100; seed < 120; seed++) {
            Verdict verdict = new Simulation(seed, workload, FaultPlan.random(seed), OPERATIONS).run();
            assertThat(verdict.failure()).as("seed %s", seed).isNull();
            assertThat(verdict.counters().get(FabricCounters.Kind.LOST)).isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSeedRepeatsEveryFrame(Workload workload) {
        FaultPlan faults = FaultPlan.random(5);
        Verdict first = new Simulation(5, workload, faults, OPERATIONS).run();
        Verdict again = new Simulation(5, workload, faults, OPERATIONS).run();
        Verdict other = new Simulation(6, workload, faults, OPERATIONS).run();
        assertThat(again.digest()).isEqualTo(first.digest());
        assertThat(again.packets()).isEqualTo(first.packets());
        assertThat(other.digest()).isNotEqualTo(first.digest());
    }
}
