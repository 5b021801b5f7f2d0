// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.encap.Path;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.RdmaException;

/** Turns address vectors into ways through the network. */
final class Paths {
    private final SoftContext context;

    Paths(SoftContext context) {
        this.context = context;
    }

    /** The way to a peer; the queue pair numbers, 0 when there are none, choose the UDP source port. */
    Path resolve(AddressVector vector, int localQp, int remoteQp) {
        Gid local = context.gid();
        Gid remote = vector.destinationGid();
        if (vector.sourceGidIndex() != 0) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    "sourceGidIndex is " + vector.sourceGidIndex() + "; 0 is possible");
        }
        if (local.isIpv4() != remote.isIpv4()) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    "the peer's GID " + remote + " is not of the family of this device's " + local
                            + "; open a device on an address of that family");
        }
        int flow = FlowHash.of(vector.flowLabel(), localQp, remoteQp);
        return new Path(
                local.high(),
                local.low(),
                remote.high(),
                remote.low(),
                context.agent().link().sourcePort(flow),
                Path.ROCE_V2_PORT,
                vector.trafficClass(),
                vector.hopLimit());
    }
}
