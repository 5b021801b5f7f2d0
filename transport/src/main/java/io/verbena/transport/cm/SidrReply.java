// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.wire.cm.SidrRep;

/**
 * The answer to a question for a datagram service (IBTA volume 1, 12.11.2).
 *
 * @param status {@link #VALID}, or why not
 * @param queuePair the service's number
 * @param queueKey what datagrams to it must name
 * @param privateData at most 136 bytes when sent, always 136 when received
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record SidrReply(int status, int queuePair, int queueKey, byte[] privateData) {
    public static final int VALID = 0;
    public static final int SERVICE_NOT_SUPPORTED = 1;
    public static final int REJECTED = 2;
    public static final int NO_QUEUE_PAIR = 3;

    /** @throws IllegalArgumentException if there is too much private data */
    public SidrReply {
        PrivateData.check("SIDR_REP", privateData, SidrRep.PRIVATE_DATA_BYTES);
    }

    /** A refusal. */
    public static SidrReply refused(int status, byte[] privateData) {
        return new SidrReply(status, 0, 0, privateData);
    }
}
