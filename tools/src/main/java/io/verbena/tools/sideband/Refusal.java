// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.sideband;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.verbs.cm.ConnectionRejectedException;
import io.verbena.verbs.cm.RejectReason;
import java.net.InetSocketAddress;
import java.time.Duration;

/** Connecting to a server that is just about to listen. */
public final class Refusal {
    private static final Duration PATIENCE = Duration.ofMillis(1500);
    private static final long PAUSE_MILLIS = 100;

    private Refusal() {}

    /** Tries to connect. */
    @FunctionalInterface
    public interface Attempt<T> {
        T connect() throws InterruptedException;
    }

    /**
     * Tries again for a moment while nobody listens there.
     *
     * @param hint what to say in the end, such as a command to run
     */
    public static <T> T retry(InetSocketAddress target, String hint, Attempt<T> attempt) throws InterruptedException {
        long start = System.nanoTime();
        while (true) {
            try {
                return attempt.connect();
            } catch (ConnectionRejectedException e) {
                if (e.rejectReason() != RejectReason.INVALID_SERVICE_ID) {
                    throw e;
                }
                if (System.nanoTime() - start > PATIENCE.toNanos()) {
                    throw new CommandFailure(
                            "cannot connect to " + target.getHostString() + " port " + target.getPort()
                                    + ": nobody listens there; " + hint,
                            e);
                }
                Thread.sleep(PAUSE_MILLIS);
            }
        }
    }
}
