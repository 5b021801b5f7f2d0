// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.encap.Path;
import io.verbena.verbs.QueuePairAttribute;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import org.jspecify.annotations.Nullable;

/**
 * Attributes on their way into a queue pair, checked already.
 *
 * @param state the state after the change
 * @param path the resolved way to the peer, when the attributes have an address vector
 */
public record QueuePairChange(
        QueuePairState state,
        QueuePairAttributes attributes,
        @Nullable Path path) {

    void applyTo(RcQueuePair qp) {
        QueuePairAttributes a = attributes;
        qp.accessFlags = a.has(QueuePairAttribute.ACCESS_FLAGS) ? a.accessFlags() : qp.accessFlags;
        qp.minRnrTimer = a.has(QueuePairAttribute.MIN_RNR_TIMER) ? a.minRnrTimer() : qp.minRnrTimer;
        qp.destinationQp = a.has(QueuePairAttribute.DEST_QPN) ? a.destinationQpNumber() : qp.destinationQp;
        qp.mtu = a.has(QueuePairAttribute.PATH_MTU) ? a.pathMtu().bytes() : qp.mtu;
        qp.timeout = a.has(QueuePairAttribute.TIMEOUT) ? a.timeout() : qp.timeout;
        qp.retryCount = a.has(QueuePairAttribute.RETRY_CNT) ? a.retryCount() : qp.retryCount;
        qp.rnrRetry = a.has(QueuePairAttribute.RNR_RETRY) ? a.rnrRetry() : qp.rnrRetry;
        qp.maxRdAtomic = a.has(QueuePairAttribute.MAX_QP_RD_ATOMIC) ? a.maxRdAtomic() : qp.maxRdAtomic;
        if (a.has(QueuePairAttribute.MAX_DEST_RD_ATOMIC)) {
            qp.responder.resources.resize(a.maxDestRdAtomic());
        }
        if (a.has(QueuePairAttribute.RQ_PSN)) {
            qp.responder.expectedPsn = a.rqPsn();
        }
        if (a.has(QueuePairAttribute.SQ_PSN)) {
            qp.send.start(a.sqPsn(), qp.retryCount, qp.rnrRetry);
        }
        if (path != null) {
            qp.port.connect(qp, path);
        }
    }
}
