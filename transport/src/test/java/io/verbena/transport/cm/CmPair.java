// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.cm.CmPeer.Datagram;
import io.verbena.verbs.Mtu;
import io.verbena.wire.cm.CmAttribute;
import java.util.ArrayList;
import java.util.List;

/** A client and a server, and a wire between them on which a test lets datagrams pass or not. */
final class CmPair {
    static final long MS = 1_000_000L;
    static final int CLIENT_QP = 0x111;
    static final int SERVER_QP = 0x222;

    final CmPeer client;
    final CmPeer server;
    final CmListener listener;
    long now = 5_000_000_000L;

    CmPair() {
        this(CmBounds.DEFAULT);
    }

    CmPair(CmBounds bounds) {
        client = new CmPeer(1, 11, Mtu.MTU_4096, bounds);
        server = new CmPeer(2, 22, Mtu.MTU_4096, bounds);
        listener = server.manager.listen(CmPeer.SERVICE, 8);
    }

    /** The connection of one test, with 30 seconds to succeed. */
    Conversation connect(byte... privateData) {
        return client.manager.connect(now, client.parameters(server, CLIENT_QP, now + 30_000 * MS, privateData));
    }

    /** What the peer sends now is this, and arrives. */
    List<Datagram> pass(CmPeer from, CmAttribute... expected) {
        List<Datagram> sent = lose(from, expected);
        sent.forEach(datagram -> other(from).receive(now, datagram));
        return sent;
    }

    /** What the peer sends now is this, and is lost. */
    List<Datagram> lose(CmPeer from, CmAttribute... expected) {
        List<Datagram> sent = from.send();
        assertThat(sent).extracting(Datagram::attribute).containsExactly(expected);
        return sent;
    }

    CmPeer other(CmPeer peer) {
        return peer == client ? server : client;
    }

    /** Lets everything arrive until nobody has anything to say. */
    void settle() {
        for (int i = 0; i < 20; i++) {
            List<Datagram> sent = new ArrayList<>(client.send());
            sent.forEach(datagram -> server.receive(now, datagram));
            List<Datagram> answers = server.send();
            answers.forEach(datagram -> client.receive(now, datagram));
            if (sent.isEmpty() && answers.isEmpty()) {
                return;
            }
        }
        throw new AssertionError("they talk for ever");
    }

    void pass(long time) {
        now += time;
        client.timeout(now);
        server.timeout(now);
    }

    /** Goes on to the time that one of them waits for, who acts on it; the other one does not. */
    void next(CmPeer waiting) {
        assertThat(waiting.manager.nextDeadline()).isNotEqualTo(Long.MAX_VALUE);
        now = waiting.manager.nextDeadline();
        waiting.timeout(now);
    }

    /** Nothing is remembered on either side, and nothing waited for. */
    void assertNothingLeft() {
        for (CmPeer peer : List.of(client, server)) {
            assertThat(peer.manager.conversations()).isZero();
            assertThat(peer.manager.entries()).isZero();
            assertThat(peer.manager.nextDeadline()).isEqualTo(Long.MAX_VALUE);
            assertThat(peer.manager.wantsToSend()).isFalse();
            assertThat(peer.manager.holdsQueuePair(CLIENT_QP)).isFalse();
            assertThat(peer.manager.holdsQueuePair(SERVER_QP)).isFalse();
        }
    }

    /** A connection between them, as both consumers see it. */
    record Connected(Conversation client, Conversation server) {}

    Connected connected() {
        Conversation active = connect();
        settle();
        Conversation passive = server.requests.getLast();
        assertThat(server.manager.accept(now, passive, CmPeer.acceptance(SERVER_QP)))
                .isTrue();
        settle();
        assertThat(client.manager.complete(now, active)).isTrue();
        settle();
        assertThat(client.events).containsExactly("replied");
        assertThat(server.events).containsExactly("request", "established");
        client.events.clear();
        server.events.clear();
        return new Connected(active, passive);
    }
}
