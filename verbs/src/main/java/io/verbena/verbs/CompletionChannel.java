// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Tells which of many completion queues have something (ibv_comp_channel), without file descriptors. The loop that
 * loses nothing:
 *
 * <pre>{@code
 * cq.requestNotify();
 * while (running) {
 *     CompletionQueue ready = channel.await(timeout);
 *     if (ready == null) continue;
 *     ready.requestNotify();
 *     while (ready.poll(completion)) handle(completion);
 * }
 * }</pre>
 *
 * Thread-safe: several threads may wait, each event goes to one of them. Events need no acknowledgement.
 */
public interface CompletionChannel extends AutoCloseable {
    DeviceContext context();

    /** A queue whose armed event fired, or null when there is none now. */
    @Nullable
    CompletionQueue poll();

    /**
     * Waits for a queue whose armed event fires; null when the time is over.
     *
     * @throws RdmaException {@link RdmaException.Reason#CLOSED} when the channel is closed meanwhile
     */
    @Nullable
    CompletionQueue await(Duration timeout) throws InterruptedException;

    /**
     * Destroys the channel; threads that wait on it get an exception.
     *
     * @throws RdmaException {@link RdmaException.Reason#BUSY} while completion queues use it
     */
    @Override
    void close();
}
