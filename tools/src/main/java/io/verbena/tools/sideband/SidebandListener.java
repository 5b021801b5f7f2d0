// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.sideband;

import io.verbena.tools.cli.CommandFailure;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/** Waits on all addresses for the one client of a test, over TCP. */
public final class SidebandListener implements AutoCloseable {
    private final ServerSocket server;

    private SidebandListener(ServerSocket server) {
        this.server = server;
    }

    /**
     * Starts to listen.
     *
     * @param port 0 for any free one
     */
    public static SidebandListener listen(int port) {
        ServerSocket server = null;
        try {
            server = new ServerSocket();
            server.setReuseAddress(true);
            server.bind(new InetSocketAddress(port), 1);
            return new SidebandListener(server);
        } catch (IOException e) {
            closeQuietly(server);
            if (e instanceof BindException && String.valueOf(e.getMessage()).contains("in use")) {
                throw new CommandFailure(
                        "cannot listen on TCP port " + port
                                + ": another program does; end it, or choose another port on both sides with -p",
                        e);
            }
            throw new CommandFailure("cannot listen on TCP port " + port + ": " + e.getMessage(), e);
        }
    }

    public int port() {
        return server.getLocalPort();
    }

    /** Waits for a client. */
    public TcpSideband accept() {
        try {
            return new TcpSideband(server.accept());
        } catch (IOException e) {
            throw new CommandFailure("waiting for a client: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    private static void closeQuietly(@org.jspecify.annotations.Nullable ServerSocket server) {
        if (server != null) {
            try {
                server.close();
            } catch (IOException e) {
                // It was never bound.
            }
        }
    }
}
