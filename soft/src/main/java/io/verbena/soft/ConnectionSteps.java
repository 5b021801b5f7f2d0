// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.cm.CmEndpoint;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.cm.ConnectionParameters;

/**
 * The attributes that take a queue pair to RTR and RTS once both sides know each other (IBTA volume 1, 12.9.8). Each
 * side says which PSN the other shall start with.
 *
 * @param firstPsn the one that this side told the other
 */
record ConnectionSteps(Gid remote, CmEndpoint peer, ConnectionParameters own, int firstPsn, int ackTimeout, Mtu mtu) {

    ConnectionSteps withAckTimeout(int exponent) {
        return new ConnectionSteps(remote, peer, own, firstPsn, exponent, mtu);
    }

    ConnectionSteps withMtu(Mtu other) {
        return new ConnectionSteps(remote, peer, own, firstPsn, ackTimeout, other);
    }

    QueuePairAttributes readyToReceive() {
        return new QueuePairAttributes()
                .state(QueuePairState.RTR)
                .addressVector(AddressVector.to(remote))
                .pathMtu(mtu)
                .destinationQpNumber(peer.queuePair())
                .rqPsn(firstPsn)
                .maxDestRdAtomic(own.responderResources())
                .minRnrTimer(own.minRnrTimer());
    }

    /** How often to try again for want of a receive is for the side to say that must post it. */
    QueuePairAttributes readyToSend() {
        return new QueuePairAttributes()
                .state(QueuePairState.RTS)
                .sqPsn(peer.startingPsn())
                .timeout(ackTimeout)
                .retryCount(own.retryCount())
                .rnrRetry(peer.rnrRetry())
                .maxRdAtomic(own.initiatorDepth());
    }
}
