// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An open device (ibv_context). Thread-safe. */
public interface DeviceContext extends AutoCloseable {
    DeviceInfo device();

    /** What the device can do and its limits (ibv_query_device). */
    DeviceAttributes queryDevice();

    /**
     * State and limits of a port (ibv_query_port); ports count from 1.
     *
     * @throws RdmaException {@link RdmaException.Reason#INVALID_ARGUMENT} for a port the device does not have
     */
    PortAttributes queryPort(int port);

    /** The valid entries of the port's GID table (ibv_query_gid_table). */
    List<GidEntry> gidTable(int port);

    /** The GID at an index, {@link Gid#ZERO} where the table has no entry (ibv_query_gid). */
    Gid queryGid(int port, int index);

    /** The P_Key at an index (ibv_query_pkey): 16 bits. */
    int queryPartitionKey(int port, int index);

    ProtectionDomain allocateProtectionDomain();

    /** A domain for extended reliable connections (ibv_open_xrcd without a file). */
    XrcDomain openXrcDomain();

    /** A channel that tells of completions on any number of completion queues (ibv_create_comp_channel). */
    CompletionChannel createCompletionChannel();

    /** A completion queue without a channel; see {@link #createCompletionQueue(int, CompletionChannel)}. */
    default CompletionQueue createCompletionQueue(int entries) {
        return createCompletionQueue(entries, null);
    }

    /**
     * A completion queue of at least {@code entries} entries (ibv_create_cq).
     *
     * @throws RdmaException {@link RdmaException.Reason#INVALID_ARGUMENT} above the device's {@code maxCqe} or below 1
     */
    CompletionQueue createCompletionQueue(int entries, @Nullable CompletionChannel channel);

    /**
     * The next asynchronous event if there is one (ibv_get_async_event, not blocking). Events need no acknowledgement.
     */
    @Nullable
    AsyncEvent pollAsyncEvent();

    /** Waits for an asynchronous event; null when the time is over or the context was closed. */
    @Nullable
    AsyncEvent awaitAsyncEvent(Duration timeout) throws InterruptedException;

    /**
     * What the device counted since it was opened: frames, bytes, retransmissions, and every dropped frame by its
     * reason (names start with {@code drop.}). A snapshot.
     */
    Map<String, Long> counters();

    /**
     * The clock of {@link WorkCompletion#timestamp()} now, in nanoseconds from an arbitrary start (ibv_query_rt_values
     * with the raw clock).
     */
    long clockNanos();

    /** False once closed. */
    boolean isOpen();

    /**
     * Closes the device.
     *
     * @throws RdmaException {@link RdmaException.Reason#BUSY} while protection domains, completion queues, channels or
     *     XRC domains are open
     */
    @Override
    void close();
}
