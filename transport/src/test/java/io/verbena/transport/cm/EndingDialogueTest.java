// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static io.verbena.transport.cm.CmPair.CLIENT_QP;
import static io.verbena.transport.cm.CmPair.MS;
import static io.verbena.transport.cm.CmPair.SERVER_QP;
import static io.verbena.transport.cm.CmPeer.acceptance;
import static io.verbena.transport.cm.PrivateData.NONE;
import static io.verbena.wire.cm.CmAttribute.DREP;
import static io.verbena.wire.cm.CmAttribute.DREQ;
import static io.verbena.wire.cm.CmAttribute.REJ;
import static io.verbena.wire.cm.CmAttribute.REP;
import static io.verbena.wire.cm.CmAttribute.REQ;
import static io.verbena.wire.cm.CmAttribute.RTU;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.cm.CmPair.Connected;
import io.verbena.transport.cm.CmPeer.Datagram;
import io.verbena.wire.cm.Rej;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How conversations end other than by a release that both know of. */
final class EndingDialogueTest {
    private final CmPair pair = new CmPair();
    private final CmPeer client = pair.client;
    private final CmPeer server = pair.server;
    /** The client's end of {@link #requested} and {@link #replied}. */
    private Conversation active;

    private static int reason(Datagram rej) {
        return Rej.reason(rej.segment(), 0);
    }

    /** A request that the server's consumer knows of and has not answered. */
    private Conversation requested() {
        active = pair.connect();
        pair.pass(client, REQ);
        return server.requests.getLast();
    }

    /** A reply that the client's consumer knows of and has not answered; returns the server's end. */
    private Conversation replied() {
        Conversation passive = requested();
        server.manager.accept(pair.now, passive, acceptance(SERVER_QP));
        pair.pass(server, REP);
        return passive;
    }

    /** CONFORMANCE 51. */
    @Test
    void refusalReachesThePeerWithReasonAndPrivateData() {
        Conversation passive = requested();
        assertThat(server.manager.reject(pair.now, passive, 28, new byte[] {4, 5, 6}))
                .isTrue();
        Datagram rej = pair.pass(server, REJ).getFirst();
        assertThat(Rej.Fields.read(rej.segment(), 0))
                .extracting(Rej.Fields::localId, Rej.Fields::message)
                .containsExactly(0, Rej.MESSAGE_REQ);
        assertThat(client.events).containsExactly("rejected 28");
        assertThat(client.privateData).hasSize(148).startsWith(4, 5, 6, 0);
        pair.pass(10_000 * MS);
        assertThat(server.events).containsExactly("request");
        pair.assertNothingLeft();
    }

    /** CONFORMANCE 51. */
    @Test
    void answeringTwiceSendsNothing() {
        Conversation rejected = requested();
        server.manager.reject(pair.now, rejected, 28, NONE);
        pair.pass(server, REJ);
        assertThat(server.manager.reject(pair.now, rejected, 28, NONE)).isFalse();
        assertThat(server.manager.accept(pair.now, rejected, acceptance(SERVER_QP)))
                .isFalse();
        Conversation accepted = requested();
        assertThat(server.manager.accept(pair.now, accepted, acceptance(SERVER_QP)))
                .isTrue();
        pair.pass(server, REP);
        assertThat(server.manager.accept(pair.now, accepted, acceptance(SERVER_QP)))
                .isFalse();
        assertThat(server.manager.reject(pair.now, accepted, 28, NONE)).isFalse();
        assertThat(server.manager.disconnect(pair.now, accepted, NONE)).isFalse();
        assertThat(server.manager.complete(pair.now, accepted)).isFalse();
        pair.lose(server);
    }

    @Test
    void requestThatComesAgainIsRefusedAgain() {
        active = pair.connect();
        Datagram request = pair.pass(client, REQ).getFirst();
        server.manager.reject(pair.now, server.requests.getFirst(), 77, NONE);
        pair.lose(server, REJ);
        server.receive(pair.now, request);
        pair.pass(server, REJ);
        assertThat(server.events).containsExactly("request");
        assertThat(client.events).containsExactly("rejected 77");
        assertThat(active.state()).isEqualTo(ConversationState.CLOSED);
    }

