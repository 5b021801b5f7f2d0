// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.Resources;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import org.jspecify.annotations.Nullable;

/** Where the queue pairs of a test come from. */
interface QueuePairSource {
    /** How the sides tell each other about them. */
    DestinationForm form();

    /** Whether they come connected: then the two sides meet once before they are made and once afterwards. */
    boolean connects();

    /** The domain of the queue pairs and of the memory. */
    ProtectionDomain domain(Resources resources);

    /** Where the datagrams of a queue pair that came connected go; null for a queue pair that sends none. */
    default @Nullable DatagramPeer peer(int index) {
        return null;
    }

    /** Makes one more. */
    QueuePair create(ProtectionDomain domain, QueuePairOptions options, Resources resources)
            throws InterruptedException;
}
