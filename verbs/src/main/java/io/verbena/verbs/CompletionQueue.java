// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Where finished work is reported (ibv_cq; IBTA volume 1, 10.8). Thread-safe. */
public interface CompletionQueue extends AutoCloseable {
    DeviceContext context();

    /**
     * Entries it can hold, at least what was asked for. More unpolled completions than that are a
     * {@link AsyncEvent.CompletionQueueError}.
     */
    int capacity();

    @Nullable
    CompletionChannel channel();

    /**
     * Changes how many entries it can hold (ibv_resize_cq); those in it stay, in order.
     *
     * @throws RdmaException {@link RdmaException.Reason#INVALID_ARGUMENT} below the number of entries in it, below 1 or
     *     above the device's {@code maxCqe}
     */
    void resize(int entries);

    /**
     * Takes the oldest completion (ibv_poll_cq). Allocates nothing and does not block; the device makes progress on
     * this thread while the queue is empty, so a program that polls needs no other thread.
     *
     * @return whether there was one; {@code completion} is unchanged otherwise
     */
    boolean poll(WorkCompletion completion);

    /**
     * Takes the oldest completion, waiting for it. Spins briefly, then sleeps in the kernel.
     *
     * @return false when the time is over
     * @throws RdmaException {@link RdmaException.Reason#CLOSED} when the queue is closed meanwhile
     */
    boolean await(WorkCompletion completion, Duration timeout) throws InterruptedException;

    /**
     * Arms the queue for one event on its channel (ibv_req_notify_cq). Unlike the C call it fires at once when a
     * completion that would have fired it is already in the queue, so that no order of arming and polling can lose a
     * wake-up.
     *
     * @param solicitedOnly fire for solicited receives and for errors only
     * @throws IllegalStateException when the queue has no channel
     */
    void requestNotify(boolean solicitedOnly);

    default void requestNotify() {
        requestNotify(false);
    }

    /**
     * Destroys the queue.
     *
     * @throws RdmaException {@link RdmaException.Reason#BUSY} while queue pairs use it
     */
    @Override
    void close();
}