    /** Linux asks again after 6.2 seconds, up to 15 times, when the REJ was lost. */
    @Test
    void requestThatComesAgainLateIsStillTheOneThatWasRefused() {
        pair.connect();
        Datagram request = pair.lose(client, REQ).getFirst();
        server.receive(pair.now, request);
        server.manager.reject(pair.now, server.requests.getFirst(), 28, NONE);
        pair.lose(server, REJ);
        for (int i = 0; i < 15; i++) {
            pair.pass(6_210 * MS);
            client.send();
            server.receive(pair.now, request);
            assertThat(reason(pair.lose(server, REJ).getFirst())).isEqualTo(28);
            assertThat(server.events).containsExactly("request");
        }
        pair.pass(10_000 * MS);
        assertThat(server.manager.entries()).isZero();
    }

    /** The memory of what was refused is bounded like that of what was connected. */
    @Test
    void refusedRequestsThatAreRememberedAreFew() {
        server.onRequest = c -> server.manager.reject(pair.now, c, 28, NONE);
        pair.connect();
        Datagram request = pair.lose(client, REQ).getFirst();
        int most = CmBounds.DEFAULT.timewaits();
        for (int i = 1; i <= 2 * most; i++) {
            server.receive(pair.now, Forge.request(request, i, 1 + i));
        }
        assertThat(server.manager.timewaits()).isEqualTo(most);
        assertThat(server.events).hasSize(2 * most);
        pair.pass(10_000 * MS);
        assertThat(server.manager.entries()).isZero();
    }

    /**
     * RTU, all REPs and the REJ are lost: the active side is established alone. What ends it is its own DREQ, which is
     * answered for a forgotten conversation too, or its queue pair, which finds nobody; an idle one hears nothing.
     */
    @Test
    void whoIsEstablishedAloneEndsWithItsOwnRelease() {
        Conversation passive = replied();
        client.manager.complete(pair.now, active);
        pair.lose(client, RTU);
        while (passive.state() == ConversationState.REP_SENT) {
            pair.next(server);
            server.send();
        }
        assertThat(server.events).containsExactly("request", "unreachable");
        pair.pass(10_000 * MS);
        assertThat(server.manager.entries()).isZero();
        assertThat(active.state()).isEqualTo(ConversationState.ESTABLISHED);
        assertThat(client.manager.nextDeadline()).isEqualTo(Long.MAX_VALUE);
        client.manager.disconnect(pair.now, active, NONE);
        pair.pass(client, DREQ);
        pair.pass(server, DREP);
        assertThat(client.events).containsExactly("replied", "disconnected");
        pair.pass(10_000 * MS);
        pair.assertNothingLeft();
    }

    @Test
    void replyCanBeRefused() {
        replied();
        assertThat(client.manager.reject(pair.now, active, 1, new byte[] {8})).isTrue();
        pair.lose(client, REJ);
        assertThat(client.manager.complete(pair.now, active)).isFalse();
        pair.next(server);
        pair.pass(server, REP);
        pair.pass(client, REJ);
        assertThat(server.events).containsExactly("request", "rejected 1");
        assertThat(server.privateData).startsWith(8);
        pair.pass(10_000 * MS);
        assertThat(server.events).containsExactly("request", "rejected 1", "timewait exit");
        assertThat(client.events).containsExactly("replied");
        pair.assertNothingLeft();
    }

    /** USER-REPORTS 1: nobody listens. */
    @Test
    void unknownServiceIsRefusedAtOnce() {
        server.manager.close(pair.listener);
        pair.connect();
        pair.pass(client, REQ);
        pair.pass(server, REJ);
        assertThat(client.events).containsExactly("rejected 8");
        pair.assertNothingLeft();
    }

