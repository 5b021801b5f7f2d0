// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import io.verbena.wire.cm.SidrReq;
import java.util.Objects;

/**
 * A question for the queue pair of a datagram service (IBTA volume 1, 12.11).
 *
 * @param privateData at most 216 bytes
 * @param deadline when to give up, as {@code now}
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record SidrParameters(long serviceId, Path path, byte[] privateData, long deadline) {
    /** @throws IllegalArgumentException if there is too much private data */
    public SidrParameters {
        Objects.requireNonNull(path, "path");
        PrivateData.check("SIDR_REQ", privateData, SidrReq.PRIVATE_DATA_BYTES);
    }
}
