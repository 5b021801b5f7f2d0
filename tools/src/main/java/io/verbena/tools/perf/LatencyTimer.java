// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import org.HdrHistogram.Histogram;

/** Takes the time between one message and the next; of a run over a duration only its middle counts. */
final class LatencyTimer {
    private static final int DIGITS = 3;

    private final PerfParameters parameters;
    private final RunClock clock;
    private final Histogram nanos = new Histogram(DIGITS);
    /** Two messages make a round trip, save where the device answers. */
    private final int messagesPerTurn;

    private long last;
    private boolean any;
    private long counted;
    private long posted;
    private volatile long moved;

    LatencyTimer(PerfParameters parameters) {
        this.parameters = parameters;
        clock = RunClock.ofSeconds(parameters.durationSeconds());
        messagesPerTurn = parameters.verb().isAnswered() ? 1 : 2;
    }

    /** The clock of a run over a duration starts here, unless it runs already. */
    void start() {
        clock.start(System.nanoTime());
    }

    /** A message is about to be posted. */
    void posting() {
        long now = System.nanoTime();
        if (any && (!clock.isDuration() || clock.isCounting(now))) {
            nanos.recordValue((now - last) / messagesPerTurn);
            counted++;
        }
        any = true;
        last = now;
        moved = ++posted;
    }

    boolean isOver() {
        return clock.isDuration() && clock.isOver(System.nanoTime());
    }

    /** Whether there is more to do after {@code count} messages. */
    boolean goesOn(long count) {
        return clock.isDuration() ? !isOver() : count < parameters.iterations();
    }

    long moved() {
        return moved;
    }

    LatencyReport report(int size) {
        if (!clock.isDuration()) {
            return new LatencyReport(size, parameters.iterations(), nanos, 0);
        }
        return new LatencyReport(size, counted, nanos, counted / (clock.countedNanos() / 1e9));
    }
}
