// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import io.verbena.wire.cm.CmAttribute;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A client and a server in a world, and what they need for a connection. Closing it fails when something is left. */
final class TwoHosts implements AutoCloseable {
    static final Duration LONG = Duration.ofMinutes(10);
    static final InetSocketAddress SERVICE = new InetSocketAddress("10.0.0.2", 4000);

    final World world;
    final DeviceContext a;
    final DeviceContext b;
    final EventChannel channelA;
    final EventChannel channelB;
    final CompletionQueue cqA;
    final CompletionQueue cqB;
    ConnectionId client;
    ConnectionId server;
    private final Arena arena = Arena.ofShared();
    private MemoryRegion source;
    private MemoryRegion target;

    TwoHosts(long seed) {
        world = World.builder().seed(seed).build();
        a = world.openDevice("10.0.0.1");
        b = world.openDevice("10.0.0.2");
        channelA = EventChannel.over(a);
        channelB = EventChannel.over(b);
        cqA = a.createCompletionQueue(64);
        cqB = b.createCompletionQueue(64);
    }

    /** What a frame says, if it is of connection managers. */
    static @Nullable CmAttribute attribute(SimFrame frame) {
        if (frame.opcode() != Opcode.UD_SEND_ONLY || frame.destinationQp() != Mad.QUEUE_PAIR) {
            return null;
        }
        return CmAttribute.of(Mad.attribute(frame.buffer(), mad(frame)));
    }

    /** Where its datagram begins. */
    static long mad(SimFrame frame) {
        return frame.offset() + Opcode.UD_SEND_ONLY.headerBytes();
    }

    static <T extends ConnectionEvent> T expect(EventChannel channel, Class<T> kind) throws InterruptedException {
        ConnectionEvent event = channel.await(LONG);
        assertThat(event).isInstanceOf(kind);
        return kind.cast(event);
    }

    void listen() {
        ConnectionId listening = channelB.createId(PortSpace.TCP);
        listening.bind(SERVICE);
        listening.listen(64);
    }

    /** An id that knows its way to the service, with a queue pair. */
    ConnectionId resolved() throws InterruptedException {
        ConnectionId id = channelA.createId(PortSpace.TCP);
        id.resolveAddress(null, SERVICE, LONG);
        expect(channelA, ConnectionEvent.AddressResolved.class);
        id.resolveRoute(LONG);
        expect(channelA, ConnectionEvent.RouteResolved.class);
        id.createQueuePair(QueuePairOptions.rc(cqA).withQueueDepth(8, 8));
        return id;
    }

    /** The client is established, and the server has accepted. */
    void accepted(ConnectionParameters asked, ConnectionParameters answer) throws InterruptedException {
        listen();
        client = resolved();
        client.connect(asked);
        server = expect(channelB, ConnectionEvent.ConnectRequest.class).id();
        server.createQueuePair(QueuePairOptions.rc(cqB).withQueueDepth(8, 8));
        source = client.protectionDomain().register(arena.allocate(8), AccessFlag.LOCAL_WRITE);
        target = server.protectionDomain().register(arena.allocate(8), AccessFlag.LOCAL_WRITE);
        server.accept(answer);
        expect(channelA, ConnectionEvent.Established.class);
    }

    /** Both are established. */
    void connected(ConnectionParameters asked, ConnectionParameters answer) throws InterruptedException {
        accepted(asked, answer);
        expect(channelB, ConnectionEvent.Established.class);
    }

    void receive() {
        server.queuePair().postReceive(1, target, 0, 8);
    }

    void send() {
        client.queuePair().postSend(2, source, 0, 8, SendFlags.SIGNALED);
    }

    WorkCompletion completion(CompletionQueue queue) throws InterruptedException {
        WorkCompletion completion = new WorkCompletion();
        assertThat(queue.await(completion, LONG)).as("a completion in time").isTrue();
        return completion;
    }

    void expectArrival() throws InterruptedException {
        assertThat(completion(cqB).orThrow().wrId()).isEqualTo(1);
        assertThat(completion(cqA).orThrow().wrId()).isEqualTo(2);
    }

    void expectNothingMore() {
        world.run(Duration.ofMinutes(2));
        assertThat(channelA.poll()).isNull();
        assertThat(channelB.poll()).isNull();
    }

    /** How much virtual time something takes. */
    Duration time(Step step) throws InterruptedException {
        long start = world.now();
        step.run();
        return Duration.ofNanos(world.now() - start);
    }

    interface Step {
        void run() throws InterruptedException;
    }

    /** Closes what the client has, but its device. */
    void closeClient() {
        channelA.close();
        if (source != null) {
            source.close();
        }
        cqA.close();
    }

    @Override
    public void close() {
        closeClient();
        channelB.close();
        if (target != null) {
            target.close();
        }
        cqB.close();
        a.close();
        b.close();
        world.close();
        arena.close();
    }
}
