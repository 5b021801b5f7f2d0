// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.encap;

/**
 * The way from a local to a remote port, resolved once per queue pair or address handle.
 *
 * @param localPort the UDP source port, constant for a flow so that the network keeps its packets in order
 * @param trafficClass DSCP and ECN bits of outgoing packets
 */
public record Path(
        long localHigh,
        long localLow,
        long remoteHigh,
        long remoteLow,
        int localPort,
        int remotePort,
        int trafficClass,
        int hopLimit) {

    /** The UDP port of RoCE v2 (IBTA volume 1, annex A17). */
    public static final int ROCE_V2_PORT = 4791;

    /** Whether a frame came from the other end of this path to this end. */
    public boolean matches(long fromHigh, long fromLow, long toHigh, long toLow) {
        return fromLow == remoteLow && fromHigh == remoteHigh && toLow == localLow && toHigh == localHigh;
    }

    /** Whether both lead to the same address. */
    public boolean sharesRemote(Path other) {
        return remoteLow == other.remoteLow && remoteHigh == other.remoteHigh;
    }
}
