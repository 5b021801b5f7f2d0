// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/**
 * The time of a run over a duration: its first and last quarter are not counted, so that only steady flow is. A run
 * over a number of messages has a clock too; it never ends.
 */
final class RunClock {
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private final long durationNanos;
    private final long marginNanos;
    private boolean started;
    private long startNanos;

    private RunClock(long durationNanos, long marginNanos) {
        this.durationNanos = durationNanos;
        this.marginNanos = marginNanos;
    }

    /** @param seconds 0 for a run that messages end */
    static RunClock ofSeconds(int seconds) {
        long nanos = seconds * NANOS_PER_SECOND;
        return new RunClock(nanos, nanos / 4);
    }

    boolean isDuration() {
        return durationNanos > 0;
    }

    /** Starts unless it runs already. */
    void start(long now) {
        if (!started) {
            started = true;
            startNanos = now;
        }
    }

    boolean isStarted() {
        return started;
    }

    boolean isOver(long now) {
        return isDuration() && started && now - startNanos >= durationNanos;
    }

    boolean isCounting(long now) {
        long elapsed = now - startNanos;
        return started && elapsed >= marginNanos && elapsed < durationNanos - marginNanos;
    }

    long countedNanos() {
        return durationNanos - 2 * marginNanos;
    }

    long elapsed(long now) {
        return started ? now - startNanos : 0;
    }
}
