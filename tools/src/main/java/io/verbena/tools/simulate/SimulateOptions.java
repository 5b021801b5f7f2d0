// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.simulate;

import io.verbena.sim.FaultPlan;
import io.verbena.sim.workload.Workload;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What to simulate.
 *
 * @param operations requests on each queue pair
 * @param faults null for a plan out of each seed
 * @param faultArguments the part of the command line that asks for these faults
 */
record SimulateOptions(
        long firstSeed,
        int seeds,
        List<Workload> workloads,
        int operations,
        @Nullable FaultPlan faults,
        List<String> faultArguments) {

    FaultPlan faults(long seed) {
        return faults == null ? FaultPlan.random(seed) : faults;
    }

    /** The command line that repeats one run of these. */
    String rerun(Workload workload, long seed) {
        StringBuilder line = new StringBuilder("verbena simulate --seed ").append(seed);
        line.append(" --workload ").append(workload.name().toLowerCase(Locale.ROOT));
        line.append(" --operations ").append(operations);
        for (String argument : faultArguments) {
            line.append(' ').append(argument.matches("[\\w.,:+=-]+") ? argument : "'" + argument + "'");
        }
        return line.toString();
    }
}
