// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static io.verbena.transport.cm.CmPair.CLIENT_QP;
import static io.verbena.transport.cm.CmPair.MS;
import static io.verbena.transport.cm.CmPeer.acceptance;
import static io.verbena.transport.cm.ConversationState.CLOSED;
import static io.verbena.transport.cm.ConversationState.ESTABLISHED;
import static io.verbena.transport.cm.PrivateData.NONE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.cm.CmPeer.Datagram;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A hundred thousand requests that nobody means, and honest clients that connect all the while. */
final class FloodTest {
    private static final int REQUESTS = 100_000;
    private static final int HONEST = 50;
    private static final long PATIENCE = 30_000 * MS;

    /** Where the flood says that it comes from. */
    enum Sources {
        ONE_HOST {
            @Override
            long next(SplittableRandom random) {
                return 1;
            }
        },
        /** Of the network 10.0.0.0/8. */
        MADE_UP {
            @Override
            long next(SplittableRandom random) {
                return 0xffff_0a00_0000L | random.nextInt(1 << 24);
            }
        };

        abstract long next(SplittableRandom random);
    }

    private final CmPair pair = new CmPair();
    private final CmPeer server = pair.server;
    private final SplittableRandom random = new SplittableRandom(1);
    private final Datagram model = model();
    private final List<CmPeer> clients = new ArrayList<>();
    private final List<Conversation> attempts = new ArrayList<>();
    private int queuePair = 1000;

    private Datagram model() {
        pair.client.manager.connect(pair.now, pair.client.parameters(server, CLIENT_QP, pair.now + PATIENCE));
        return pair.client.send().getFirst();
    }

    private void flood(Sources sources) {
        int theirs = 2 + random.nextInt(0xfffff0);
        server.receive(pair.now, Forge.requestFrom(sources.next(random), model, random.nextInt() | 1, theirs));
    }

    private void honestClient() {
        CmPeer client = new CmPeer(100 + clients.size(), clients.size());
        client.onReply = c -> client.manager.complete(pair.now, c);
        clients.add(client);
        attempts.add(client.manager.connect(pair.now, client.parameters(server, 9, pair.now + PATIENCE)));
    }

    private void accept(Conversation c) {
        // What the flood displaced in the meantime cannot be accepted.
        assertThat(server.manager.accept(pair.now, c, acceptance(queuePair++))).isEqualTo(c.state() != CLOSED);
    }

    /** What the honest clients and the server have to say arrives; the network carries it one step. */
    private void exchange() {
        for (CmPeer client : clients) {
            client.timeout(pair.now);
            client.send().forEach(datagram -> server.receive(pair.now, datagram));
        }
        server.timeout(pair.now);
        for (Datagram datagram : server.send()) {
            long to = datagram.path().remoteLow() - 100;
            if (to >= 0 && to < clients.size()) {
                clients.get((int) to).receive(pair.now, datagram);
            }
        }
    }

    private void assertBounded() {
        assertThat(server.manager.conversations()).isLessThanOrEqualTo(CmBounds.DEFAULT.halfOpen() + HONEST);
        assertThat(server.manager.timewaits()).isLessThanOrEqualTo(CmBounds.DEFAULT.timewaits());
        assertThat(server.manager.entries()).isLessThan(8 * CmBounds.DEFAULT.timewaits());
        assertThat(pair.listener.unanswered()).isLessThanOrEqualTo(pair.listener.backlog());
    }

    private void assertAllConnected() {
        assertThat(attempts).hasSize(HONEST).allMatch(c -> c.state() == ESTABLISHED);
        assertThat(clients).allSatisfy(client -> assertThat(client.events).containsExactly("replied"));
    }

    /** Afterwards nothing is left but the honest connections. */
    private void assertItPasses() {
        server.requests.forEach(c -> server.manager.reject(pair.now, c, 28, NONE));
        for (int i = 0; i < 10; i++) {
            pair.pass(60_000 * MS);
            exchange();
        }
        assertThat(server.manager.conversations()).isEqualTo(HONEST);
        assertThat(server.manager.timewaits()).isZero();
    }

