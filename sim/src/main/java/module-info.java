// SPDX-License-Identifier: Apache-2.0
/** The deterministic simulator: software devices on a faulty fabric in virtual time, and workloads that check them. */
module verbena.sim {
    requires transitive verbena.verbs;
    requires verbena.wire;
    requires verbena.transport;
    requires verbena.link;
    requires verbena.soft;
    requires static org.jspecify;

    exports io.verbena.sim;
    exports io.verbena.sim.workload;
}
