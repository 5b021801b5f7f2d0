// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;

/**
 * A received REQ.
 *
 * @param path from here back to where it came from
 * @param type RC or UC
 * @param endpoint what the other side says of itself
 * @param retryCount what the other side wants this one to use, 0 to 7
 * @param ackTimeout what the other side wants this one to use, 0 to 31
 * @param privateData always 92 bytes
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record RequestParameters(
        long serviceId,
        Path path,
        QueuePairType type,
        CmEndpoint endpoint,
        int retryCount,
        int ackTimeout,
        Mtu pathMtu,
        byte[] privateData) {}