    /** The oldest half-open connection makes room, and an honest one is established long before it is that. */
    @ParameterizedTest
    @EnumSource
    void honestClientsConnectAtOnceToAConsumerThatAcceptsEverything(Sources sources) {
        server.onRequest = this::accept;
        for (int i = 0; i < REQUESTS; i++) {
            flood(sources);
            if (i % (REQUESTS / HONEST) == 1000) {
                honestClient();
            }
            if (i % 100 == 0) {
                pair.now += MS;
                exchange();
                assertBounded();
            }
        }
        exchange();
        exchange();
        assertAllConnected();
        assertThat(clients)
                .allSatisfy(client -> assertThat(client.manager.counter(CmCounter.REPETITIONS))
                        .as("it waited")
                        .isZero());
        assertThat(server.manager.counter(CmCounter.DISPLACED)).isGreaterThan(REQUESTS * 9 / 10);
        assertThat(server.manager.counter(CmCounter.DROP_BACKLOG)).isZero();
        assertItPasses();
    }

    /** The consumer accepts one request in a millisecond, in the order in which it heard of them; so many come. */
    private void floodASlowConsumer(Sources sources, int requestsPerMs) {
        ArrayDeque<Conversation> waiting = new ArrayDeque<>();
        server.onRequest = waiting::add;
        for (int i = 0; i < REQUESTS; i++) {
            flood(sources);
            if (i % 200 == 100 && clients.size() < HONEST) {
                honestClient();
            }
            if (i % requestsPerMs == 0) {
                pair.now += MS;
                waiting.removeIf(c -> c.state() == CLOSED);
                if (!waiting.isEmpty()) {
                    accept(waiting.remove());
                }
                exchange();
                assertBounded();
            }
        }
    }

    /** It takes all places, and makes room for each of the others. */
    @Test
    void oneHostDoesNotKeepOthersOutOfTheBacklogOfASlowConsumer() {
        floodASlowConsumer(Sources.ONE_HOST, 20);
        assertAllConnected();
        assertThat(clients)
                .allSatisfy(client -> assertThat(client.manager.counter(CmCounter.REPETITIONS))
                        .as("it waited")
                        .isZero());
        assertThat(server.manager.counter(CmCounter.DISPLACED)).isGreaterThanOrEqualTo(HONEST);
        assertThat(server.manager.counter(CmCounter.DROP_BACKLOG)).isGreaterThan(REQUESTS * 9 / 10);
        assertItPasses();
    }

    /** Nobody can tell them from the honest ones, who get in when they ask again. */
    @Test
    void honestClientsGetTheirTurnAmongMadeUpAddresses() {
        floodASlowConsumer(Sources.MADE_UP, 4);
        assertAllConnected();
        assertThat(server.manager.counter(CmCounter.DROP_BACKLOG)).isGreaterThan(REQUESTS / 2);
        assertItPasses();
    }

    /** Seven requests from one host, and then one each from others: what is displaced comes again and gets in. */
    @Test
    void aHostThatMadeRoomForOthersConnectsWhenItAsksAgain() {
        CmPeer busy = pair.client;
        busy.onReply = c -> busy.manager.complete(pair.now, c);
        List<Conversation> many = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            many.add(busy.manager.connect(pair.now, busy.parameters(server, 2 + i, pair.now + PATIENCE)));
        }
        busy.send().forEach(datagram -> server.receive(pair.now, datagram));
        for (int i = 0; i < 4; i++) {
            honestClient();
            exchange();
        }
        assertThat(server.events).filteredOn("request"::equals).hasSize(11);
        assertThat(server.events).filteredOn("rejected 3"::equals).hasSize(3);
        assertThat(server.manager.counter(CmCounter.DISPLACED)).isEqualTo(3);
        server.requests.stream().filter(c -> c.state() != CLOSED).toList().forEach(this::accept);
        server.onRequest = this::accept;
        pair.settle();
        pair.next(busy);
        pair.settle();
        assertThat(many).allMatch(c -> c.state() == ESTABLISHED);
    }
}
