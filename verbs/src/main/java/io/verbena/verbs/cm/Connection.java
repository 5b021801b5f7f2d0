// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A connected queue pair with what it needs. Close memory regions that were registered in {@link #protectionDomain}
 * before it, as try-with-resources does. Thread-safe.
 */
public final class Connection implements AutoCloseable {
    private static final int DEPTH = 128;
    private static final Executor VIRTUAL_THREADS = Thread::startVirtualThread;

    private final EventChannel channel;
    private final ConnectionId id;
    private final QueuePair queuePair;
    private final @Nullable CompletionQueue ownCompletions;
    private ConnectionParameters peer = ConnectionParameters.defaults();
    /** One thread waits for the end; the others wait for that thread. */
    private final ReentrantLock waiting = new ReentrantLock();

    private boolean ended;
    private volatile boolean closed;

    private Connection(EventChannel channel, ConnectionId id, ConnectionOptions options) {
        this.channel = channel;
        this.id = id;
        ProtectionDomain domain = id.protectionDomain();
        if (options.queuePair() == null) {
            ownCompletions = domain.context().createCompletionQueue(2 * DEPTH);
            queuePair = usualQueuePair(id, domain, ownCompletions);
        } else {
            ownCompletions = null;
            queuePair = id.createQueuePair(domain, options.queuePair().apply(domain));
        }
    }

    private static QueuePair usualQueuePair(ConnectionId id, ProtectionDomain domain, CompletionQueue completions) {
        try {
            return id.createQueuePair(domain, QueuePairOptions.rc(completions).withQueueDepth(DEPTH, DEPTH));
        } catch (RuntimeException e) {
            completions.close();
            throw e;
        }
    }

    /** Connects with default options; see {@link #connect(InetSocketAddress, ConnectionOptions)}. */
    public static Connection connect(String host, int port) throws InterruptedException {
        return connect(new InetSocketAddress(host, port), ConnectionOptions.defaults());
    }

    /**
     * Connects to a listener, within the timeout of the parameters.
     *
     * @throws ConnectionRejectedException if nobody listens there, or the program there refused
     * @throws RdmaException {@code UNREACHABLE} when nobody answered in time, {@code NOT_FOUND} for an unknown host or
     *     an address that no device leads to
     */
    public static Connection connect(InetSocketAddress target, ConnectionOptions options) throws InterruptedException {
        EventChannel channel = options.openChannel();
        try {
            ConnectionId id = channel.createId(PortSpace.TCP);
            Duration timeout = options.parameters().timeout();
            id.resolveAddress(options.source(), target, timeout);
            expect(channel, timeout, target);
            id.resolveRoute(timeout);
            expect(channel, timeout, target);
            Connection connection = new Connection(channel, id, options);
            connection.finish(options, target, () -> id.connect(options.parameters()));
            return connection;
        } catch (Throwable e) {
            channel.close();
            throw e;
        }
    }

