// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Waits for those who want to connect. Thread-safe: several threads may wait. */
public final class Listener implements AutoCloseable {
    private static final int BACKLOG = 128;

    private final EventChannel channel;
    private final ConnectionId id;
    private volatile boolean closed;

    private Listener(EventChannel channel, ConnectionId id) {
        this.channel = channel;
        this.id = id;
    }

    /** Listens to a port on all devices of this host; 0 takes a free one. */
    public static Listener listen(int port) {
        return listen(new InetSocketAddress(InetAddress.ofLiteral("::"), port));
    }

    /**
     * Listens to an address.
     *
     * @param devices the devices to use; none means those of the address, and all for a wildcard address
     * @throws RdmaException {@code ADDRESS_IN_USE} when somebody listens to the port already, or another process has
     *     the device
     */
    public static Listener listen(InetSocketAddress address, DeviceContext... devices) {
        EventChannel channel = devices.length == 0 ? EventChannel.open() : EventChannel.over(devices);
        try {
            ConnectionId id = channel.createId(PortSpace.TCP);
            id.bind(address);
            id.listen(BACKLOG);
            return new Listener(channel, id);
        } catch (Throwable e) {
            channel.close();
            throw e;
        }
    }

    /** The address, with the port that was taken. */
    public @Nullable InetSocketAddress localAddress() {
        return id.localAddress();
    }

    /**
     * Waits for the next request; null when the time is over.
     *
     * @throws RdmaException {@code CLOSED} when the listener is closed, also while it waits
     */
    public @Nullable ConnectionRequest await(Duration timeout) throws InterruptedException {
        Patience patience = new Patience(timeout);
        for (Duration left = timeout; ; left = patience.left()) {
            ConnectionEvent event = channel.await(left);
            if (event instanceof ConnectionEvent.ConnectRequest request) {
                return new ConnectionRequest(request);
            }
            if (closed) {
                throw new RdmaException(RdmaException.Reason.CLOSED, "the listener is closed");
            }
            if (event == null) {
                return null;
            }
            // Who asked before gave up meanwhile; accept will tell.
        }
    }

    /** Stops listening. Requests that nobody answered are refused; connections stay. */
    @Override
    public void close() {
        closed = true;
        channel.close();
    }
}
