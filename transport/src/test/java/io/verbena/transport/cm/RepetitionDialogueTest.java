// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static io.verbena.transport.cm.CmPair.CLIENT_QP;
import static io.verbena.transport.cm.CmPair.MS;
import static io.verbena.transport.cm.CmPair.SERVER_QP;
import static io.verbena.transport.cm.CmPeer.acceptance;
import static io.verbena.transport.cm.PrivateData.NONE;
import static io.verbena.wire.cm.CmAttribute.DREP;
import static io.verbena.wire.cm.CmAttribute.DREQ;
import static io.verbena.wire.cm.CmAttribute.MRA;
import static io.verbena.wire.cm.CmAttribute.REJ;
import static io.verbena.wire.cm.CmAttribute.REP;
import static io.verbena.wire.cm.CmAttribute.REQ;
import static io.verbena.wire.cm.CmAttribute.RTU;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.cm.CmPeer.Datagram;
import io.verbena.wire.cm.CmRejectReason;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.cm.Rej;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is lost is sent again, and what comes again changes nothing (IBTA volume 1, 12.9.8). */
final class RepetitionDialogueTest {
    private final CmPair pair = new CmPair();
    private final CmPeer client = pair.client;
    private final CmPeer server = pair.server;

    private static void assertSame(Datagram one, Datagram other) {
        assertThat(one.segment().mismatch(other.segment())).isEqualTo(-1);
    }

    private Conversation accepted() {
        Conversation passive = server.requests.getLast();
        assertThat(server.manager.accept(pair.now, passive, acceptance(SERVER_QP)))
                .isTrue();
        return passive;
    }

    @Test
    void requestIsRepeatedUntilTheDeadline() {
        long start = pair.now;
        Conversation active = pair.connect();
        Datagram first = pair.lose(client, REQ).getFirst();
        List<Long> times = new ArrayList<>();
        while (active.state() == ConversationState.REQ_SENT) {
            pair.next(client);
            times.add((pair.now - start) / MS);
            if (active.state() == ConversationState.REQ_SENT) {
                assertSame(pair.lose(client, REQ).getFirst(), first);
            }
        }
        assertThat(times).startsWith(250L, 750L, 1750L, 3750L, 5750L).endsWith(29_750L, 30_000L);
        assertThat(client.events).containsExactly("unreachable");
        Datagram goodbye = pair.lose(client, REJ).getFirst();
        assertThat(Rej.reason(goodbye.segment(), 0)).isEqualTo(CmRejectReason.TIMEOUT.number());
        pair.assertNothingLeft();
    }

    @Test
    void whoGaveUpTellsTheListener() {
        Conversation active = pair.connect();
        pair.pass(client, REQ);
        client.manager.abandon(pair.now, active);
        pair.pass(client, REJ);
        assertThat(server.events).containsExactly("request", "rejected 4");
        assertThat(server.manager.accept(pair.now, server.requests.getFirst(), acceptance(SERVER_QP)))
                .isFalse();
        assertThat(pair.listener.unanswered()).isZero();
        pair.assertNothingLeft();
    }

    @Test
    void aLateAcceptIsRefused() {
        Conversation active = pair.connect();
        pair.pass(client, REQ);
        client.manager.abandon(pair.now, active);
        pair.lose(client, REJ);
        accepted();
        pair.pass(server, REP);
        Datagram rej = pair.pass(client, REJ).getFirst();
        assertThat(Rej.reason(rej.segment(), 0)).isEqualTo(CmRejectReason.INVALID_COMMUNICATION_ID.number());
        assertThat(server.events).containsExactly("request", "rejected 6");
        assertThat(client.events).isEmpty();
    }

    @Test
    void slowConsumerOfARequestAsksForPatience() {
        pair.connect();
        pair.pass(client, REQ);
        pair.next(client);
        pair.pass(client, REQ);
        pair.pass(server, MRA);
        assertThat(client.manager.nextDeadline() - pair.now).isEqualTo(4096L << 19);
        accepted();
        pair.pass(server, REP);
        assertThat(server.events).containsExactly("request");
        assertThat(client.events).containsExactly("replied");
    }

    @Test
    void patienceEndsWithTheDeadline() {
        client.manager.connect(pair.now, client.parameters(server, CLIENT_QP, pair.now + 1000 * MS));
        pair.pass(client, REQ);
        pair.next(client);
        pair.pass(client, REQ);
        pair.pass(server, MRA);
        pair.next(client);
        assertThat(client.events).containsExactly("unreachable");
    }

