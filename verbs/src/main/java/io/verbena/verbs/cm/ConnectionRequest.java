// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import io.verbena.verbs.ProtectionDomain;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Somebody wants to connect. Accept it, reject it, or close it, which rejects it too. */
public final class ConnectionRequest implements AutoCloseable {
    private final ConnectionEvent.ConnectRequest event;
    private boolean answered;

    ConnectionRequest(ConnectionEvent.ConnectRequest event) {
        this.event = event;
    }

    /** What the other side said. */
    public PrivateData privateData() {
        return event.parameters().privateData();
    }

    /** What the other side wants, from the view of this side. */
    public ConnectionParameters parameters() {
        return event.parameters();
    }

    public @Nullable InetSocketAddress remoteAddress() {
        return event.id().remoteAddress();
    }

    /**
     * The domain of the connection to be, so that memory can be registered, and its key told, in the answer. Regions in
     * it may be closed after the connection, but before the listener.
     */
    public ProtectionDomain protectionDomain() {
        return event.id().protectionDomain();
    }

    /** Accepts with default options. */
    public Connection accept() throws InterruptedException {
        return accept(ConnectionOptions.defaults());
    }

    /** Accepts with default options, and tells the other side something. */
    public Connection accept(PrivateData privateData) throws InterruptedException {
        return accept(ConnectionOptions.defaults().withPrivateData(privateData));
    }

    /**
     * Accepts, and waits until the other side is ready.
     *
     * @throws io.verbena.verbs.RdmaException if the other side gave up meanwhile
     */
    public Connection accept(ConnectionOptions options) throws InterruptedException {
        answered = true;
        InetSocketAddress from = event.id().remoteAddress();
        return Connection.accept(event.id(), options, from == null ? new InetSocketAddress(0) : from);
    }

    public void reject(PrivateData privateData) {
        answered = true;
        event.id().reject(privateData);
        event.id().close();
    }

    @Override
    public void close() {
        if (!answered) {
            answered = true;
            event.id().close();
        }
    }
}
