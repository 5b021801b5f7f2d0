// SPDX-License-Identifier: Apache-2.0
package io.verbena.examples;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionOptions;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The other end of {@link RdmaServer} or of {@code rdma_server}: sends a message of 16 bytes and receives one
 * (librdmacm/examples/rdma_client.c).
 */
@Command(name = "rdma-client", description = "Send 16 bytes to a server, and receive its answer (rdma_client).")
public final class RdmaClient extends Example {
    @Option(names = "-s", paramLabel = "ADDRESS", description = "The server (default 127.0.0.1).")
    private String server = "127.0.0.1";

    @Option(names = "-p", paramLabel = "PORT", description = "Default " + RdmaServer.PORT + ".")
    private int port = RdmaServer.PORT;

    @Option(names = "-b", paramLabel = "ADDRESS", description = "The local address; the original has no such option.")
    private @Nullable String source;

    @Override
    public Integer call() throws InterruptedException {
        InetSocketAddress target = remote(server, port);
        ConnectionOptions options = ConnectionOptions.defaults();
        if (source != null) {
            options = options.withSource(local(source, 0));
        }
        try (Arena arena = Arena.ofShared();
                Connection connection = Connection.connect(target, options);
                MemoryRegion message = connection
                        .protectionDomain()
                        .register(arena.allocate(RdmaServer.MESSAGE_BYTES), AccessFlag.LOCAL_WRITE)) {
            talk(connection, message);
        }
        say("rdma-client: sent 16 bytes to " + target + " and received the answer");
        return 0;
    }

    /** The server answers only what it received, so that the receive is early enough here. */
    private static void talk(Connection connection, MemoryRegion message) throws InterruptedException {
        connection.queuePair().postReceive(0, message, 0, RdmaServer.MESSAGE_BYTES);
        // Bytes that fit into the request itself need no region.
        connection
                .queuePair()
                .sendRequest()
                .send()
                .inline(message.segment())
                .signaled()
                .post();
        WorkCompletion completion = new WorkCompletion();
        do {
            await(connection.completions(), completion, "the server's answer");
        } while (completion.opcode() != WorkCompletionOpcode.RECV);
    }
}
