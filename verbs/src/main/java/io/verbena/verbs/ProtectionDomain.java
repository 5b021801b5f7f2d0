// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.lang.foreign.MemorySegment;

/** Ties queue pairs to the memory that they may touch (ibv_pd; IBTA volume 1, 10.2.3). Thread-safe. */
public interface ProtectionDomain extends AutoCloseable {
    DeviceContext context();

    /**
     * Registers a native segment of any length, so that the device may read it and, with the flags, write it
     * (ibv_reg_mr).
     *
     * <p>The region keeps the segment reachable. When the segment's arena is closed while the region lives, later
     * access fails as an access error; memory that belongs to something else by then is never touched.
     *
     * @param segment a native or mapped segment that other threads may access: heap and confined segments are refused
     * @throws IllegalArgumentException for a heap, confined, closed or empty segment, for REMOTE_WRITE or REMOTE_ATOMIC
     *     without LOCAL_WRITE, for LOCAL_WRITE on a read-only segment, and for FLUSH_PERSISTENT on a segment that is
     *     not mapped
     * @throws RdmaException {@link RdmaException.Reason#RESOURCE_EXHAUSTED} above the device's {@code maxMr}
     */
    MemoryRegion register(MemorySegment segment, AccessFlag... access);

    /**
     * Creates a queue pair in {@link QueuePairState#RESET} (ibv_create_qp).
     *
     * @throws RdmaException {@link RdmaException.Reason#INVALID_ARGUMENT} when a capability is above the device's
     *     limit; the message names it and the limit
     */
    QueuePair createQueuePair(QueuePairOptions options);

    /**
     * Receives that many queue pairs share (ibv_create_srq, ibv_create_srq_ex).
     *
     * @throws RdmaException {@link RdmaException.Reason#INVALID_ARGUMENT} when a size is above the device's limit
     */
    SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueOptions options);

    /**
     * A destination for datagrams (ibv_create_ah). {@link GlobalRouteHeader#wayBack()} makes the vector of an answer.
     *
     * @throws RdmaException {@link RdmaException.Reason#INVALID_ARGUMENT} when the destination is not of this device's
     *     address family
     */
    AddressHandle createAddressHandle(AddressVector vector);

    /**
     * A memory window, not bound yet (ibv_alloc_mw).
     *
     * @throws RdmaException {@link RdmaException.Reason#RESOURCE_EXHAUSTED} above the device's {@code maxMw}
     */
    MemoryWindow allocateMemoryWindow(MemoryWindowType type);

    /**
     * Deallocates the domain.
     *
     * @throws RdmaException {@link RdmaException.Reason#BUSY} while it has open regions, windows, address handles,
     *     shared receive queues or queue pairs
     */
    @Override
    void close();
}