    @ParameterizedTest
    // Base version, class, class version, method; attributes.
    @CsvSource({
        "0, 2, DROP_WRONG_CLASS",
        "1, 4, DROP_WRONG_CLASS",
        "2, 1, DROP_WRONG_CLASS",
        "3, 0x81, DROP_WRONG_CLASS",
        "16, 1, DROP_UNSUPPORTED",
        "17, 0x0f, DROP_UNSUPPORTED",
        "17, 0x19, DROP_UNSUPPORTED",
        "17, 0x1b, DROP_UNSUPPORTED"
    })
    void whatIsNoMessageIsCounted(int offset, String value, CmCounter counter) {
        pair.connect();
        Datagram request = pair.lose(client, REQ).getFirst();
        server.receive(pair.now, Forge.withByte(request, offset, Integer.decode(value)));
        assertThat(server.events).isEmpty();
        assertThat(server.manager.counter(counter)).isEqualTo(1);
        pair.lose(server);
    }

    /** CONFORMANCE 49: the client was killed and comes back with the same queue pair. */
    @Test
    void connectionOfARestartedPeerIsStale() {
        pair.connected();
        CmPeer restarted = new CmPeer(client.low, 77);
        restarted.manager.connect(pair.now, restarted.parameters(server, CLIENT_QP, pair.now + 30_000 * MS));
        server.receive(pair.now, restarted.send().getFirst());
        assertThat(server.events).containsExactly("disconnected");
        List<Datagram> sent = server.send();
        assertThat(sent).extracting(Datagram::attribute).containsExactlyInAnyOrder(DREQ, REJ);
        sent.forEach(datagram -> restarted.receive(pair.now, datagram));
        assertThat(restarted.events).containsExactly("rejected 10");
        restarted.send().forEach(datagram -> server.receive(pair.now, datagram));
        assertThat(server.manager.timewaits()).isEqualTo(1);
        restarted.manager.connect(pair.now, restarted.parameters(server, CLIENT_QP, pair.now + 30_000 * MS));
        server.receive(pair.now, restarted.send().getFirst());
        assertThat(server.events).containsExactly("disconnected", "request");
        assertThat(server.manager.counter(CmCounter.STALE_CONNECTIONS)).isEqualTo(1);
        pair.pass(10_000 * MS);
        assertThat(server.events).containsExactly("disconnected", "request", "timewait exit");
    }

    @Test
    void halfOpenConnectionOfARestartedPeerIsStale() {
        replied();
        CmPeer restarted = new CmPeer(client.low, 77);
        restarted.manager.connect(pair.now, restarted.parameters(server, CLIENT_QP, pair.now + 30_000 * MS));
        server.receive(pair.now, restarted.send().getFirst());
        assertThat(reason(pair.lose(server, REJ).getFirst())).isEqualTo(10);
        assertThat(server.events).containsExactly("request", "rejected 10");
    }

    @Test
    void requestInTimewaitIsStale() {
        active = pair.connect();
        Datagram request = pair.pass(client, REQ).getFirst();
        Conversation passive = server.requests.getFirst();
        server.manager.accept(pair.now, passive, acceptance(SERVER_QP));
        pair.settle();
        client.manager.complete(pair.now, active);
        pair.settle();
        client.manager.abandon(pair.now, active);
        pair.pass(client, DREQ);
        server.manager.disconnect(pair.now, passive, NONE);
        pair.pass(server, DREP);
        server.receive(pair.now, request);
        assertThat(reason(pair.lose(server, REJ).getFirst())).isEqualTo(10);
        assertThat(server.events).containsExactly("request", "established", "disconnected");
    }

