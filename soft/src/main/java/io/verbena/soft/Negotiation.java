// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.cm.CmEndpoint;
import io.verbena.verbs.cm.CmMessage;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.PrivateData;

/** How the parameters of two sides become those of a connection (IBTA volume 1, 12.7). */
final class Negotiation {
    private Negotiation() {}

    /** No more than the device can. */
    static ConnectionParameters limited(ConnectionParameters wanted) {
        return wanted.withReads(
                Math.min(wanted.responderResources(), Limits.MAX_RD_ATOMIC),
                Math.min(wanted.initiatorDepth(), Limits.MAX_RD_ATOMIC));
    }

    /** What the other side offers is what this side may use, and the other way round. */
    static ConnectionParameters fromPeer(CmEndpoint peer, PrivateData data, int retryCount, int ackTimeout) {
        return ConnectionParameters.defaults()
                .withPrivateData(data)
                .withReads(peer.initiatorDepth(), peer.responderResources())
                .withRetries(retryCount, peer.rnrRetry())
                .withAckTimeout(ackTimeout);
    }

    /** No more READs than the other side can, either way. */
    static ConnectionParameters lowered(ConnectionParameters own, ConnectionParameters theirs) {
        return own.withReads(
                Math.min(own.responderResources(), theirs.responderResources()),
                Math.min(own.initiatorDepth(), theirs.initiatorDepth()));
    }

    /** The other side's wish is the longest wait; no need to be as patient as that. 0 is without end. */
    static int shorter(int one, int other) {
        return one == 0 || other == 0 ? Math.max(one, other) : Math.min(one, other);
    }

    /** What the messages have room for, less the addresses of annex A11 in a request. */
    static int privateDataMax(CmMessage message) {
        return switch (message) {
            case REQUEST -> 56;
            case REPLY -> 196;
            case REJECT -> 148;
            case SIDR_REQUEST -> 180;
            case SIDR_REPLY -> 136;
        };
    }

    /** @throws IllegalArgumentException with the limit, if there is more */
    static void check(CmMessage message, PrivateData data) {
        if (data.length() > privateDataMax(message)) {
            throw new IllegalArgumentException(
                    data.length() + " bytes of private data; a " + message + " takes " + privateDataMax(message));
        }
    }
}
