// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static io.verbena.transport.cm.CmPair.MS;
import static io.verbena.transport.cm.PrivateData.NONE;
import static io.verbena.wire.cm.CmAttribute.SIDR_REP;
import static io.verbena.wire.cm.CmAttribute.SIDR_REQ;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.cm.CmPeer.Datagram;
import io.verbena.wire.BigEndian;
import io.verbena.wire.cm.Mad;
import org.junit.jupiter.api.Test;

/** Asking for the queue pair of a datagram service. */
final class SidrDialogueTest {
    private static final int Q_KEY = 0x01234567;

    private final CmPair pair = new CmPair();
    private final CmPeer client = pair.client;
    private final CmPeer server = pair.server;

    private SidrConversation ask(byte... privateData) {
        return client.manager.sidrRequest(
                pair.now, new SidrParameters(CmPeer.SERVICE, client.to(server), privateData, pair.now + 3000 * MS));
    }

    private boolean answer(byte... privateData) {
        SidrReply reply = new SidrReply(SidrReply.VALID, 0x55, Q_KEY, privateData);
        return server.manager.sidrReply(pair.now, server.questions.getLast(), reply);
    }

    @Test
    void tellsQueuePairAndKey() {
        ask((byte) 1);
        pair.pass(client, SIDR_REQ);
        assertThat(server.events).containsExactly("sidr request");
        assertThat(server.privateData).hasSize(216).startsWith(1);
        assertThat(answer((byte) 2)).isTrue();
        pair.pass(server, SIDR_REP);
        assertThat(client.events).containsExactly("sidr replied 0");
        assertThat(client.sidrReply.queuePair()).isEqualTo(0x55);
        assertThat(client.sidrReply.queueKey()).isEqualTo(Q_KEY);
        assertThat(client.sidrReply.privateData()).hasSize(136).startsWith(2);
        assertThat(answer()).as("twice").isFalse();
        assertThat(pair.listener.unanswered()).isZero();
        pair.pass(10_000 * MS);
        pair.assertNothingLeft();
    }

    @Test
    void repeatsTheQuestionAndTheAnswer() {
        ask();
        Datagram question = pair.lose(client, SIDR_REQ).getFirst();
        pair.next(client);
        pair.pass(client, SIDR_REQ);
        server.receive(pair.now, question);
        assertThat(server.events).containsExactly("sidr request");
        answer();
        pair.lose(server, SIDR_REP);
        server.receive(pair.now, question);
        Datagram reply = pair.pass(server, SIDR_REP).getFirst();
        client.receive(pair.now, reply);
        assertThat(server.events).containsExactly("sidr request");
        assertThat(client.events).containsExactly("sidr replied 0");
    }

    @Test
    void givesUpAtTheDeadline() {
        long end = pair.now + 3000 * MS;
        ask();
        while (client.events.isEmpty()) {
            client.send();
            pair.next(client);
        }
        assertThat(client.events).containsExactly("sidr unreachable");
        assertThat(pair.now).isEqualTo(end);
        assertThat(client.manager.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void refusesWhatNobodyServes() {
        server.manager.close(pair.listener);
        ask();
        pair.settle();
        assertThat(client.events).containsExactly("sidr replied 1");
        assertThat(server.events).isEmpty();
    }

    @Test
    void abandoningRefuses() {
        ask();
        pair.pass(client, SIDR_REQ);
        server.manager.abandon(pair.now, server.questions.getFirst());
        pair.settle();
        assertThat(client.events).containsExactly("sidr replied 2");
    }

    @Test
    void anAbandonedQuestionHearsNothing() {
        SidrConversation asked = ask();
        pair.pass(client, SIDR_REQ);
        client.manager.abandon(pair.now, asked);
        answer();
        pair.settle();
        assertThat(client.events).isEmpty();
        assertThat(client.manager.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void anAnswerFromElsewhereIsDropped() {
        ask();
        pair.pass(client, SIDR_REQ);
        answer();
        Datagram reply = pair.lose(server, SIDR_REP).getFirst();
        client.receive(pair.now, new Datagram(CmPeer.way(3, client.low), reply.segment()));
        assertThat(client.events).isEmpty();
        assertThat(client.manager.counter(CmCounter.DROP_WRONG_ADDRESS)).isEqualTo(1);
    }

    @Test
    void floodOfQuestionsIsBounded() {
        ask();
        Datagram question = client.send().getFirst();
        for (int i = 1; i <= 100_000; i++) {
            Datagram other = Forge.copy(question);
            BigEndian.put32(other.segment(), Mad.HEADER_BYTES, i);
            server.receive(pair.now, other);
        }
        assertThat(server.questions).hasSize(8);
        for (SidrConversation one : server.questions) {
            server.manager.sidrReply(pair.now, one, SidrReply.refused(SidrReply.REJECTED, NONE));
        }
        server.send();
        server.receive(pair.now, question);
        assertThat(server.questions).hasSize(9);
    }
}