    /** CONFORMANCE 45. */
    @Test
    void requestThatComesAgainGetsTheSameReply() {
        pair.connect();
        Datagram request = pair.pass(client, REQ).getFirst();
        accepted();
        Datagram reply = pair.lose(server, REP).getFirst();
        server.receive(pair.now, request);
        assertSame(pair.pass(server, REP).getFirst(), reply);
        assertThat(server.events).containsExactly("request");
        assertThat(client.events).containsExactly("replied");
        assertThat(server.manager.counter(CmCounter.DUPLICATES)).isEqualTo(1);
    }

    @Test
    void lateRequestDoesNotDisturbAConnection() {
        pair.connect();
        Datagram request = pair.pass(client, REQ).getFirst();
        Conversation passive = accepted();
        pair.settle();
        server.manager.established(pair.now, passive);
        server.manager.pollEvents(server);
        server.receive(pair.now, request);
        assertThat(server.events).containsExactly("request", "established");
        assertThat(passive.state()).isEqualTo(ConversationState.ESTABLISHED);
        pair.lose(server);
    }

    /** CONFORMANCE 46. */
    @Test
    void replyIsRepeatedAndAnsweredWithTheSameRtu() {
        Conversation active = pair.connect();
        pair.pass(client, REQ);
        accepted();
        pair.lose(server, REP);
        pair.next(server);
        pair.pass(server, REP);
        client.manager.complete(pair.now, active);
        Datagram rtu = pair.lose(client, RTU).getFirst();
        pair.next(server);
        pair.pass(server, REP);
        assertSame(pair.pass(client, RTU).getFirst(), rtu);
        assertThat(client.events).containsExactly("replied");
        assertThat(server.events).containsExactly("request", "established");
        server.receive(pair.now, rtu);
        assertThat(server.events).containsExactly("request", "established");
    }

    @Test
    void slowConsumerOfAReplyAsksForPatience() {
        Conversation active = pair.connect();
        pair.settle();
        accepted();
        pair.pass(server, REP);
        pair.next(server);
        pair.pass(server, REP);
        pair.pass(client, MRA);
        assertThat(server.manager.nextDeadline() - pair.now).isEqualTo(4096L << 19);
        assertThat(client.events).containsExactly("replied");
        client.manager.complete(pair.now, active);
        pair.settle();
        assertThat(server.events).containsExactly("request", "established");
    }

    /** CONFORMANCE 47. */
    @Test
    void dataBeforeALostRtuEstablishes() {
        Conversation active = pair.connect();
        pair.settle();
        Conversation passive = accepted();
        pair.pass(server, REP);
        client.manager.complete(pair.now, active);
        Datagram rtu = pair.lose(client, RTU).getFirst();
        server.manager.dataArrived(CLIENT_QP);
        assertThat(passive.state()).as("another queue pair's").isEqualTo(ConversationState.REP_SENT);
        server.manager.dataArrived(SERVER_QP);
        server.manager.pollEvents(server);
        assertThat(server.events).containsExactly("request", "established");
        assertThat(server.privateData).isEmpty();
        assertThat(server.manager.nextDeadline()).isEqualTo(Long.MAX_VALUE);
        server.receive(pair.now, rtu);
        assertThat(server.manager.established(pair.now, passive)).isFalse();
        server.manager.pollEvents(server);
        assertThat(server.events).containsExactly("request", "established");
    }

    @Test
    void replyThatNobodyAnswersEndsAndIsTakenBack() {
        Conversation active = pair.connect();
        pair.settle();
        accepted();
        pair.pass(server, REP);
        client.manager.complete(pair.now, active);
        pair.lose(client, RTU);
        for (int i = 0; i < PassiveSide.REPEATS_MAX; i++) {
            pair.next(server);
            pair.lose(server, REP);
        }
        pair.next(server);
        assertThat(server.events).containsExactly("request", "unreachable");
        pair.pass(server, REJ);
        assertThat(client.events).containsExactly("replied", "disconnected");
        pair.pass(10_000 * MS);
        assertThat(server.events).containsExactly("request", "unreachable", "timewait exit");
        assertThat(client.events).containsExactly("replied", "disconnected", "timewait exit");
        pair.assertNothingLeft();
    }

