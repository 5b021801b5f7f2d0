// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.sim.FabricCounters;
import io.verbena.sim.FaultPlan;
import io.verbena.sim.FaultWindow;
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
        long operations = (long) OPERATIONS * workload.queuePairs();
        assertThat(verdict.packets()).isGreaterThan(operations);
        assertThat(verdict.arrived())
                .as("two in ten requests of RC, three in four of UC, all of UD take a receive; some find none there")
                .isGreaterThan(operations / 5);
    }

    @ParameterizedTest
    @EnumSource
    void everyWorkloadPassesUnderFaults(Workload workload) {
        for (long seed = 100; seed < 120; seed++) {
            FaultPlan faults = FaultPlan.random(seed);
            Verdict verdict = new Simulation(seed, workload, faults, OPERATIONS).run();
            assertThat(verdict.failure()).as("seed %s", seed).isNull();
            // An attempt to connect has a deadline, which loss alone may exceed.
            if (workload != Workload.CM && faults.windows().isEmpty()) {
                assertThat(verdict.broken())
                        .as("queue pairs of seed %s that gave up although one packet in ten is lost at most", seed)
                        .isZero();
            }
            assertThat(verdict.counters().get(FabricCounters.Kind.LOST)).isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RC", "SMALL"})
    void aWayThatStaysCutEndsInTheErrorState(Workload workload) {
        FaultPlan faults = FaultPlan.builder()
                .window(FaultWindow.parse(FaultWindow.Kind.PARTITION, "50us-2s:a>b"))
                .build();
        Verdict verdict = new Simulation(2, workload, faults, OPERATIONS).run();
        assertThat(verdict.failure()).isNull();
        assertThat(verdict.broken())
                .as("queue pairs whose peer does not answer")
                .isPositive();
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