    /** The same without waiting. Cancelling the future does not end the attempt; its timeout does. */
    public static CompletableFuture<Connection> connectAsync(InetSocketAddress target, ConnectionOptions options) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return connect(target, options);
                    } catch (InterruptedException e) {
                        throw new CompletionException(e);
                    }
                },
                VIRTUAL_THREADS);
    }

    static Connection accept(ConnectionId id, ConnectionOptions options, InetSocketAddress from)
            throws InterruptedException {
        EventChannel channel = options.openChannel();
        try {
            id.migrate(channel);
            Connection connection = new Connection(channel, id, options);
            connection.finish(options, from, () -> id.accept(options.parameters()));
            return connection;
        } catch (Throwable e) {
            channel.close();
            throw e;
        }
    }

    private void finish(ConnectionOptions options, InetSocketAddress other, Runnable step) throws InterruptedException {
        try {
            options.prepare().accept(this);
            step.run();
            // The timeout is the device's business; this only keeps a defect from waiting for ever.
            Duration patience = options.parameters().timeout().plusSeconds(30);
            ConnectionEvent event = channel.await(patience);
            if (closed && !(event instanceof ConnectionEvent.Established)) {
                throw new RdmaException(
                        RdmaException.Reason.CLOSED, HostAndPort.of(other) + ": the connection was closed meanwhile");
            }
            if (good(event, patience, other) instanceof ConnectionEvent.Established established) {
                peer = established.parameters();
            }
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /** Waits for the next event, which must be a good one. */
    private static ConnectionEvent expect(EventChannel channel, Duration timeout, InetSocketAddress target)
            throws InterruptedException {
        return good(channel.await(timeout), timeout, target);
    }

    private static ConnectionEvent good(@Nullable ConnectionEvent event, Duration timeout, InetSocketAddress target) {
        String host = HostAndPort.of(target);
        return switch (event) {
            case null -> throw new RdmaException(RdmaException.Reason.TIMED_OUT, host + ": no answer in " + timeout);
            case ConnectionEvent.AddressFailed failed -> throw failed.cause();
            case ConnectionEvent.Rejected rejected ->
                throw new ConnectionRejectedException(
                        host + " refused the connection: " + text(rejected), rejected.reason(), rejected.privateData());
            case ConnectionEvent.Unreachable unreachable ->
                throw new RdmaException(
                        RdmaException.Reason.UNREACHABLE,
                        host + ": no answer; is the host up, and does its firewall pass UDP port 4791?");
            case ConnectionEvent.Disconnected disconnected ->
                throw new RdmaException(RdmaException.Reason.DISCONNECTED, host + ": " + disconnected.why());
            default -> event;
        };
    }

    private static String text(ConnectionEvent.Rejected rejected) {
        return switch (rejected.reason()) {
            case INVALID_SERVICE_ID -> "nobody listens to that port";
            case CONSUMER_DEFINED -> "the program there rejected it";
            default -> rejected.reason() + " (" + rejected.number() + ")";
        };
    }

    public ConnectionId id() {
        return id;
    }

    public QueuePair queuePair() {
        return queuePair;
    }

    /** The domain to register memory in; connections of one device share it. */
    public ProtectionDomain protectionDomain() {
        return queuePair.protectionDomain();
    }

    /** Where the completions of sends arrive, and those of receives unless the options said otherwise. */
    public CompletionQueue completions() {
        return queuePair.sendCompletionQueue();
    }

    /** What the other side said when it asked or accepted. */
    public ConnectionParameters peer() {
        return peer;
    }

    public @Nullable InetSocketAddress localAddress() {
        return id.localAddress();
    }

    public @Nullable InetSocketAddress remoteAddress() {
        return id.remoteAddress();
    }

    /** Waits until the connection ends, or is closed here; false when the time is over before. */
    public boolean awaitDisconnect(Duration timeout) throws InterruptedException {
        Patience patience = new Patience(timeout);
        Duration left = timeout;
        if (!waiting.tryLock()) {
            if (!waiting.tryLock(patience.left().toNanos(), TimeUnit.NANOSECONDS)) {
                return closed;
            }
            left = patience.left();
        }
        try {
            ended = ended || channel.await(left) instanceof ConnectionEvent.Disconnected;
            return ended || closed;
        } finally {
            waiting.unlock();
        }
    }

    /** Tells the other side that the connection ends; what is posted here is flushed. Again, it does nothing. */
    public void disconnect() {
        id.disconnect();
    }

    /** Ends the connection and closes the queue pair. */
    @Override
    public void close() {
        closed = true;
        id.disconnect();
        queuePair.close();
        try {
            if (ownCompletions != null) {
                ownCompletions.close();
            }
        } finally {
            channel.close();
        }
    }

    @Override
    public String toString() {
        return "Connection[" + HostAndPort.of(id.localAddress()) + " -> " + HostAndPort.of(id.remoteAddress()) + "]";
    }
}