    @Test
    void releaseIsRepeatedAndAnsweredAgain() {
        CmPair.Connected connected = pair.connected();
        client.manager.disconnect(pair.now, connected.client(), NONE);
        pair.lose(client, DREQ);
        pair.next(client);
        Datagram release = pair.pass(client, DREQ).getFirst();
        server.manager.disconnect(pair.now, connected.server(), new byte[] {7});
        Datagram answer = pair.lose(server, DREP).getFirst();
        server.receive(pair.now, release);
        assertSame(pair.pass(server, DREP).getFirst(), answer);
        assertThat(client.events).containsExactly("disconnected");
        assertThat(server.events).containsExactly("disconnected");
    }

    /** CONFORMANCE 48: nobody answers, and yet it ends. */
    @Test
    void releaseThatNobodyAnswersEnds() {
        CmPair.Connected connected = pair.connected();
        client.manager.disconnect(pair.now, connected.client(), NONE);
        pair.lose(client, DREQ);
        for (int i = 0; i < Endings.REPEATS_MAX; i++) {
            pair.next(client);
            pair.lose(client, DREQ);
        }
        pair.next(client);
        assertThat(client.events).containsExactly("disconnected");
        pair.next(client);
        assertThat(client.events).containsExactly("disconnected", "timewait exit");
        pair.lose(client);
    }

    @Test
    void releaseThatComesAgainIsAnsweredForASlowConsumer() {
        CmPair.Connected connected = pair.connected();
        client.manager.disconnect(pair.now, connected.client(), NONE);
        pair.pass(client, DREQ);
        pair.next(client);
        pair.pass(client, DREQ);
        pair.pass(server, DREP);
        assertThat(client.events).containsExactly("disconnected");
        assertThat(server.events).containsExactly("disconnected");
        assertThat(server.manager.disconnect(pair.now, connected.server(), NONE))
                .isFalse();
        pair.lose(server);
    }

    @Test
    void bothReleaseAtOnce() {
        CmPair.Connected connected = pair.connected();
        client.manager.disconnect(pair.now, connected.client(), NONE);
        server.manager.disconnect(pair.now, connected.server(), NONE);
        pair.settle();
        pair.pass(10_000 * MS);
        assertThat(client.events).containsExactly("disconnected", "timewait exit");
        assertThat(server.events).containsExactly("disconnected", "timewait exit");
        pair.assertNothingLeft();
    }

    @Test
    void releaseBeforeTheRtuArrived() {
        Conversation active = pair.connect();
        pair.settle();
        accepted();
        pair.settle();
        client.manager.complete(pair.now, active);
        pair.lose(client, RTU);
        client.manager.disconnect(pair.now, active, NONE);
        pair.pass(client, DREQ);
        assertThat(server.events).containsExactly("request", "established", "disconnected");
    }

    /** CONFORMANCE 48. */
    @Test
    void releaseOfAnotherQueuePairIsIgnored() {
        CmPair.Connected connected = pair.connected();
        client.manager.disconnect(pair.now, connected.client(), NONE);
        Datagram release = pair.lose(client, DREQ).getFirst();
        Forge.queuePairOfDreq(release, SERVER_QP + 1);
        server.receive(pair.now, release);
        assertThat(server.events).isEmpty();
        assertThat(server.manager.counter(CmCounter.DROP_WRONG_QUEUE_PAIR)).isEqualTo(1);
        pair.lose(server);
        assertThat(connected.server().state()).isEqualTo(ConversationState.ESTABLISHED);
    }

    @Test
    void releaseOfSomethingForgottenIsAnswered() {
        CmPair.Connected connected = pair.connected();
        client.manager.disconnect(pair.now, connected.client(), NONE);
        Datagram release = pair.lose(client, DREQ).getFirst();
        CmPeer restarted = new CmPeer(server.low, 99);
        restarted.receive(pair.now, release);
        List<Datagram> sent = restarted.send();
        assertThat(sent).extracting(Datagram::attribute).containsExactly(DREP);
        assertThat(Mad.transaction(sent.getFirst().segment(), 0)).isEqualTo(Mad.transaction(release.segment(), 0));
        client.receive(pair.now, sent.getFirst());
        assertThat(client.events).containsExactly("disconnected");
    }
}
