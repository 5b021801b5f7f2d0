// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;

/**
 * A number that another port chose. It can be compared, so that a hash table stays fast when somebody chooses numbers
 * that collide.
 */
record RemoteKey(long high, long low, int number) implements Comparable<RemoteKey> {
    static RemoteKey of(Path path, int number) {
        return new RemoteKey(path.remoteHigh(), path.remoteLow(), number);
    }

    @Override
    public int compareTo(RemoteKey other) {
        int order = Long.compare(high, other.high);
        if (order == 0) {
            order = Long.compare(low, other.low);
        }
        return order != 0 ? order : Integer.compare(number, other.number);
    }
}
