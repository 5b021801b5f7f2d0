// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.wire.cm.Rep;

/**
 * What a REP says (IBTA volume 1, 12.7.2); in both directions.
 *
 * @param targetAckDelay how long an acknowledgement may take, 4.096 us times 2 to this power, 0 to 31
 * @param privateData at most 196 bytes when sent, always 196 when received
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record AcceptParameters(CmEndpoint endpoint, int targetAckDelay, byte[] privateData) {
    /** @throws IllegalArgumentException if there is too much private data */
    public AcceptParameters {
        PrivateData.check("REP", privateData, Rep.PRIVATE_DATA_BYTES);
    }
}
