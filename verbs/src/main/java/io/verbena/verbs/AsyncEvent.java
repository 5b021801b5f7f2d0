// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** Something happened to an object outside any work request (ibv_async_event; IBTA volume 1, 11.6.3). */
public sealed interface AsyncEvent {
    /**
     * More completions than the queue holds: the excess is lost, the queue is unusable and its queue pairs go to ERR.
     */
    record CompletionQueueError(CompletionQueue queue) implements AsyncEvent {}

    /** The queue pair went to ERR for a reason that no completion tells. */
    record QueuePairFatal(QueuePair queuePair, String why) implements AsyncEvent {}

    /** A peer broke the rules or the rights of a queue pair; it is in ERR. */
    record QueuePairAccessError(QueuePair queuePair, String why) implements AsyncEvent {}

    /** The first packet arrived at a queue pair in RTR. */
    record CommunicationEstablished(QueuePair queuePair) implements AsyncEvent {}

    /** A queue pair in SQD has nothing under way any more. */
    record SendQueueDrained(QueuePair queuePair) implements AsyncEvent {}

    /** Fewer receives are left in the queue than {@link SharedReceiveQueue#armLimit} asked to be told of. */
    record SharedReceiveQueueLimit(SharedReceiveQueue queue) implements AsyncEvent {}

    /**
     * A queue pair in ERR will take no more receives from its shared receive queue; all that it took are in its
     * completion queue, so it can be destroyed without losing one.
     */
    record LastWqeReached(QueuePair queuePair) implements AsyncEvent {}

    /** The port carries traffic again. */
    record PortActive(DeviceContext context, int port) implements AsyncEvent {}

    /** The network interface of the port is down; work under way waits, and fails when its retries are over. */
    record PortDown(DeviceContext context, int port) implements AsyncEvent {}

    /** The device cannot go on: every call on it and its objects fails from now on, but closing them. */
    record DeviceFatal(DeviceContext context, String why) implements AsyncEvent {}
}
