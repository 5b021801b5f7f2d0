// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.sideband.CmSideband;
import io.verbena.tools.sideband.Refusal;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionRequest;
import io.verbena.verbs.cm.Listener;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Queue pairs of connections to the port that the sideband's connection went to. A real server stops listening in
 * between, so a client may be refused for a moment.
 *
 * @param listener of a server; null at a client
 * @param options how to connect
 */
record CmQueuePairs(CmSideband sideband, @Nullable Listener listener, ConnectionOptions options)
        implements ManagedSource {
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    @Override
    public QueuePair create(ProtectionDomain domain, QueuePairOptions queuePair, Resources resources)
            throws InterruptedException {
        ConnectionOptions wanted = options.withQueuePair(shared -> queuePair);
        return resources
                .add(listener == null ? connect(wanted) : accept(listener, wanted))
                .queuePair();
    }

    private Connection connect(ConnectionOptions wanted) throws InterruptedException {
        InetSocketAddress target = Objects.requireNonNull(sideband.connection().remoteAddress(), "is connected");
        return Refusal.retry(
                target,
                "the server does not accept the test's queue pairs; does it run with -R too?",
                () -> Connection.connect(target, wanted));
    }

    private Connection accept(Listener from, ConnectionOptions wanted) throws InterruptedException {
        long start = System.nanoTime();
        while (true) {
            Duration left = TIMEOUT.minusNanos(System.nanoTime() - start);
            try (ConnectionRequest request = left.isPositive() ? from.await(left) : null) {
                if (request == null) {
                    throw new CommandFailure("the peer at " + sideband.peer() + " did not connect its queue pairs in "
                            + TIMEOUT.toSeconds() + " s; does it run with as many (-q)?");
                }
                if (isPeer(request.remoteAddress())) {
                    return request.accept(wanted);
                }
            }
        }
    }
}
