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

    /** Takes in what queue pairs of all services have. */
    void applyTo(IbQueuePair qp) {
        QueuePairAttributes a = attributes;
        qp.accessFlags = a.has(QueuePairAttribute.ACCESS_FLAGS) ? a.accessFlags() : qp.accessFlags;
        qp.destinationQp = a.has(QueuePairAttribute.DEST_QPN) ? a.destinationQpNumber() : qp.destinationQp;
        qp.mtu = a.has(QueuePairAttribute.PATH_MTU) ? a.pathMtu().bytes() : qp.mtu;
        qp.qkey = a.has(QueuePairAttribute.QKEY) ? a.qkey() : qp.qkey;
        if (path != null) {
            qp.port.connect(qp, path);
        }
    }
}
