// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import io.verbena.transport.queue.SeededRandom;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairEndpoint;
import io.verbena.verbs.QueuePairState;

/** Connects queue pairs with attributes out of a seed. */
final class Connections {
    private static final int PSN_MASK = 0xffffff;

    private Connections() {}

    static void connect(SeededRandom random, QueuePair one, QueuePair other) {
        Mtu mtu = Mtu.ofCode(1 + random.nextInt(5));
        int onePsn = psn(random);
        int otherPsn = psn(random);
        QueuePairAttributes attributes = new QueuePairAttributes()
                .pathMtu(mtu)
                .timeout(10 + random.nextInt(5))
                .minRnrTimer(1 + random.nextInt(12))
                .maxRdAtomic(1 + random.nextInt(16));
        one.connect(at(other, otherPsn), attributes.sqPsn(onePsn));
        other.connect(at(one, onePsn), attributes.sqPsn(otherPsn));
    }

    /** Often just below the place where numbers start again. */
    private static int psn(SeededRandom random) {
        return random.nextInt(2) == 0 ? random.nextInt() & PSN_MASK : PSN_MASK - random.nextInt(1000);
    }

    private static QueuePairEndpoint at(QueuePair queuePair, int psn) {
        QueuePairEndpoint endpoint = queuePair.endpoint();
        return new QueuePairEndpoint(0, endpoint.qpNumber(), psn, endpoint.gid());
    }

    static void stop(QueuePair queuePair) {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
    }
}
