// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import io.verbena.verbs.AddressVector;
import io.verbena.verbs.RdmaException;

/**
 * What happened to a {@link ConnectionId} (rdma_cm_event). A connection ends with exactly one of {@link Rejected},
 * {@link Unreachable} and {@link Disconnected}; {@link TimewaitExit} may follow.
 */
public sealed interface ConnectionEvent {
    /** Whom it concerns. */
    ConnectionId id();

    /** The device and the addresses are known (RDMA_CM_EVENT_ADDR_RESOLVED). */
    record AddressResolved(ConnectionId id) implements ConnectionEvent {}

    /** There is no device that leads to the address (RDMA_CM_EVENT_ADDR_ERROR). */
    record AddressFailed(ConnectionId id, RdmaException cause) implements ConnectionEvent {}

    /** The way is known (RDMA_CM_EVENT_ROUTE_RESOLVED). */
    record RouteResolved(ConnectionId id) implements ConnectionEvent {}

    /**
     * Somebody wants to connect (RDMA_CM_EVENT_CONNECT_REQUEST): make a queue pair for {@code id} and accept, or
     * reject, or close it.
     */
    record ConnectRequest(ConnectionId listener, ConnectionId id, ConnectionParameters parameters)
            implements ConnectionEvent {}

    /**
     * The other side accepted (RDMA_CM_EVENT_CONNECT_RESPONSE); only of an id that has no queue pair of its own: make
     * yours ready, then call {@link ConnectionId#establish}.
     */
    record ConnectResponse(ConnectionId id, ConnectionParameters parameters) implements ConnectionEvent {}

    /** The connection stands: both sides may send (RDMA_CM_EVENT_ESTABLISHED). */
    record Established(ConnectionId id, ConnectionParameters parameters) implements ConnectionEvent {}

    /**
     * The other side refused (RDMA_CM_EVENT_REJECTED).
     *
     * @param number the reason's number on the wire
     */
    record Rejected(ConnectionId id, RejectReason reason, int number, PrivateData privateData)
            implements ConnectionEvent {}

    /** Nobody answered in time (RDMA_CM_EVENT_UNREACHABLE). */
    record Unreachable(ConnectionId id) implements ConnectionEvent {}

    /** The connection is no more: one side ended it, or the other cannot be reached (RDMA_CM_EVENT_DISCONNECTED). */
    record Disconnected(ConnectionId id, String why) implements ConnectionEvent {}

    /**
     * The datagram service answered (RDMA_CM_EVENT_ESTABLISHED of RDMA_PS_UDP): make an address handle of
     * {@code address} and send to the queue pair with the key.
     */
    record DatagramResolved(ConnectionId id, AddressVector address, int qpNumber, int qkey, PrivateData privateData)
            implements ConnectionEvent {}

    /**
     * The queue pair hears the group (RDMA_CM_EVENT_MULTICAST_JOIN), and can send to it with an address handle of
     * {@code address}.
     */
    record MulticastJoined(ConnectionId id, AddressVector address, int qpNumber, int qkey) implements ConnectionEvent {}

    /** No packet of the connection can be on its way any more (RDMA_CM_EVENT_TIMEWAIT_EXIT). */
    record TimewaitExit(ConnectionId id) implements ConnectionEvent {}
}
