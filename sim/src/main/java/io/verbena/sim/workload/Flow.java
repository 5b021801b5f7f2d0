// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.WorkCompletion;

/** Work in one direction between two queue pairs, and what must come of it. */
interface Flow extends AutoCloseable {
    /** Posts some requests and receives if there is room; returns whether it did. */
    boolean post();

    /** A send request of this number has completed. */
    void sent(long sequence, WorkCompletion completion);

    /** A receive of this number has completed, at that device. */
    void received(DeviceContext device, long sequence, WorkCompletion completion);

    /** All requests were posted and have completed. */
    boolean finished();

    /** Messages that arrived and were right. */
    long arrived();

    /** Whether a queue pair ended up in the error state. */
    boolean broken();

    /** Moves the queue pairs to the error state, which flushes their receives. */
    void stop();

    /** When all has come to rest after {@link #stop}: looks at all memory, and that every request has completed. */
    void check();

    /** In words, for a message that says what is stuck. */
    String describe();

    @Override
    void close();
}
