// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.Resources;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;

/** Queue pairs that the test itself connects, with what the peer tells over TCP. */
record PlainQueuePairs(DeviceContext device) implements QueuePairSource {
    @Override
    public DestinationForm form() {
        return DestinationForm.TEXT;
    }

    @Override
    public boolean connects() {
        return false;
    }

    @Override
    public ProtectionDomain domain(Resources resources) {
        return resources.add(device.allocateProtectionDomain());
    }

    @Override
    public QueuePair create(ProtectionDomain domain, QueuePairOptions options, Resources resources) {
        return resources.add(domain.createQueuePair(options));
    }
}