    /** CONFORMANCE 52. */
    @Test
    void connectingBothWaysAtOnceMakesTwoConnections() {
        CmListener other = client.manager.listen(CmPeer.SERVICE, 8);
        assertThat(other).isNotNull();
        for (CmPeer peer : List.of(client, server)) {
            peer.onRequest = c -> peer.manager.accept(pair.now, c, acceptance(0x300));
            peer.onReply = c -> peer.manager.complete(pair.now, c);
        }
        Conversation one = pair.connect();
        Conversation two = server.manager.connect(pair.now, server.parameters(client, 0x400, pair.now + 1000 * MS));
        pair.settle();
        assertThat(client.events).containsExactlyInAnyOrder("request", "replied", "established");
        assertThat(server.events).containsExactlyInAnyOrder("request", "replied", "established");
        assertThat(one.state()).isEqualTo(ConversationState.ESTABLISHED);
        assertThat(two.state()).isEqualTo(ConversationState.ESTABLISHED);
    }

    @Test
    void abandonedRequestIsRefused() {
        server.manager.abandon(pair.now, requested());
        pair.pass(server, REJ);
        assertThat(client.events).containsExactly("rejected 28");
    }

    @Test
    void abandonedReplyIsTakenBack() {
        server.manager.abandon(pair.now, replied());
        pair.pass(server, REJ);
        assertThat(client.events).containsExactly("replied", "rejected 28");
        pair.pass(10_000 * MS);
        assertThat(client.events).containsExactly("replied", "rejected 28", "timewait exit");
        assertThat(server.events).containsExactly("request");
        pair.assertNothingLeft();
    }

    @Test
    void abandonedConnectionIsReleasedWithoutItsConsumer() {
        Connected connected = pair.connected();
        client.manager.abandon(pair.now, connected.client());
        pair.lose(client, DREQ);
        pair.next(client);
        pair.pass(client, DREQ);
        server.manager.abandon(pair.now, connected.server());
        pair.pass(server, DREP);
        assertThat(server.events).containsExactly("disconnected");
        assertThat(client.manager.holdsQueuePair(CLIENT_QP)).isTrue();
        pair.pass(10_000 * MS);
        assertThat(server.events).containsExactly("disconnected");
        assertThat(client.events).isEmpty();
        pair.assertNothingLeft();
        client.manager.abandon(pair.now, connected.client());
        pair.lose(client);
    }

    @Test
    void refusalOfAnEstablishedConnectionEndsIt() {
        Conversation passive = replied();
        client.manager.complete(pair.now, active);
        pair.lose(client, RTU);
        server.manager.abandon(pair.now, passive);
        Datagram rej = pair.pass(server, REJ).getFirst();
        assertThat(client.events).containsExactly("replied", "disconnected");
        client.receive(pair.now, rej);
        assertThat(client.events).containsExactly("replied", "disconnected");
    }

    @Test
    void refusalOfAReleaseEndsIt() {
        Conversation passive = replied();
        client.manager.complete(pair.now, active);
        pair.lose(client, RTU);
        client.manager.disconnect(pair.now, active, NONE);
        pair.lose(client, DREQ);
        server.manager.abandon(pair.now, passive);
        pair.pass(server, REJ);
        assertThat(client.events).containsExactly("replied", "disconnected");
        assertThat(active.state()).isEqualTo(ConversationState.TIMEWAIT);
    }

    @Test
    void nobodyAtTheAddressEndsWhatWaitsForAnAnswer() {
        active = pair.connect();
        client.manager.sidrRequest(pair.now, new SidrParameters(1, client.to(server), NONE, pair.now + 9000 * MS));
        for (int repeats = 0; repeats < Endings.REPEATS_TO_ABSENT; repeats++) {
            client.send();
            client.manager.onUnreachable(pair.now, CmPeer.HIGH, server.low);
            client.manager.pollEvents(client);
            assertThat(client.events)
                    .as("the other program may just be starting")
                    .isEmpty();
            pair.now += 1000 * MS;
            client.manager.onTimeout(pair.now);
        }
        client.manager.onUnreachable(pair.now, CmPeer.HIGH, server.low + 1);
        assertThat(active.state()).isEqualTo(ConversationState.REQ_SENT);
        client.manager.onUnreachable(pair.now, CmPeer.HIGH, server.low);
        client.manager.pollEvents(client);
        assertThat(client.events).containsExactlyInAnyOrder("unreachable", "sidr unreachable");
        client.send();
        pair.assertNothingLeft();
        client.events.clear();
        Connected connected = pair.connected();
        client.manager.onUnreachable(pair.now, CmPeer.HIGH, server.low);
        assertThat(connected.client().state()).isEqualTo(ConversationState.ESTABLISHED);
        client.manager.disconnect(pair.now, connected.client(), NONE);
        client.manager.onUnreachable(pair.now, CmPeer.HIGH, server.low);
        client.manager.pollEvents(client);
        assertThat(client.events).containsExactly("disconnected");
    }

