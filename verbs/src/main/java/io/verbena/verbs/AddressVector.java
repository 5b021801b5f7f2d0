// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * The way to a peer (ibv_ah_attr with a global route).
 *
 * @param destinationGid the peer's GID
 * @param sourceGidIndex which of the local port's GIDs to send from
 * @param flowLabel 20 bits; 0 lets the device choose
 * @param hopLimit IPv6 hop limit or IPv4 time to live
 * @param trafficClass IPv6 traffic class or IPv4 type of service
 * @param serviceLevel 0 to 15
 */
public record AddressVector(
        Gid destinationGid, int sourceGidIndex, int flowLabel, int hopLimit, int trafficClass, int serviceLevel) {
    /** The usual hop limit. */
    public static final int HOP_LIMIT = 64;

    public AddressVector {
        if (destinationGid.isZero()) {
            throw new IllegalArgumentException("the destination GID is zero");
        }
    }

    /** The way to a GID with the usual values. */
    public static AddressVector to(Gid destinationGid) {
        return new AddressVector(destinationGid, 0, 0, HOP_LIMIT, 0, 0);
    }
}
