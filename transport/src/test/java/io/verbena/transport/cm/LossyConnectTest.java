// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static io.verbena.transport.cm.CmPair.MS;
import static io.verbena.transport.cm.CmPeer.acceptance;
import static io.verbena.transport.cm.PrivateData.NONE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.cm.CmPeer.Datagram;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two connection managers, each of which connects to the other, over a wire that loses, repeats and reorders: every
 * attempt ends in time, established on both sides or with an error on the caller's, and nobody is told twice. Consumers
 * are slow now and then, refuse, give up, and disconnect on either side or both.
 */
final class LossyConnectTest {
    private static final int CONNECTIONS = 40;
    private static final long PATIENCE = 8_000 * MS;

    private record Flight(long at, long order, CmPeer to, Datagram datagram) {}

    private final class Host extends CmConsumer {
        final CmPeer peer;
        final Map<Conversation, Story> stories = new HashMap<>();
        /** What the consumer will do, and when. */
        final PriorityQueue<Deed> deeds = new PriorityQueue<>();

        Host(long low, long seed) {
            peer = new CmPeer(low, seed);
            peer.manager.listen(CmPeer.SERVICE, CONNECTIONS);
        }

        Story tell(Conversation c, String event) {
            Story story = stories.computeIfAbsent(c, x -> new Story());
            assertThat(story.abandoned)
                    .as("%s of an abandoned conversation", event)
                    .isFalse();
            assertThat(story.events).as("seed %d", seed).doesNotContain(event);
            if (story.isOver()) {
                assertThat(event).isEqualTo("timewait exit");
            }
            story.events.add(event);
            return story;
        }

        void later(Runnable action) {
            long wait = random.nextInt(10) == 0 ? random.nextLong(3000 * MS) : random.nextLong(2 * MS);
            deeds.add(new Deed(now + wait, order++, action));
        }

        @Override
        public void connectRequest(CmListener listener, Conversation c, RequestParameters parameters) {
            tell(c, "request");
            later(() -> {
                if (random.nextInt(8) == 0) {
                    stories.get(c).abandoned |= peer.manager.reject(now, c, 28, NONE);
                } else {
                    peer.manager.accept(now, c, acceptance(nextQueuePair++));
                }
            });
        }

        @Override
        public void replied(Conversation c, AcceptParameters parameters) {
            assertThat(now).isLessThanOrEqualTo(tell(c, "replied").deadline);
            later(() -> {
                if (peer.manager.complete(now, c)) {
                    stories.get(c).events.add("completed");
                    closeSometime(c);
                }
            });
        }

        @Override
        public void established(Conversation c, byte[] data) {
            tell(c, "established");
            closeSometime(c);
        }

        private void closeSometime(Conversation c) {
            if (random.nextInt(3) == 0) {
                later(() -> peer.manager.disconnect(now, c, NONE));
            } else if (random.nextInt(10) == 0) {
                later(() -> abandon(c));
            }
        }

        void abandon(Conversation c) {
            stories.get(c).abandoned = true;
            peer.manager.abandon(now, c);
        }

        @Override
        public void rejected(Conversation c, int reason, byte[] data) {
            tell(c, "rejected");
        }

        @Override
        public void unreachable(Conversation c) {
            tell(c, "unreachable");
        }

        @Override
        public void disconnected(Conversation c) {
            tell(c, "disconnected");
            later(() -> peer.manager.disconnect(now, c, NONE));
        }

        @Override
        public void timewaitExit(Conversation c) {
            assertThat(tell(c, "timewait exit").isOver()).isTrue();
        }

        void connect(Host other) {
            long deadline = now + PATIENCE;
            Conversation c = peer.manager.connect(
                    now,
                    new ConnectParameters(
                            CmPeer.SERVICE,
                            peer.to(other.peer),
                            QueuePairType.RC,
                            CmPeer.endpoint(nextQueuePair++),
                            7,
                            14,
                            Mtu.MTU_1024,
                            NONE,
                            deadline));
            stories.computeIfAbsent(c, x -> new Story()).deadline = deadline;
            if (random.nextInt(15) == 0) {
                later(() -> abandon(c));
            }
        }

