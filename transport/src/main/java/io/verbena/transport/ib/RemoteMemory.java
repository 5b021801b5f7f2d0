// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.memory.AccessVerdict;
import io.verbena.transport.memory.KeyTable;
import io.verbena.transport.memory.Region;
import org.jspecify.annotations.Nullable;

/**
 * The memory that requests to a queue pair name by rkey. It is looked up for each packet, so that what is deregistered
 * or invalidated in the middle of a message is not touched any more.
 */
final class RemoteMemory {
    private final IbQueuePair qp;

    RemoteMemory(IbQueuePair qp) {
        this.qp = qp;
    }

    /** The region or window, if it lets this queue pair's peer do that to these bytes; else null. */
    @Nullable
    Region find(int rkey, int right, long address, long bytes) {
        Region region = qp.port.keys().remote(rkey);
        return region != null
                        && region.serves(qp)
                        && KeyTable.check(region, qp.protectionDomain, right, address, bytes) == AccessVerdict.OK
                ? region
                : null;
    }

    /** The region or window, if it lets this queue pair's peer do that to all of it; else null. */
    @Nullable
    Region findWhole(int rkey, int right) {
        Region region = qp.port.keys().remote(rkey);
        return region == null ? null : find(rkey, right, region.address(), region.length());
    }

    /** Takes the rights of a window back, as the peer asked; false when it may not ask that. */
    boolean invalidate(int rkey) {
        return qp.port.keys().invalidate(rkey, qp.protectionDomain, qp);
    }

    /** Notes that memory was gone when it was used; always false. */
    boolean vanished() {
        return qp.port.keys().vanished();
    }
}
