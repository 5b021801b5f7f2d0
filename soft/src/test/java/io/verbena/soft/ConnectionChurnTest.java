// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionEvent.Disconnected;
import io.verbena.verbs.cm.ConnectionEvent.Established;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import java.lang.foreign.Arena;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Connections that come and go leave nothing: the garbage collector finds them all, and the devices can be closed. */
class ConnectionChurnTest {
    private static final int CYCLES = 2_000;
    private static final int COLLECTIONS = 20;

    private final List<WeakReference<Object>> gone = new ArrayList<>();
    private final WorkCompletion completion = new WorkCompletion();

    @Test
    void thousandsOfConnectionsLeaveNothing() throws InterruptedException {
        try (DeviceContext a = TwoDevices.openFree();
                DeviceContext b = TwoDevices.openFree();
                CompletionQueue cqA = a.createCompletionQueue(8);
                CompletionQueue cqB = b.createCompletionQueue(8);
                ProtectionDomain domainA = a.allocateProtectionDomain();
                ProtectionDomain domainB = b.allocateProtectionDomain();
                Arena arena = Arena.ofShared();
                MemoryRegion from = domainA.register(arena.allocate(64));
                MemoryRegion to = domainB.register(arena.allocate(64), AccessFlag.LOCAL_WRITE);
                EventChannel channelA = EventChannel.over(a);
                EventChannel channelB = EventChannel.over(b)) {
            ConnectionId listening = channelB.createId(PortSpace.TCP);
            listening.bind(TwoIds.addressOf(b, 0));
            listening.listen(4);
            for (int i = 0; i < CYCLES; i++) {
                ConnectionId client = channelA.createId(PortSpace.TCP);
                client.resolveAddress(null, listening.localAddress(), TwoIds.LIMIT);
                client.resolveRoute(TwoIds.LIMIT);
                client.createQueuePair(domainA, QueuePairOptions.rc(cqA).withQueueDepth(2, 2));
                client.connect(ConnectionParameters.defaults());
                ConnectionId server =
                        next(channelB, ConnectionEvent.ConnectRequest.class).id();
                server.createQueuePair(domainB, QueuePairOptions.rc(cqB).withQueueDepth(2, 2))
                        .postReceive(1, to, 0, 64);
                server.accept(ConnectionParameters.defaults());
                next(channelA, Established.class);
                client.queuePair().postSend(2, from, 0, 64, SendFlags.SIGNALED);
                next(channelB, Established.class);
                assertThat(cqB.await(completion, TwoIds.LIMIT)).isTrue();
                completion.orThrow();
                assertThat(cqA.await(completion, TwoIds.LIMIT)).isTrue();
                completion.orThrow();
                // Some end in full, some are just closed.
                if (i % 2 == 0) {
                    client.disconnect();
                    next(channelB, Disconnected.class);
                    next(channelA, Disconnected.class);
                }
                client.close();
                server.close();
                gone.add(new WeakReference<>(client));
                gone.add(new WeakReference<>(server));
            }
            for (int i = 0; i < COLLECTIONS && kept() > 0; i++) {
                // The last ones are in timewait, which ends by itself.
                System.gc();
                next(channelA, null);
            }
            assertThat(kept()).as("ids kept of %d", gone.size()).isZero();
        }
    }

    private long kept() {
        return gone.stream().filter(reference -> reference.get() != null).count();
    }

    /** Events that tell of steps and of the end of timewait come in between. */
    private static <T extends ConnectionEvent> @Nullable T next(EventChannel channel, @Nullable Class<T> kind)
            throws InterruptedException {
        ConnectionEvent event;
        do {
            event = channel.await(kind == null ? java.time.Duration.ofMillis(100) : TwoIds.LIMIT);
        } while (event instanceof ConnectionEvent.AddressResolved
                || event instanceof ConnectionEvent.RouteResolved
                || event instanceof ConnectionEvent.TimewaitExit);
        if (kind == null) {
            return null;
        }
        assertThat(event).isInstanceOf(kind);
        return kind.cast(event);
    }
}
