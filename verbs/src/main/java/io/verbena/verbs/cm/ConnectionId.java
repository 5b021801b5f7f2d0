// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, or a listener (rdma_cm_id), for programs that go step by step; {@link Connection} and
 * {@link Listener} take all steps at once.
 *
 * <p>The active side: {@link #resolveAddress}, {@link #resolveRoute}, {@link #createQueuePair}, {@link #connect}. The
 * passive side: {@link #bind}, {@link #listen}, then for the id of each {@link ConnectionEvent.ConnectRequest}
 * {@link #createQueuePair} and {@link #accept}. Each step's result is an event of the channel.
 *
 * <p>An id of {@link PortSpace#UDP} takes the same steps to learn the queue pair of a datagram service:
 * {@link #connect} ends with {@link ConnectionEvent.DatagramResolved}, and after {@link #accept} no event follows.
 * Thread-safe. A step out of order throws {@link io.verbena.verbs.RdmaException} with {@code INVALID_STATE}.
 */
public interface ConnectionId extends AutoCloseable {
    /** Where its events arrive. */
    EventChannel channel();

    /** Has its events arrive elsewhere from now on; those that wait go there too (rdma_migrate_id). */
    void migrate(EventChannel channel);

    PortSpace portSpace();

    /**
     * Names the local end (rdma_bind_addr); port 0 takes a free one, a wildcard address means each device.
     *
     * @throws io.verbena.verbs.RdmaException {@code ADDRESS_IN_USE} when somebody listens to the port,
     *     {@code NOT_FOUND} when no device has the address
     */
    void bind(InetSocketAddress local);

    /**
     * Finds the device that leads to an address (rdma_resolve_addr). Ends with {@code AddressResolved} or
     * {@code AddressFailed}.
     *
     * @param source a local address to prefer, or null
     */
    void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress target, Duration timeout);

    /** Finds the way (rdma_resolve_route). Ends with {@code RouteResolved}. */
    void resolveRoute(Duration timeout);

    /**
     * Accepts requests from now on (rdma_listen).
     *
     * @param backlog how many may wait for an answer; more get none, and ask again until there is room or their time is
     *     over
     */
    void listen(int backlog);

    /** The device, once an address is resolved or a request has come. */
    DeviceContext context();

    /** A protection domain that all ids of the device share. */
    ProtectionDomain protectionDomain();

    /**
     * A queue pair of the shared protection domain; see {@link #createQueuePair(ProtectionDomain, QueuePairOptions)}.
     */
    default QueuePair createQueuePair(QueuePairOptions options) {
        return createQueuePair(protectionDomain(), options);
    }

    /**
     * Makes the queue pair of the connection (rdma_create_qp). It is in INIT: receives can be posted before connecting,
     * and should be. It is closed with the id.
     */
    QueuePair createQueuePair(ProtectionDomain domain, QueuePairOptions options);

    /** The queue pair, or null. */
    @Nullable
    QueuePair queuePair();

    /**
     * Asks for the connection (rdma_connect). Ends with {@code Established}, {@code Rejected} or {@code Unreachable}.
     *
     * @throws IllegalArgumentException if the private data is longer than {@link #privateDataMax}
     */
    void connect(ConnectionParameters parameters);

    /**
     * Connects a queue pair that is not of this id; {@link ConnectionEvent.ConnectResponse} tells of the answer.
     *
     * @param qpNumber its number
     * @param startingPsn the PSN that the other side shall start sending with: its receive queue's
     */
    void connect(ConnectionParameters parameters, int qpNumber, int startingPsn);

    /**
     * What takes a queue pair that is not of this id to INIT, RTR and RTS (rdma_init_qp_attr). The last two are known
     * on the active side when {@link ConnectionEvent.ConnectResponse} has come, on the passive side when it accepted.
     *
     * @throws io.verbena.verbs.RdmaException {@code INVALID_STATE} before
     */
    QueuePairAttributes attributes(QueuePairState state);

    /** The queue pair of {@link #connect(ConnectionParameters, int, int)} is ready (rdma_establish). */
    void establish();

    /** Accepts a request (rdma_accept). {@code Established} follows when the other side is ready. */
    void accept(ConnectionParameters parameters);

    /** Accepts with a queue pair that is not of this id; see {@link #connect(ConnectionParameters, int, int)}. */
    void accept(ConnectionParameters parameters, int qpNumber, int startingPsn);

    /** Refuses a request (rdma_reject). */
    default void reject(PrivateData privateData) {
        reject(RejectReason.CONSUMER_DEFINED, privateData);
    }

    /** Refuses a request for a reason. */
    void reject(RejectReason reason, PrivateData privateData);

    /**
     * Ends the connection (rdma_disconnect): the queue pair is in ERR when this returns, what was posted to it is
     * flushed, and {@code Disconnected} follows. Without a connection it does nothing.
     */
    void disconnect();

    /**
     * Hears a multicast group with the datagram queue pair of this id (rdma_join_multicast); {@code MulticastJoined}
     * follows.
     */
    void joinMulticast(InetAddress group);

    /** Hears it no more (rdma_leave_multicast). */
    void leaveMulticast(InetAddress group);

    /** The local end; null before it is known. */
    @Nullable
    InetSocketAddress localAddress();

    /** The other end; null before it is known. */
    @Nullable
    InetSocketAddress remoteAddress();

    /** How many bytes of private data a message takes. */
    int privateDataMax(CmMessage message);

    /** Ends whatever the id does, and closes its queue pair (rdma_destroy_id). No event follows. */
    @Override
    void close();
}
