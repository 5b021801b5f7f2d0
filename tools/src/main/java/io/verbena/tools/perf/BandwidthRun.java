// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;

/**
 * One size of a bandwidth test on this side: it posts, or receives, or both. Many messages are under way; completions
 * are asked for now and then only.
 */
final class BandwidthRun {
    /** A work request's id holds its queue pair above, and how manyth it is below this bit. */
    private static final int COUNT_BITS = 40;

    private static final long COUNT_MASK = (1L << COUNT_BITS) - 1;
    /** Completions taken in a row before it is looked for room to post again. */
    private static final int BATCH = 16;
    /** Messages that may follow each other at once to catch up with the rate. */
    private static final int BURST = 16;
    /** No message is this late. */
    private static final long LOST_AFTER_PEER_NANOS = 2_000_000_000L;

    private static final long LOST_NANOS = 10_000_000_000L;

    private final PerfContext context;
    private final PerfParameters parameters;
    private final int size;
    private final boolean sends;
    private final boolean receives;
    private final Patience patience;
    private final RunClock clock;
    private final Stamps stamps;
    private final Posting[] postings;
    private final long[] sent;
    private final long[] done;
    private final long[] postedInRun;
    private final long gapNanos;
    private final WorkCompletion completion = new WorkCompletion();
    private final long total;
    private long allSent;
    private long allDone;
    private long allReceived;
    private long counted;
    private long movedAt;
    private long nextSend;
    private volatile long moved;

    BandwidthRun(PerfContext context, int size, Patience patience) {
        this.context = context;
        this.size = size;
        this.patience = patience;
        parameters = context.parameters();
        boolean messages = parameters.verb() == PerfTest.Verb.SEND;
        sends = parameters.posts();
        receives = messages && (parameters.bidirectional() || !parameters.client());
        int queuePairs = parameters.queuePairs();
        total = parameters.iterations() * queuePairs;
        clock = RunClock.ofSeconds(parameters.durationSeconds());
        stamps = new Stamps(sends ? total : 0);
        sent = new long[queuePairs];
        done = new long[queuePairs];
        postedInRun = new long[queuePairs];
        gapNanos = parameters.rateLimit().gapNanos(size);
        postings = new Posting[queuePairs];
        for (int i = 0; i < queuePairs; i++) {
            postings[i] = new Posting(context, i, size, true);
        }
    }

    /** Posts receives, before the peer is told that it may send. */
    void prepare() {
        if (!receives) {
            return;
        }
        for (int i = 0; i < postings.length; i++) {
            while (context.receivesPosted(i) < parameters.receiveDepth()) {
                postReceive(i);
            }
        }
    }

    BandwidthReport run() throws InterruptedException {
        if (parameters.events()) {
            context.sendQueue().requestNotify();
            context.receiveQueue().requestNotify();
        }
        long now = System.nanoTime();
        movedAt = now;
        nextSend = now;
        if (parameters.client() || !receives) {
            clock.start(now);
        }
        while (!isFinished(now) && !givesUp(now)) {
            // A server that receives too waits for the client's first message.
            if (sends && clock.isStarted()) {
                fill(now);
            }
            boolean something = receives && drain(context.receiveQueue(), false);
            something |= sends && drain(context.sendQueue(), true);
            if (something) {
                movedAt = now;
                patience.progressed();
            } else {
                patience.pause();
            }
            now = System.nanoTime();
        }
        return report(now);
    }

    /** Messages completed so far; for another thread to look at. */
    long moved() {
        return moved;
    }

    private boolean isFinished(long now) {
        if (clock.isDuration()) {
            return clock.isOver(now);
        }
        return (!sends || allDone >= total) && (!receives || allReceived >= total);
    }

    /**
     * Whether messages are lost: the peer has ended its run and nothing comes any more, or neither of two that send to
     * each other has heard anything for long.
     */
    private boolean givesUp(long now) {
        long quiet = now - movedAt;
        if (!receives || !parameters.connection().loses() || quiet < LOST_AFTER_PEER_NANOS) {
            return false;
        }
        boolean allPosted = !sends || (clock.isStarted() && allDone >= total);
        return patience.peerIsDone() || (clock.isStarted() && allPosted && quiet > LOST_NANOS);
    }

