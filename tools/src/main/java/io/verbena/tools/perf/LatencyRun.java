// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.WorkCompletion;

/** One size of a latency test on this side: one message at a time. */
abstract class LatencyRun {
    /** How often a wait looks at the clock of a run over a duration. */
    private static final int SPINS_PER_LOOK = 64;

    private final PerfContext context;
    private final PerfParameters parameters;
    private final int size;
    private final Patience patience;
    private final LatencyTimer timer;
    private final Posting posting;
    private final WorkCompletion completion = new WorkCompletion();

    LatencyRun(PerfContext context, int size, Patience patience) {
        this.context = context;
        this.size = size;
        this.patience = patience;
        parameters = context.parameters();
        timer = new LatencyTimer(parameters);
        posting = new Posting(context, 0, size, false);
    }

    static LatencyRun of(PerfContext context, int size, Patience patience) {
        return switch (context.parameters().verb()) {
            case WRITE -> new WriteLatency(context, size, patience);
            case SEND -> new SendLatency(context, size, patience);
            case READ, ATOMIC -> new AnsweredLatency(context, size, patience);
        };
    }

    /** Posts what must be there before the peer is told that it may start. */
    void prepare() {}

    final LatencyReport run() throws InterruptedException {
        if (parameters.events()) {
            context.sendQueue().requestNotify();
            context.receiveQueue().requestNotify();
        }
        exchange();
        return timer.report(size);
    }

    /** The messages of the run. */
    abstract void exchange() throws InterruptedException;

    final long moved() {
        return timer.moved();
    }

    final PerfContext context() {
        return context;
    }

    final PerfParameters parameters() {
        return parameters;
    }

    final int size() {
        return size;
    }

    final LatencyTimer timer() {
        return timer;
    }

    final Patience patience() {
        return patience;
    }

    final WorkCompletion completion() {
        return completion;
    }

    final void post(long number) {
        posting.post(number, true);
    }

    /** Waits for a completion; false when the time of the run is over first. */
    final boolean await(CompletionQueue queue, String what) throws InterruptedException {
        int spins = 0;
        while (!queue.poll(completion)) {
            if (++spins % SPINS_PER_LOOK == 0 && timer.isOver()) {
                return false;
            }
            patience.pause();
        }
        patience.progressed();
        patience.checked(completion, what);
        return true;
    }
}
