// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionEvent.Disconnected;
import io.verbena.verbs.cm.ConnectionEvent.Established;
import io.verbena.verbs.cm.ConnectionEvent.Rejected;
import io.verbena.verbs.cm.ConnectionEvent.TimewaitExit;
import io.verbena.verbs.cm.ConnectionEvent.Unreachable;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.wire.BigEndian;
import io.verbena.wire.cm.CmAttribute;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Peers whose messages come in any order: each may be lost, late, doubled, or become another one of the same
 * conversation, such as a REJ where an RTU was due. Whatever happens, a program hears of each end of a connection in an
 * order that makes sense, and of one end only; both devices go on.
 */
class AnyMessageInAnyStateTest {
    private static final int ATTEMPTS = 12;
    private static final int ATTRIBUTE = 16;

    private SplittableRandom random;
    private final Map<ConnectionId, List<Class<?>>> stories = new HashMap<>();
    private int seen;

    private void distort(SimFrame frame) {
        CmAttribute attribute = TwoHosts.attribute(frame);
        if (attribute == null) {
            return;
        }
        if (random.nextInt(3) == 0) {
            CmAttribute[] all = CmAttribute.values();
            CmAttribute other = all[random.nextInt(all.length)];
            long at = TwoHosts.mad(frame) + ATTRIBUTE;
            int own = BigEndian.u16(frame.buffer(), at);
            BigEndian.put16(frame.buffer(), at, other.id());
            frame.reseal();
            frame.sendCopy(random.nextLong(400_000_000));
            BigEndian.put16(frame.buffer(), at, own);
            frame.reseal();
        }
        switch (random.nextInt(8)) {
            case 0 -> frame.drop();
            case 1 -> frame.delay(random.nextLong(600_000_000));
            case 2 -> frame.sendCopy(random.nextLong(600_000_000));
            default -> {
                // As it is.
            }
        }
    }

    /** An event that may follow on what the id's program heard before. */
    private void tell(ConnectionEvent event) {
        List<Class<?>> story = stories.computeIfAbsent(event.id(), id -> new ArrayList<>());
        assertThat(story).as("%s once", event).doesNotContain(event.getClass());
        boolean over = story.stream().anyMatch(AnyMessageInAnyStateTest::isEnd);
        assertThat(event instanceof TimewaitExit)
                .as("%s after %s", event, story)
                .isEqualTo(over);
        if (event instanceof Rejected || event instanceof Unreachable) {
            assertThat(story).as("%s of a connection that stood", event).doesNotContain(Established.class);
        }
        story.add(event.getClass());
        seen++;
    }

    private static boolean isEnd(Class<?> kind) {
        return kind == Rejected.class || kind == Unreachable.class || kind == Disconnected.class;
    }

    private void handle(TwoHosts hosts, EventChannel channel) {
        for (ConnectionEvent event = channel.poll(); event != null; event = channel.poll()) {
            tell(event);
            if (event instanceof ConnectionEvent.ConnectRequest request) {
                answer(hosts, request.id());
            } else if (event instanceof Established && random.nextInt(2) == 0) {
                event.id().disconnect();
            } else if (random.nextInt(10) == 0) {
                event.id().close();
            }
        }
    }

    private void answer(TwoHosts hosts, ConnectionId id) {
        try {
            if (random.nextInt(6) == 0) {
                id.reject(io.verbena.verbs.cm.PrivateData.NONE);
            } else {
                id.createQueuePair(QueuePairOptions.rc(hosts.cqB).withQueueDepth(4, 4));
                id.accept(ConnectionParameters.defaults());
            }
        } catch (RdmaException e) {
            assertThat(e.reason()).as(e.getMessage()).isEqualTo(RdmaException.Reason.DISCONNECTED);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19})
    void eachEndIsToldInAnOrderThatMakesSense(long seed) throws InterruptedException {
        random = new SplittableRandom(seed);
        try (TwoHosts hosts = new TwoHosts(seed)) {
            hosts.listen();
            List<ConnectionId> clients = new ArrayList<>();
            for (int i = 0; i < ATTEMPTS; i++) {
                clients.add(hosts.resolved());
            }
            hosts.world.intercept(this::distort);
            clients.forEach(id -> id.connect(ConnectionParameters.defaults().withTimeout(Duration.ofSeconds(4))));
            for (int i = 0; i < 4_000; i++) {
                hosts.world.run(Duration.ofMillis(10));
                handle(hosts, hosts.channelA);
                handle(hosts, hosts.channelB);
            }
            assertThat(seen).isGreaterThan(2 * ATTEMPTS);
            assertThat(clients).allSatisfy(id -> assertThat(stories.get(id)).isNotEmpty());
            hosts.world.intercept(null);
            assertThat(hosts.resolved()).isNotNull();
        }
    }
}
