// SPDX-License-Identifier: Apache-2.0
package io.verbena.examples;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Datagrams: the client learns the server's queue pairs by address and port (SIDR) and sends its messages; the server
 * learns from them where the client is, and answers with as many (librdmacm/examples/udaddy.c).
 */
@Command(name = "udaddy", description = "Find a datagram service by its port, and exchange messages (udaddy).")
public final class Udaddy extends Example {
    private static final int PORT = 7174;
    private static final int DEVICE_PORT = 1;
    private static final Duration RESOLVE_TIMEOUT = Duration.ofSeconds(2);

    @Option(names = "-s", paramLabel = "ADDRESS", description = "The server; without it this side is the server.")
    private @Nullable String server;

    @Option(names = "-b", paramLabel = "ADDRESS", description = "The local address.")
    private @Nullable String bind;

    @Option(names = "-c", paramLabel = "CONNECTIONS", description = "Queue pairs, the same at both ends (default 1).")
    private int connections = 1;

    @Option(names = "-C", paramLabel = "COUNT", description = "Messages each way, of each queue pair (default 10).")
    private int count = 10;

    @Option(names = "-S", paramLabel = "SIZE", description = "Bytes of a message, at most the MTU (default 100).")
    private int size = 100;

    private final Map<ConnectionId, Node> nodes = new LinkedHashMap<>();
    private final WorkCompletion completion = new WorkCompletion();

    /**
     * One queue pair, and where its peer is. The memory starts with the room that each datagram needs for its route.
     */
    private static final class Node implements AutoCloseable {
        private final ConnectionId id;
        private final QueuePair queuePair;
        private final CompletionQueue completions;
        private final MemoryRegion memory;
        private @Nullable AddressHandle peer;
        private int peerQp;
        private int peerQkey;

        Node(ConnectionId id, int depth, MemoryRegion memory) {
            this.id = id;
            this.memory = memory;
            completions = id.context().createCompletionQueue(2 * depth);
            queuePair = id.createQueuePair(QueuePairOptions.ud(completions)
                    .withQueueDepth(depth, depth)
                    .withMaxSge(1, 1)
                    .withMaxInlineData(0));
        }

        void peer(AddressVector address, int qpNumber, int qkey) {
            peer = memory.protectionDomain().createAddressHandle(address);
            peerQp = qpNumber;
            peerQkey = qkey;
        }

        @Override
        public void close() {
            id.close();
            completions.close();
            memory.close();
            if (peer != null) {
                peer.close();
            }
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        require(connections >= 1, "-c takes 1 or more connections, not " + connections);
        require(count >= 0, "-C takes a number, not " + count);
        require(size >= 0, "-S takes a number of bytes, not " + size);
        count = size == 0 ? 0 : count;
        try (Arena arena = Arena.ofShared();
                EventChannel channel = EventChannel.open()) {
            try {
                if (server == null) {
                    serve(channel, arena);
                } else {
                    ask(channel, arena, remote(server, PORT));
                }
            } finally {
                nodes.values().forEach(Node::close);
            }
        }
        say("udaddy: " + connections + " queue pairs, " + count + " messages of " + size + " bytes each way: complete");
        return 0;
    }

    private void serve(EventChannel channel, Arena arena) throws InterruptedException {
        try (ConnectionId listener = channel.createId(PortSpace.UDP)) {
            listener.bind(local(bind, PORT));
            listener.listen(connections);
            note("listening on " + listener.localAddress());
            // Who asks once more, because the answer was lost, gets the same answer without an event.
            while (nodes.size() < connections) {
                if (next(channel) instanceof ConnectionEvent.ConnectRequest request) {
                    prepare(request.id(), arena);
                    request.id().accept(ConnectionParameters.defaults());
                }
            }
            for (Node node : nodes.values()) {
                take(node, WorkCompletionOpcode.RECV, "the client's messages");
            }
            for (Node node : nodes.values()) {
                sendAll(node);
                take(node, WorkCompletionOpcode.SEND, "the answers to leave");
            }
        }
    }

    private void ask(EventChannel channel, Arena arena, InetSocketAddress target) throws InterruptedException {
        InetSocketAddress source = bind == null ? null : local(bind, 0);
        for (int i = 0; i < connections; i++) {
            channel.createId(PortSpace.UDP).resolveAddress(source, target, RESOLVE_TIMEOUT);
        }
        int resolved = 0;
        while (resolved < connections) {
            ConnectionEvent event = next(channel);
            switch (event) {
                case ConnectionEvent.AddressResolved known -> known.id().resolveRoute(RESOLVE_TIMEOUT);
                case ConnectionEvent.RouteResolved known -> {
                    prepare(known.id(), arena);
                    known.id().connect(ConnectionParameters.defaults());
                }
                case ConnectionEvent.DatagramResolved known -> {
                    Node node = Objects.requireNonNull(nodes.get(known.id()), "was prepared");
                    node.peer(known.address(), known.qpNumber(), known.qkey());
                    resolved++;
                }
                default -> throw failure(event);
            }
        }
        nodes.values().forEach(this::sendAll);
        for (Node node : nodes.values()) {
            take(node, WorkCompletionOpcode.RECV, "the server's answers");
        }
    }

    /** The queue pair, with receives for all messages before the first can come. */
    private void prepare(ConnectionId id, Arena arena) {
        int mtu = id.context().queryPort(DEVICE_PORT).activeMtu().bytes();
        require(size <= mtu, "-S " + size + " is more than a datagram carries: the MTU is " + mtu);
        MemoryRegion memory = id.protectionDomain()
                .register(arena.allocate(GlobalRouteHeader.BYTES + size, Long.BYTES), AccessFlag.LOCAL_WRITE);
        Node node = new Node(id, Math.max(count, 1), memory);
        nodes.put(id, node);
        for (int i = 0; i < count; i++) {
            node.queuePair.postReceive(i, memory, 0, GlobalRouteHeader.BYTES + size);
        }
    }

    /** Each message names the queue pair that it comes from. */
    private void sendAll(Node node) {
        AddressHandle peer = node.peer;
        for (int i = 0; peer != null && i < count; i++) {
            node.queuePair
                    .sendRequest()
                    .sendWithImmediate(node.queuePair.qpNumber())
                    .sge(node.memory, GlobalRouteHeader.BYTES, size)
                    .to(peer, node.peerQp, node.peerQkey)
                    .signaled()
                    .post();
        }
    }

    /** Waits for all sends or for all receives; both end in the same queue. */
    private void take(Node node, WorkCompletionOpcode what, String why) throws InterruptedException {
        for (int taken = 0; taken < count; ) {
            await(node.completions, completion, why);
            if (completion.opcode() == WorkCompletionOpcode.RECV && node.peer == null) {
                node.peer(
                        GlobalRouteHeader.read(node.memory.segment(), 0).wayBack(),
                        completion.immediate(),
                        node.queuePair.query().qkey());
            }
            if (completion.opcode() == what) {
                taken++;
            }
        }
    }
}
