// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import io.verbena.verbs.QueuePair;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.MemorySegment;

/** The receives of one queue pair: each must complete once, in order, in a slot of its own. */
final class Receives implements AutoCloseable {
    private final int flow;
    private final QueuePair queuePair;
    private final Area area;
    private final int slotBytes;
    private final int depth;
    private long posted;
    private long completed;
    private boolean flushing;

    Receives(int flow, QueuePair queuePair, Station station, int depth, int slotBytes) {
        this.flow = flow;
        this.queuePair = queuePair;
        this.depth = depth;
        this.slotBytes = slotBytes;
        area = new Area("received messages of flow " + flow, station, 2 * depth, slotBytes);
    }

    boolean hasRoom() {
        return posted - completed < depth && !flushing;
    }

    void post() {
        long number = posted++;
        queuePair.postReceive(
                Station.receiveId(flow, number),
                area.address(number),
                slotBytes,
                area.region().lkey());
    }

    /**
     * A receive has completed.
     *
     * @return false when it was flushed
     */
    boolean complete(long number, WorkCompletion completion) {
        if (number != completed || number >= posted) {
            throw new Violation("flow " + flow + ": receive " + number + " completed, but " + completed + " of "
                    + posted + " comes next: " + completion);
        }
        completed++;
        if (completion.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
            flushing = true;
            area.forgive(number);
            return false;
        }
        if (!completion.isSuccess() || flushing) {
            throw new Violation("flow " + flow + ": a receive failed: " + completion);
        }
        return true;
    }

    /** Compares what a receive got, from so many bytes into its slot on, and all around it. */
    void check(long number, int skipped, MemorySegment source, long offset, int length) {
        long at = area.offset(number);
        MemorySegment.copy(area.memory(), at, area.shadow(), at, skipped);
        MemorySegment.copy(source, offset, area.shadow(), at + skipped, length);
        area.check(number);
    }

    /** Takes for right what is in the slot of a receive now. */
    void forgive(long number) {
        area.forgive(number);
    }

    void checkAll() {
        if (posted != completed) {
            throw new Violation(
                    "flow " + flow + ": " + (posted - completed) + " of " + posted + " receives never completed");
        }
        area.checkAll();
    }

    @Override
    public void close() {
        area.close();
    }
}
