// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cmtime;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Accepts whoever comes, and lets go whoever goes. */
final class CmtimeServer implements AutoCloseable {
    /** Requests that may wait for this program; as many as the kernel's default. */
    private static final int BACKLOG = 1024;

    private static final Duration LONG = Duration.ofDays(1);

    private final EventChannel channel;
    private final Map<DeviceContext, CompletionQueue> completions = new HashMap<>();
    private int present;
    private long accepted;
    private long failed;

    CmtimeServer(EventChannel channel) {
        this.channel = channel;
    }

    /** Listens; returns the address with the port. */
    InetSocketAddress listen(InetSocketAddress address) {
        ConnectionId listener = channel.createId(PortSpace.TCP);
        listener.bind(address);
        listener.listen(BACKLOG);
        return Objects.requireNonNull(listener.localAddress(), "is bound");
    }

    /**
     * Serves until the channel is closed.
     *
     * @param idle ends when all who came have been gone for so long; null never to end
     */
    void serve(@Nullable Duration idle) throws InterruptedException {
        while (true) {
            Duration patience = idle != null && accepted > 0 && present == 0 ? idle : LONG;
            ConnectionEvent event = channel.await(patience);
            if (event == null && patience.equals(idle)) {
                return;
            }
            switch (event) {
                case null -> {
                    // A day without a client.
                }
                case ConnectionEvent.ConnectRequest request -> accept(request.id());
                case ConnectionEvent.Disconnected disconnected -> release(disconnected.id());
                case ConnectionEvent.Rejected rejected -> release(rejected.id());
                case ConnectionEvent.Unreachable unreachable -> release(unreachable.id());
                default -> {
                    // Established, or over for good.
                }
            }
        }
    }

    private void accept(ConnectionId id) {
        try {
            CompletionQueue queue =
                    completions.computeIfAbsent(id.context(), context -> context.createCompletionQueue(1));
            id.createQueuePair(QueuePairOptions.rc(queue).withQueueDepth(1, 1).withMaxSge(1, 1));
            id.accept(ConnectionParameters.defaults().withReads(1, 1));
            present++;
            accepted++;
        } catch (RdmaException e) {
            // The client gave up, or the device has no room; closing tells it.
            failed++;
            id.close();
        }
    }

    private void release(ConnectionId id) {
        present--;
        id.close();
    }

    long accepted() {
        return accepted;
    }

    long failed() {
        return failed;
    }

    @Override
    public void close() {
        channel.close();
        completions.values().forEach(CompletionQueue::close);
    }
}
