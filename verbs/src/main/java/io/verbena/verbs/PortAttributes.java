// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * State and limits of a port (ibv_port_attr).
 *
 * @param maxMessageSize bytes of the largest message
 * @param gidTableLength entries of the GID table, used or not
 * @param activeSpeedMbps link speed in Mbit/s, 0 where unknown
 */
public record PortAttributes(
        int port,
        State state,
        Mtu maxMtu,
        Mtu activeMtu,
        long maxMessageSize,
        int gidTableLength,
        int pkeyTableLength,
        LinkLayer linkLayer,
        long activeSpeedMbps) {

    /** Logical state of a port; codes of ibv_port_state. */
    public enum State {
        NOP,
        DOWN,
        INIT,
        ARMED,
        ACTIVE,
        ACTIVE_DEFER
    }

    /** What lies under the transport. */
    public enum LinkLayer {
        UNSPECIFIED,
        INFINIBAND,
        ETHERNET
    }
}
