// SPDX-License-Identifier: Apache-2.0
package io.verbena.bench;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.Listener;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Makes, uses and ends connections by address and port, one after the other and many at once, and shows how fast and
 * what the process holds before and after. As many come first and are not counted, as in {@link Churn}; a leak grows
 * on.
 *
 * <p>The heap should be fixed and touched beforehand (the launcher sees to it): then what the process grows by is
 * native.
 */
public final class Connections {
    private static final int CYCLES = 100_000;
    private static final int HELD = 1_000;
    private static final int HELD_ROUNDS = 10;
    private static final int BYTES = 64;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static final String ROW = "%-26s %8s %8s %8s %13s %13s %13s %13s%n";

    private final DeviceContext one = Devices.open("rocev2:127.91.0.12");
    private final DeviceContext other = Devices.open("rocev2:127.91.0.13");
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(2 * BYTES, 64);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Listener listener =
            Listener.listen(new InetSocketAddress(InetAddress.ofLiteral("127.91.0.13"), 7471), other);

    /** A connection and what it sends from or receives into. */
    private record End(Connection connection, MemoryRegion region) implements AutoCloseable {
        @Override
        public void close() {
            region.close();
            connection.close();
        }
    }

    /** Both ends of one connection. */
    private record Pair(End client, End server) {}

    private Connections() {}

    /** With the number of cycles, 100,000 when it is not said. */
    public static void main(String[] arguments) throws Exception {
        new Connections().run(arguments.length > 0 ? Integer.parseInt(arguments[0]) : CYCLES);
    }

    private void run(int cycles) throws Exception {
        System.out.printf(
                ROW,
                "connections",
                "count",
                "seconds",
                "each us",
                "heap before",
                "heap after",
                "RSS before",
                "RSS after");
        measure("one after the other", cycles, 1);
        int held = Math.min(HELD, cycles);
        measure(held + " held at once", held * Math.min(HELD_ROUNDS, cycles / held), held);
        listener.close();
        threads.close();
        one.close();
        other.close();
        arena.close();
    }

    private void measure(String name, int count, int held) throws Exception {
        repeat(count, held);
        Memory before = Memory.settled();
        long start = System.nanoTime();
        repeat(count, held);
        double seconds = (System.nanoTime() - start) / 1e9;
        Memory after = Memory.settled();
        System.out.printf(
                ROW,
                name,
                count,
                String.format("%.1f", seconds),
                String.format("%.0f", seconds * 1e6 / count),
                kib(before.heap()),
                kib(after.heap()),
                kib(before.resident()),
                kib(after.resident()));
    }

    private static String kib(long bytes) {
        return (bytes >> 10) + " KiB";
    }

    private void repeat(int count, int held) throws Exception {
        List<Pair> pairs = new ArrayList<>(held);
        for (int done = 0; done < count; done += held) {
            for (int i = 0; i < held; i++) {
                pairs.add(connect());
            }
            for (Pair pair : pairs) {
                transfer(pair);
            }
            for (Pair pair : pairs) {
                pair.client.connection.disconnect();
            }
            for (Pair pair : pairs) {
                if (!pair.server.connection.awaitDisconnect(LIMIT) || !pair.client.connection.awaitDisconnect(LIMIT)) {
                    throw new IllegalStateException("a connection does not end: " + pair.client.connection);
                }
                pair.client.close();
                pair.server.close();
            }
            pairs.clear();
        }
    }

    private Pair connect() throws Exception {
        ConnectionOptions options = ConnectionOptions.defaults();
        Future<Connection> connecting =
                threads.submit(() -> Connection.connect(listener.localAddress(), options.withDevices(one)));
        var request = listener.await(LIMIT);
        if (request == null) {
            throw new IllegalStateException("nobody asked");
        }
        Connection server = request.accept(options.withDevices(other));
        return new Pair(end(connecting.get()), end(server));
    }

    private End end(Connection connection) {
        ProtectionDomain domain = connection.protectionDomain();
        long offset = domain.context() == one ? 0 : BYTES;
        return new End(connection, domain.register(memory.asSlice(offset, BYTES), AccessFlag.LOCAL_WRITE));
    }

    private static void transfer(Pair pair) throws InterruptedException {
        pair.server.connection.queuePair().postReceive(1, pair.server.region, 0, BYTES);
        pair.client.connection.queuePair().postSend(2, pair.client.region, 0, BYTES, SendFlags.SIGNALED);
        WorkCompletion completion = new WorkCompletion();
        for (End end : List.of(pair.server, pair.client)) {
            if (!end.connection.completions().await(completion, LIMIT)) {
                throw new IllegalStateException("a message does not arrive: " + end.connection);
            }
            WorkCompletion unused = completion.orThrow();
        }
    }
}
