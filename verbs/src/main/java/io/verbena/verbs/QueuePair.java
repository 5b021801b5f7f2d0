// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A send and a receive queue (ibv_qp; IBTA volume 1, 10.2.4). Thread-safe.
 *
 * <p><b>Posting</b> writes a slot of the queue and allocates nothing. It throws
 *
 * <ul>
 *   <li>{@link RdmaException.Reason#QUEUE_FULL} when no slot is free; slots of unsignalled sends come back when a later
 *       signalled completion is polled,
 *   <li>{@link RdmaException.Reason#INVALID_STATE} below RTS (sends) or in RESET (receives); in ERR work is taken and
 *       flushed,
 *   <li>{@link RdmaException.Reason#INVALID_ARGUMENT} for more entries or inline bytes than {@link #capabilities()}, or
 *       a message above the port's {@code maxMessageSize}.
 * </ul>
 *
 * Nothing is posted then. Keys and ranges are checked when the work is carried out and show in its completion.
 */
public interface QueuePair extends AutoCloseable {
    ProtectionDomain protectionDomain();

    QueuePairType type();

    /** 24 bits, what the peer names as its destination. */
    int qpNumber();

    QueuePairState state();

    QueuePairCapabilities capabilities();

    /**
     * Where sends are reported.
     *
     * @throws IllegalStateException for an XRC target, which sends nothing
     */
    CompletionQueue sendCompletionQueue();

    /**
     * Where receives are reported.
     *
     * @throws IllegalStateException for XRC, where shared receive queues have their own
     */
    CompletionQueue receiveCompletionQueue();

    /** The shared receive queue that it was created with, or null. */
    @Nullable
    SharedReceiveQueue sharedReceiveQueue();

    /**
     * Changes attributes and state (ibv_modify_qp; IBTA volume 1, 11.2.5.2).
     *
     * @throws RdmaException {@link RdmaException.Reason#INVALID_ARGUMENT} when the transition does not exist, or
     *     attributes are missing or not allowed in it; the message names them
     */
    void modify(QueuePairAttributes attributes);

    /** All attributes as they are (ibv_query_qp). */
    QueuePairAttributes query();

    /**
     * What the peer needs to know to connect: GID, number and first PSN of this queue pair. Chooses a random PSN at
     * first call.
     */
    QueuePairEndpoint endpoint();

    /**
     * Takes a connected queue pair from RESET to RTS towards a peer that told its {@link #endpoint()}, with usual
     * values: the active MTU, all remote access and flushes, 16 READs and atomics each way, timeout 14 (67 ms), 7
     * retries, RNR retries without end, RNR timer 12 (0.64 ms).
     */
    void connect(QueuePairEndpoint peer);

    /**
     * As {@link #connect(QueuePairEndpoint)}, with the attributes set in {@code overrides} in place of the usual
     * values.
     */
    void connect(QueuePairEndpoint peer, QueuePairAttributes overrides);

    /**
     * Takes a datagram queue pair from RESET to RTS.
     *
     * @param qkey what senders must name to be heard
     */
    void activate(int qkey);

    /**
     * Lets a datagram queue pair receive what is sent to a multicast group (ibv_attach_mcast): an IPv6 group, or an
     * IPv4 group as {@code ::ffff:224.x.y.z}. What this device sends to the group arrives too. Repeating it does
     * nothing.
     *
     * @throws RdmaException {@link RdmaException.Reason#INVALID_ARGUMENT} when the address is no multicast group of
     *     this device's family or the queue pair is not for datagrams, {@link RdmaException.Reason#RESOURCE_EXHAUSTED}
     *     above the device's limits, {@link RdmaException.Reason#IO} when the system refuses the membership
     */
    void attachMulticast(Gid group);

    /**
     * Ends {@link #attachMulticast}.
     *
     * @throws RdmaException {@link RdmaException.Reason#INVALID_ARGUMENT} when it is not attached
     */
    void detachMulticast(Gid group);

    /**
     * Binds a type 1 memory window (ibv_bind_mw): posts a request whose completion is BIND_MW. The window's
     * {@link MemoryWindow#rkey()} is the new one when this returns; a length of 0 takes the rights back.
     */
    void bind(MemoryWindow window, MemoryWindowBinding binding, long wrId, int flags);

    /** A reusable request for one posting thread. */
    default SendRequest sendRequest() {
        return new SendRequest(this);
    }

    /** Posts one request (ibv_post_send). */
    void post(SendRequest request);

    /**
     * Posts requests in order (ibv_post_send with a list).
     *
     * @throws PostException with the index of the first that was not taken; those before it were
     */
    void post(List<SendRequest> requests);

    /** Posts a receive (ibv_post_recv). */
    void post(ReceiveRequest request);

    /** Posts a SEND of one entry. */
    void postSend(long wrId, long address, int length, int lkey, int flags);

    void postSendWithImmediate(long wrId, long address, int length, int lkey, int immediate, int flags);

    /** Posts a datagram of one entry; see {@link SendRequest#to}. */
    void postSendTo(
            long wrId, long address, int length, int lkey, AddressHandle handle, int qpNumber, int qkey, int flags);

    /** Posts an RDMA WRITE of one entry. */
    void postWrite(long wrId, long address, int length, int lkey, long remoteAddress, int rkey, int flags);

    void postWriteWithImmediate(
            long wrId, long address, int length, int lkey, long remoteAddress, int rkey, int immediate, int flags);

    /** Posts an RDMA READ into one entry. */
    void postRead(long wrId, long address, int length, int lkey, long remoteAddress, int rkey, int flags);

    /** Posts a FETCH_ADD; the old value arrives in the 8 bytes at {@code address}. */
    void postFetchAndAdd(long wrId, long address, int lkey, long remoteAddress, int rkey, long add, int flags);

    /** Posts a CMP_SWAP; the old value arrives in the 8 bytes at {@code address}. */
    void postCompareAndSwap(
            long wrId, long address, int lkey, long remoteAddress, int rkey, long compare, long swap, int flags);

    /** Posts a receive of one entry. */
    void postReceive(long wrId, long address, int length, int lkey);

    default void postSend(long wrId, MemoryRegion region, long offset, int length, int flags) {
        postSend(wrId, region.address() + offset, length, region.lkey(), flags);
    }

    default void postWrite(
            long wrId, MemoryRegion region, long offset, int length, long remoteAddress, int rkey, int flags) {
        postWrite(wrId, region.address() + offset, length, region.lkey(), remoteAddress, rkey, flags);
    }

    default void postRead(
            long wrId, MemoryRegion region, long offset, int length, long remoteAddress, int rkey, int flags) {
        postRead(wrId, region.address() + offset, length, region.lkey(), remoteAddress, rkey, flags);
    }

    default void postReceive(long wrId, MemoryRegion region, long offset, int length) {
        postReceive(wrId, region.address() + offset, length, region.lkey());
    }

    /**
     * Destroys the queue pair, in any state and under traffic (ibv_destroy_qp). Outstanding work makes no completion
     * afterwards.
     */
    @Override
    void close();
}
