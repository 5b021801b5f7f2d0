// SPDX-License-Identifier: Apache-2.0
package io.verbena.examples;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import io.verbena.verbs.cm.PrivateData;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Makes a number of connections in steps, by events. When all stand, the server sends its messages, the client answers
 * with as many, and the server ends the connections (librdmacm/examples/cmatose.c).
 */
@Command(name = "ucmatose", description = "Make connections step by step, and exchange messages (ucmatose).")
public final class Ucmatose extends Example {
    private static final int PORT = 7471;
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);

    @Option(names = "-s", paramLabel = "ADDRESS", description = "The server; without it this side is the server.")
    private @Nullable String server;

    @Option(names = "-b", paramLabel = "ADDRESS", description = "The local address.")
    private @Nullable String bind;

    @Option(names = "-c", paramLabel = "CONNECTIONS", description = "The same at both ends (default 1).")
    private int connections = 1;

    @Option(names = "-C", paramLabel = "COUNT", description = "Messages each way, of each connection (default 10).")
    private int count = 10;

    @Option(names = "-S", paramLabel = "SIZE", description = "Bytes of a message (default 100).")
    private int size = 100;

    @Option(names = "-p", paramLabel = "PORT", description = "Default " + PORT + ".")
    private int port = PORT;

    @Option(names = "-a", paramLabel = "TIMEOUT", description = "For acknowledgements: 4.096 us times 2 to this power.")
    private int ackTimeout = ConnectionParameters.defaults().ackTimeout();

    private final List<Node> nodes = new ArrayList<>();
    private final WorkCompletion completion = new WorkCompletion();

    /** One connection, with a completion queue for each direction and the memory of its messages. */
    private record Node(
            ConnectionId id, QueuePair queuePair, CompletionQueue sends, CompletionQueue receives, MemoryRegion message)
            implements AutoCloseable {
        @Override
        public void close() {
            id.close();
            sends.close();
            receives.close();
            message.close();
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        require(connections >= 1, "-c takes 1 or more connections, not " + connections);
        require(count >= 0, "-C takes a number, not " + count);
        require(size >= 0, "-S takes a number of bytes, not " + size);
        require(ackTimeout >= 0 && ackTimeout <= 31, "-a takes 0 to 31, not " + ackTimeout);
        count = size == 0 ? 0 : count;
        try (Arena arena = Arena.ofShared();
                EventChannel channel = EventChannel.open()) {
            try {
                if (server == null) {
                    serve(channel, arena);
                } else {
                    connect(channel, arena, remote(server, port));
                }
            } finally {
                nodes.forEach(Node::close);
            }
        }
        say("ucmatose: " + connections + " connections, " + count + " messages of " + size
                + " bytes each way: complete");
        return 0;
    }

    private void serve(EventChannel channel, Arena arena) throws InterruptedException {
        try (ConnectionId listener = channel.createId(PortSpace.TCP)) {
            listener.bind(local(bind, port));
            listener.listen(connections);
            note("listening on " + listener.localAddress());
            awaitConnections(channel, arena);
            sendAll();
            for (Node node : nodes) {
                take(node, node.sends, "the client to take the messages");
                take(node, node.receives, "the client's messages");
            }
            nodes.forEach(node -> node.id.disconnect());
            awaitEnds(channel);
        }
    }

    private void connect(EventChannel channel, Arena arena, InetSocketAddress target) throws InterruptedException {
        InetSocketAddress source = bind == null ? null : local(bind, 0);
        for (int i = 0; i < connections; i++) {
            channel.createId(PortSpace.TCP).resolveAddress(source, target, RESOLVE_TIMEOUT);
        }
        awaitConnections(channel, arena);
        for (Node node : nodes) {
            take(node, node.receives, "the server's messages");
        }
        sendAll();
        awaitEnds(channel);
    }

    /** Takes each connection a step further when an event tells that it can go on. */
    private void awaitConnections(EventChannel channel, Arena arena) throws InterruptedException {
        ConnectionParameters parameters = ConnectionParameters.defaults()
                .withReads(1, 1)
                .withRetries(5, 7)
                .withAckTimeout(ackTimeout);
        int connected = 0;
        while (connected < connections) {
            ConnectionEvent event = next(channel);
            switch (event) {
                case ConnectionEvent.AddressResolved resolved -> resolved.id().resolveRoute(RESOLVE_TIMEOUT);
                case ConnectionEvent.RouteResolved resolved ->
                    prepare(resolved.id(), arena).connect(parameters);
                case ConnectionEvent.ConnectRequest request
                when nodes.size() == connections -> request.id().reject(PrivateData.NONE);
                case ConnectionEvent.ConnectRequest request ->
                    prepare(request.id(), arena).accept(parameters);
                case ConnectionEvent.Established established -> connected++;
                default -> throw failure(event);
            }
        }
    }

    /** The queue pair, with receives for all messages before the first can come. */
    private ConnectionId prepare(ConnectionId id, Arena arena) {
        int depth = Math.max(count, 1);
        CompletionQueue sends = id.context().createCompletionQueue(depth);
        CompletionQueue receives = id.context().createCompletionQueue(depth);
        QueuePair queuePair = id.createQueuePair(QueuePairOptions.rc(sends)
                .withReceiveCompletionQueue(receives)
                .withQueueDepth(depth, depth)
                .withMaxSge(1, 1)
                .withMaxInlineData(0));
        MemoryRegion message =
                id.protectionDomain().register(arena.allocate(Math.max(size, 1)), AccessFlag.LOCAL_WRITE);
        nodes.add(new Node(id, queuePair, sends, receives, message));
        for (int i = 0; i < count; i++) {
            queuePair.postReceive(i, message, 0, size);
        }
        return id;
    }

    private void sendAll() {
        for (Node node : nodes) {
            for (int i = 0; i < count; i++) {
                node.queuePair.postSend(i, node.message, 0, size, SendFlags.SIGNALED);
            }
        }
    }

    private void take(Node node, CompletionQueue queue, String what) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            await(queue, completion, what + " of connection " + nodes.indexOf(node));
        }
    }

    private void awaitEnds(EventChannel channel) throws InterruptedException {
        int ended = 0;
        while (ended < connections) {
            if (next(channel) instanceof ConnectionEvent.Disconnected) {
                ended++;
            }
        }
    }
}
