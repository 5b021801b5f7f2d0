// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * Receives that many queue pairs take from (ibv_srq; IBTA volume 1, 10.2.9). A message takes one receive when its first
 * packet arrives; the completion goes to the queue of the queue pair that it came through. Thread-safe.
 */
public interface SharedReceiveQueue extends AutoCloseable {
    ProtectionDomain protectionDomain();

    /** Receives that it holds, at least what was asked for. */
    int maxWr();

    /** Scatter/gather entries of a receive. */
    int maxSge();

    /**
     * The number by which sends of an XRC initiator name this queue: 24 bits (ibv_get_srq_num).
     *
     * @throws IllegalStateException when it was not created with an XRC domain
     */
    int number();

    /** Posts a receive (ibv_post_srq_recv); throws as {@link QueuePair#post(ReceiveRequest)} does. */
    void post(ReceiveRequest request);

    /** Posts a receive of one entry. */
    void postReceive(long wrId, long address, int length, int lkey);

    default void postReceive(long wrId, MemoryRegion region, long offset, int length) {
        postReceive(wrId, region.address() + offset, length, region.lkey());
    }

    /**
     * Changes how many receives it holds (ibv_modify_srq with IBV_SRQ_MAX_WR); those posted stay.
     *
     * @throws RdmaException {@link RdmaException.Reason#INVALID_ARGUMENT} below the number of receives posted or above
     *     the device's {@code maxSrqWr}
     */
    void resize(int maxWr);

    /**
     * Asks for one {@link AsyncEvent.SharedReceiveQueueLimit} when fewer than {@code receives} are left (ibv_modify_srq
     * with IBV_SRQ_LIMIT); at once when fewer are left already. 0 takes the request back.
     */
    void armLimit(int receives);

    /** The limit that is armed; 0 after it fired. */
    int limit();

    /**
     * Destroys the queue and the receives in it.
     *
     * @throws RdmaException {@link RdmaException.Reason#BUSY} while queue pairs use it
     */
    @Override
    void close();
}
