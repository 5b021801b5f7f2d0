// SPDX-License-Identifier: Apache-2.0
package io.verbena.examples;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionRequest;
import io.verbena.verbs.cm.Listener;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The other end of {@link RdmaClient} or of {@code rdma_client}: takes one client, receives a message of 16 bytes,
 * answers with one (librdmacm/examples/rdma_server.c).
 */
@Command(name = "rdma-server", description = "Receive 16 bytes from one client, and answer (rdma_server).")
public final class RdmaServer extends Example {
    static final int PORT = 7471;
    static final int MESSAGE_BYTES = 16;

    @Option(names = "-s", paramLabel = "ADDRESS", description = "The address to listen on (default: all).")
    private @Nullable String address;

    @Option(names = "-p", paramLabel = "PORT", description = "Default " + PORT + ".")
    private int port = PORT;

    @Override
    public Integer call() throws InterruptedException {
        try (Arena arena = Arena.ofShared();
                Listener listener = Listener.listen(local(address, port))) {
            note("listening on " + listener.localAddress());
            // A region of the connection's domain, and a receive, before the client can send.
            try (ConnectionRequest request = next(listener);
                    MemoryRegion message =
                            request.protectionDomain().register(arena.allocate(MESSAGE_BYTES), AccessFlag.LOCAL_WRITE);
                    Connection connection = request.accept(ConnectionOptions.defaults()
                            .withPrepare(made -> made.queuePair().postReceive(0, message, 0, MESSAGE_BYTES)))) {
                answer(connection, message);
                say("rdma-server: received 16 bytes from " + connection.remoteAddress() + " and answered");
            }
        }
        return 0;
    }

    private static ConnectionRequest next(Listener listener) throws InterruptedException {
        ConnectionRequest request = listener.await(LONG);
        return request == null ? next(listener) : request;
    }

    private static void answer(Connection connection, MemoryRegion message) throws InterruptedException {
        WorkCompletion completion = new WorkCompletion();
        await(connection.completions(), completion, "the client's message");
        connection.queuePair().postSend(0, message, 0, MESSAGE_BYTES, SendFlags.SIGNALED);
        await(connection.completions(), completion, "the client to take the answer");
    }
}