    @Test
    void messagesFromElsewhereAreDropped() {
        Connected connected = pair.connected();
        CmPeer stranger = new CmPeer(3, 1);
        server.manager.disconnect(pair.now, connected.server(), NONE);
        Datagram release = pair.lose(server, DREQ).getFirst();
        client.receive(pair.now, new Datagram(stranger.to(client), release.segment()));
        assertThat(client.events).isEmpty();
        assertThat(client.manager.counter(CmCounter.DROP_WRONG_ADDRESS)).isEqualTo(1);
        pair.lose(client);
    }

    @ParameterizedTest
    // 4.096 us times 2 to this power, within the bounds of the settings.
    @CsvSource({"0, 50_000_000", "14, 67_108_864", "19, 2_147_483_648", "31, 5_000_000_000"})
    void timewaitIsAsLongAsAnAcknowledgementMayTake(int ackTimeout, String length) {
        ConnectParameters like = client.parameters(server, CLIENT_QP, pair.now + 30_000 * MS);
        active = client.manager.connect(
                pair.now,
                new ConnectParameters(
                        like.serviceId(),
                        like.path(),
                        like.type(),
                        like.endpoint(),
                        like.retryCount(),
                        ackTimeout,
                        like.pathMtu(),
                        NONE,
                        like.deadline()));
        server.onRequest = c -> server.manager.accept(pair.now, c, acceptance(SERVER_QP));
        client.onReply = c -> client.manager.complete(pair.now, c);
        pair.settle();
        server.onDisconnected = c -> server.manager.disconnect(pair.now, c, NONE);
        client.manager.disconnect(pair.now, active, NONE);
        pair.settle();
        long nanoseconds = Long.parseLong(length.replace("_", ""));
        assertThat(client.manager.nextDeadline() - pair.now).isEqualTo(nanoseconds);
        assertThat(server.manager.nextDeadline() - pair.now).isEqualTo(nanoseconds);
        pair.pass(nanoseconds - 1);
        assertThat(client.manager.holdsQueuePair(CLIENT_QP)).isTrue();
        pair.pass(1);
        assertThat(client.events).endsWith("timewait exit");
        assertThat(server.events).endsWith("timewait exit");
        pair.assertNothingLeft();
    }

    /** CONFORMANCE 50. */
    @Test
    void manyConnectionsLeaveNothingBehind() {
        server.onRequest = c -> server.manager.accept(pair.now, c, acceptance(SERVER_QP));
        client.onReply = c -> client.manager.complete(pair.now, c);
        server.onDisconnected = c -> server.manager.disconnect(pair.now, c, NONE);
        for (int i = 0; i < 2000; i++) {
            active = pair.connect();
            pair.settle();
            assertThat(active.state()).isEqualTo(ConversationState.ESTABLISHED);
            client.manager.disconnect(pair.now, active, NONE);
            pair.settle();
            pair.pass(MS);
        }
        assertThat(client.manager.timewaits()).isBetween(60, 70);
        pair.pass(10_000 * MS);
        assertThat(client.events).hasSize(6000);
        assertThat(server.events).hasSize(8000);
        pair.assertNothingLeft();
    }
}
