// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.verbs.RdmaException;

/** How many objects of a kind a device may hold. Guarded by the agent's owner lock. */
final class Quota {
    private final String attribute;
    private final String kind;
    private final int max;
    private int used;

    /**
     * @param attribute the limit's name in {@link io.verbena.verbs.DeviceAttributes}
     * @param kind what is counted, in the plural
     */
    Quota(String attribute, String kind, int max) {
        this.attribute = attribute;
        this.kind = kind;
        this.max = max;
    }

    /** Counts one more. */
    void take() {
        if (used == max) {
            throw new RdmaException(
                    RdmaException.Reason.RESOURCE_EXHAUSTED,
                    "the device holds no more than " + max + " " + kind + " (" + attribute + "); close some first");
        }
        used++;
    }

    void giveBack() {
        used--;
    }
}
