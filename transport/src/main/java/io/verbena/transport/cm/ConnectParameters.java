// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import io.verbena.wire.cm.Req;
import java.util.Objects;

/**
 * What a connection is asked for with (IBTA volume 1, 12.7.1).
 *
 * @param serviceId what the other side listens to
 * @param path from here to there; datagrams of the connection manager have a UDP source port of their own
 * @param type RC or UC
 * @param retryCount how often the other side shall repeat a packet that nobody answers, 0 to 7
 * @param ackTimeout how long the other side shall wait for an acknowledgement, 4.096 us times 2 to this power, 0 to 31
 * @param privateData for the other side's consumer, at most 92 bytes; what the address format of IP needs of them
 *     counts
 * @param deadline when the attempt ends without an answer, as {@code now}
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record ConnectParameters(
        long serviceId,
        Path path,
        QueuePairType type,
        CmEndpoint endpoint,
        int retryCount,
        int ackTimeout,
        Mtu pathMtu,
        byte[] privateData,
        long deadline) {

    /** @throws IllegalArgumentException if the type is not of a connection, or there is too much private data */
    public ConnectParameters {
        if (type != QueuePairType.RC && type != QueuePairType.UC) {
            throw new IllegalArgumentException("a connection is RC or UC, not " + type);
        }
        Objects.requireNonNull(path, "path");
        PrivateData.check("REQ", privateData, Req.PRIVATE_DATA_BYTES);
    }
}
