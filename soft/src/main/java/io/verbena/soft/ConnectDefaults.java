// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairEndpoint;
import io.verbena.verbs.QueuePairType;

/** The usual attributes of each step from RESET to RTS; see {@link io.verbena.verbs.QueuePair#connect}. */
record ConnectDefaults(QueuePairType type, QueuePairEndpoint peer, int firstPsn, Mtu mtu) {
    private static final int READS = 16;

    static QueuePairAttributes init() {
        return new QueuePairAttributes()
                .pkeyIndex(0)
                .port(1)
                .accessFlags(
                        AccessFlag.REMOTE_WRITE,
                        AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_ATOMIC,
                        AccessFlag.FLUSH_GLOBAL,
                        AccessFlag.FLUSH_PERSISTENT);
    }

    QueuePairAttributes readyToReceive() {
        QueuePairAttributes attributes = new QueuePairAttributes()
                .addressVector(AddressVector.to(peer.gid()))
                .pathMtu(mtu)
                .destinationQpNumber(peer.qpNumber())
                .rqPsn(peer.psn());
        return switch (type) {
            case RC, XRC_TGT -> attributes.maxDestRdAtomic(READS).minRnrTimer(12);
            case UC, UD, XRC_INI -> attributes;
        };
    }

    QueuePairAttributes readyToSend() {
        QueuePairAttributes attributes = new QueuePairAttributes().sqPsn(firstPsn);
        return switch (type) {
            case RC, XRC_INI -> attributes.timeout(14).retryCount(7).rnrRetry(7).maxRdAtomic(READS);
            case XRC_TGT -> attributes.timeout(14);
            case UC, UD -> attributes;
        };
    }
}
