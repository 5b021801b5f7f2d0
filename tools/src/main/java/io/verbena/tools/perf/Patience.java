// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.sideband.Sideband;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.WorkCompletion;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * How the loops of a test wait: spinning, or asleep with events; and no longer than there is hope. A peer whose process
 * ended shows at once on the TCP connection, one that hangs by the time that passes.
 */
final class Patience {
    private static final int SPINS_PER_LOOK = 1 << 12;
    private static final Duration WAKE_UP = Duration.ofMillis(500);
    /** A peer may close the connection when it is done, while its last message is still on the way here. */
    private static final long AFTER_PEER_GONE_NANOS = 2_000_000_000L;

    /** How long a peer that ends takes from its first closed object to its closed connection. */
    private static final long FAREWELL_NANOS = 500_000_000L;

    private static final long SILENCE_NANOS = 60_000_000_000L;
    private static final long LOSS_NANOS = 10_000_000_000L;

    private final Sideband sideband;
    private final @Nullable CompletionChannel channel;
    private final @Nullable Connection lossy;
    private int spins;
    private long progress;
    private long progressedAt = System.nanoTime();

    /** @param lossy the service, when a single message that is lost ends the test; else null */
    Patience(Sideband sideband, @Nullable CompletionChannel channel, @Nullable Connection lossy) {
        this.sideband = sideband;
        this.channel = channel;
        this.lossy = lossy;
    }

    /** Something was done: what counts is that it happened, not how much. */
    void progressed() {
        progress++;
        spins = 0;
    }

    /** Called when there was nothing to do; returns soon, at the latest after half a second. */
    void pause() throws InterruptedException {
        if (channel != null) {
            CompletionQueue ready = channel.await(WAKE_UP);
            if (ready != null) {
                ready.requestNotify();
                return;
            }
        } else {
            Thread.onSpinWait();
            if (++spins < SPINS_PER_LOOK) {
                return;
            }
        }
        look();
    }

    private void look() throws InterruptedException {
        spins = 0;
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long now = System.nanoTime();
        if (progress != 0) {
            progress = 0;
            progressedAt = now;
        }
        long quiet = now - progressedAt;
        if (sideband.peerGone() && Math.min(quiet, sideband.nanosSincePeerGone()) > AFTER_PEER_GONE_NANOS) {
            throw new CommandFailure(
                    "the peer at " + sideband.peer() + " closed the connection in the middle of the test");
        }
        if (lossy != null && quiet > LOSS_NANOS) {
            throw new CommandFailure("no message came for " + LOSS_NANOS / 1_000_000_000L + " s: one may be lost, as "
                    + lossy + " sends none again; or does the peer at " + sideband.peer()
                    + " run another test or with other options?");
        }
        if (quiet > SILENCE_NANOS) {
            throw new CommandFailure("nothing moved for " + SILENCE_NANOS / 1_000_000_000L + " s; does the peer at "
                    + sideband.peer() + " run the same test with the same options?");
        }
    }

    /** Whether the peer has gone on to what follows the run: it sends nothing any more. */
    boolean peerIsDone() {
        return sideband.hasUnread();
    }

    /** The completion when it succeeded, or what to tell the user. */
    WorkCompletion checked(WorkCompletion completion, String what) {
        if (completion.isSuccess()) {
            return completion;
        }
        if (Resources.isShuttingDown()) {
            throw new CommandFailure("interrupted");
        }
        String failure = what + " failed: " + completion.status() + ", "
                + completion.status().meaning();
        throw new CommandFailure(
                peerGoneSoon()
                        ? "the peer at " + sideband.peer() + " ended in the middle of the test; " + failure
                        : failure);
    }

    /** Whether the peer ended, or does now: one that is interrupted closes its objects, then its connection. */
    private boolean peerGoneSoon() {
        long start = System.nanoTime();
        while (!sideband.peerGone() && System.nanoTime() - start < FAREWELL_NANOS) {
            LockSupport.parkNanos(FAREWELL_NANOS / 100);
        }
        return sideband.peerGone();
    }
}