        long next() {
            long deadline = peer.manager.nextDeadline();
            return deeds.isEmpty() ? deadline : Math.min(deadline, deeds.peek().at);
        }

        void act() {
            while (!deeds.isEmpty() && deeds.peek().at <= now) {
                deeds.poll().action.run();
            }
            if (peer.manager.nextDeadline() <= now) {
                peer.manager.onTimeout(now);
            }
            peer.manager.pollEvents(this);
        }
    }

    private record Deed(long at, long order, Runnable action) implements Comparable<Deed> {
        @Override
        public int compareTo(Deed other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    private final PriorityQueue<Flight> flights = new PriorityQueue<>(
            (one, other) -> one.at != other.at ? Long.compare(one.at, other.at) : Long.compare(one.order, other.order));
    private SplittableRandom random = new SplittableRandom(0);
    private long seed;
    private long now = 1_000_000_000L;
    private long order;
    private int nextQueuePair = 100;
    private int loss;

    private void transmit(Host from, Host to) {
        for (Datagram datagram : from.peer.send()) {
            for (int copies = random.nextInt(5) == 0 ? 2 : 1; copies > 0; copies--) {
                if (random.nextInt(100) >= loss) {
                    long delay = random.nextInt(5) == 0 ? random.nextLong(400 * MS) : 10_000;
                    flights.add(new Flight(now + delay, order++, to.peer, datagram));
                }
            }
        }
    }

    private void run(Host one, Host two) {
        while (true) {
            one.act();
            two.act();
            transmit(one, two);
            transmit(two, one);
            long next = Math.min(one.next(), two.next());
            next = flights.isEmpty() ? next : Math.min(next, flights.peek().at);
            if (next == Long.MAX_VALUE) {
                return;
            }
            assertThat(next).as("it ends").isLessThan(200_000 * MS);
            now = Math.max(now, next);
            while (!flights.isEmpty() && flights.peek().at <= now) {
                Flight flight = flights.poll();
                Host to = flight.to == one.peer ? one : two;
                to.peer.manager.onMad(now, flight.datagram.back(), flight.datagram.segment(), 0);
                to.peer.manager.pollEvents(to);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 5, 20, 50, 90, 100})
    void everyAttemptEndsOnceAndInTime(int lossPercent) {
        int established = 0;
        int failed = 0;
        for (seed = 0; seed < 60; seed++) {
            random = new SplittableRandom(1000L * lossPercent + seed);
            loss = lossPercent;
            now = 1_000_000_000L;
            Host one = new Host(1, seed);
            Host two = new Host(2, seed + 1_000_000);
            for (int i = 0; i < CONNECTIONS; i++) {
                Host from = random.nextBoolean() ? one : two;
                from.connect(from == one ? two : one);
            }
            run(one, two);
            for (Host host : List.of(one, two)) {
                assertThat(host.peer.manager.timewaits()).isZero();
                if (host.peer.manager.conversations() == 0) {
                    assertThat(host.peer.manager.entries()).isZero();
                }
                for (Map.Entry<Conversation, Story> entry : host.stories.entrySet()) {
                    Story story = entry.getValue();
                    Conversation c = entry.getKey();
                    if (c.state() == ConversationState.ESTABLISHED) {
                        Host other = host == one ? two : one;
                        Story there = other.stories.entrySet().stream()
                                .filter(e -> e.getKey().localId() == c.remoteId())
                                .findFirst()
                                .orElseThrow()
                                .getValue();
                        // A release may have been lost with its repetitions, so only one side knows.
                        assertThat(story.told("completed") || story.told("established"))
                                .isTrue();
                        assertThat(there.told("completed") || there.told("established") || there.isOver())
                                .isTrue();
                        established++;
                    } else {
                        assertThat(story.isOver())
                                .as("seed %d: %s %s", seed, c.state(), story.events)
                                .isTrue();
                        assertThat(c.state()).isEqualTo(ConversationState.CLOSED);
                        failed++;
                    }
                }
            }
        }
        assertThat(established > 1000).isEqualTo(lossPercent <= 50);
        assertThat(failed).isPositive();
    }
}
