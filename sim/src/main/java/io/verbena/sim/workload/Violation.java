// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

/** A checker found something that must not be. */
public final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Violation(String message) {
        super(message);
    }
}