    /** Whether the rate allows one more message; after a pause a few may follow each other at once. */
    private boolean isDue(long now) {
        if (gapNanos == 0) {
            return true;
        }
        if (now - nextSend < 0) {
            return false;
        }
        nextSend = Math.max(nextSend, now - BURST * gapNanos) + gapNanos;
        return true;
    }

    private void fill(long now) {
        long limit = clock.isDuration() ? Long.MAX_VALUE : parameters.iterations();
        for (int i = 0; i < postings.length; i++) {
            while (sent[i] < limit && sent[i] - done[i] < parameters.sendDepth() && isDue(now)) {
                long number = ++sent[i];
                boolean signaled = number % parameters.completionModeration() == 0 || number == limit;
                if (stamps.isOn()) {
                    stamps.posted(allSent, System.nanoTime());
                }
                postings[i].post((long) i << COUNT_BITS | number, signaled);
                allSent++;
            }
        }
    }

    private boolean drain(CompletionQueue queue, boolean sending) {
        int taken = 0;
        while (taken < BATCH && queue.poll(completion)) {
            taken++;
            if (completion.status() == WorkCompletionStatus.WR_FLUSH_ERR) {
                findCause(context.sendQueue(), parameters.verb().title());
                findCause(context.receiveQueue(), "receiving");
            }
            if (sending) {
                sent(patience.checked(completion, parameters.verb().title()).wrId());
            } else {
                received(patience.checked(completion, "receiving"));
            }
        }
        return taken > 0;
    }

    /** Work that was flushed says nothing of why; the failure that came first may be in the other queue. */
    private void findCause(CompletionQueue queue, String what) {
        WorkCompletion other = new WorkCompletion();
        while (queue.poll(other)) {
            if (!other.isSuccess() && other.status() != WorkCompletionStatus.WR_FLUSH_ERR) {
                patience.checked(other, what);
            }
        }
    }

    private void sent(long id) {
        int index = (int) (id >>> COUNT_BITS);
        long number = id & COUNT_MASK;
        long completed = number - done[index];
        done[index] = number;
        allDone += completed;
        if (stamps.isOn()) {
            stamps.completed(allDone - 1, System.nanoTime());
        }
        count(completed);
    }

    private void received(WorkCompletion message) {
        int index = (int) message.wrId();
        context.received(index);
        if (message.byteLength() != context.receiveBytes(size)) {
            throw new CommandFailure("the peer sends messages of " + (message.byteLength() - context.receiveBytes(0))
                    + " bytes, this side expects " + size + "; give both the same -s");
        }
        clock.start(System.nanoTime());
        allReceived++;
        count(1);
        if (clock.isDuration() || postedInRun[index] < parameters.iterations()) {
            postReceive(index);
        }
    }

    private void count(long messages) {
        moved = allDone + allReceived;
        if (clock.isDuration() && clock.isCounting(System.nanoTime())) {
            counted += messages;
        }
    }

    private void postReceive(int index) {
        context.postReceive(index, size);
        postedInRun[index]++;
    }

    private BandwidthReport report(long now) {
        if (receives && allReceived == 0) {
            throw new CommandFailure("no message arrived; does the peer run the same test, and does a firewall let UDP"
                    + " port 4791 through?");
        }
        if (clock.isDuration()) {
            return BandwidthReport.of(size, counted, clock.countedNanos(), 0);
        }
        double least = stamps.leastNanosPerMessage();
        double peak = least == 0 ? 0 : size / (least / 1e9) / BandwidthReport.MEGABYTE;
        if (!receives) {
            return BandwidthReport.of(size, total, clock.elapsed(now), peak);
        }
        long end = allReceived < total ? movedAt : now;
        return BandwidthReport.of(size, allReceived, clock.elapsed(end), peak).withLost(total - allReceived);
    }
}
