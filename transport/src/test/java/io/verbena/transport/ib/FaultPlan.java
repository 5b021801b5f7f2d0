// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

/** What the network between two hosts does to frames; probabilities per frame. */
record FaultPlan(
        double loss, double duplicate, double reorder, double corrupt, double truncate, long delayNs, long reorderNs) {
    static FaultPlan none() {
        return new FaultPlan(0, 0, 0, 0, 0, 5_000, 0);
    }

    static FaultPlan loss(double loss) {
        return new FaultPlan(loss, 0, 0, 0, 0, 5_000, 0);
    }
}
