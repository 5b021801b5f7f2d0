// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import io.verbena.verbs.Mtu;
import org.jspecify.annotations.Nullable;

/**
 * What a run does.
 *
 * @param mtu the path MTU; of no meaning for datagrams
 * @param iterations messages of each side, of all queue pairs together
 * @param queuePairs 1 but with a shared receive queue
 * @param receiveDepth receives posted at a time
 * @param check whether the content is checked at the end
 * @param gidIndex null for the first suitable one
 * @param client whether this side connects and sends first
 */
record PingpongOptions(
        PingpongType type,
        int size,
        Mtu mtu,
        int iterations,
        int queuePairs,
        int receiveDepth,
        boolean events,
        boolean check,
        @Nullable Integer gidIndex,
        boolean client) {}
