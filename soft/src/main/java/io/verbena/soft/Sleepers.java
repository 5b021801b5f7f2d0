// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Whatever of a device threads may sleep on, so that they learn when the device fails. Thread-safe. */
final class Sleepers {
    private final Set<Wakeable> wakeables = ConcurrentHashMap.newKeySet();

    /** Something that threads sleep on; after a wake-up they look at the state of the device. */
    interface Wakeable {
        void wakeSleepers();
    }

    void add(Wakeable wakeable) {
        wakeables.add(wakeable);
    }

    void remove(Wakeable wakeable) {
        wakeables.remove(wakeable);
    }

    void wakeAll() {
        wakeables.forEach(Wakeable::wakeSleepers);
    }
}
