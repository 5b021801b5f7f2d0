// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static io.verbena.transport.cm.CmPair.CLIENT_QP;
import static io.verbena.transport.cm.CmPair.MS;
import static io.verbena.transport.cm.CmPair.SERVER_QP;
import static io.verbena.transport.cm.CmPeer.acceptance;
import static io.verbena.transport.cm.PrivateData.NONE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.transport.cm.CmPeer.Datagram;
import io.verbena.wire.cm.CmAttribute;
import io.verbena.wire.cm.Drep;
import io.verbena.wire.cm.Dreq;
import io.verbena.wire.cm.Rej;
import io.verbena.wire.cm.Rep;
import io.verbena.wire.cm.Req;
import io.verbena.wire.cm.SidrRep;
import io.verbena.wire.cm.SidrReq;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What a peer can make grow, and what a consumer can put into a message. */
final class LimitsTest {
    private final CmPair pair = new CmPair();
    private final CmPeer client = pair.client;
    private final CmPeer server = pair.server;

    /** A request as a model for those that a flood is made of. */
    private Datagram request() {
        client.manager.connect(pair.now, client.parameters(server, CLIENT_QP, pair.now + 30_000 * MS));
        return client.send().getFirst();
    }

    private void flood(Datagram model, int requests, long interval) {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < requests; i++) {
            server.receive(pair.now, Forge.request(model, random.nextInt() | 1, 2 + random.nextInt(0xfffff0)));
            pair.now += interval;
            server.timeout(pair.now);
            server.send();
            assertThat(server.manager.conversations()).isLessThanOrEqualTo(1024);
        }
    }

    @Test
    void backlogIsFilledAndDropsTheRest() {
        Datagram request = request();
        flood(request, 100_000, 0);
        assertThat(server.requests).hasSize(8);
        assertThat(server.manager.conversations()).isEqualTo(8);
        assertThat(server.manager.counter(CmCounter.DROP_BACKLOG)).isEqualTo(100_000 - 8);
        server.requests.forEach(c -> server.manager.reject(pair.now, c, 28, NONE));
        server.onRequest = c -> server.manager.accept(pair.now, c, acceptance(SERVER_QP));
        pair.next(client);
        pair.settle();
        assertThat(client.events).containsExactly("replied");
    }

    @Test
    void answersToStrangersAreLimited() {
        server.manager.close(pair.listener);
        Datagram request = request();
        for (int i = 0; i < 5000; i++) {
            server.receive(pair.now, Forge.request(request, i + 1, 2 + i));
        }
        assertThat(server.send()).hasSize(CmBounds.DEFAULT.repliesPerSecond());
        pair.now += 100 * MS;
        Datagram release = Forge.message(client, server, CmAttribute.DREQ);
        for (int i = 0; i < 5000; i++) {
            Dreq.write(release.segment(), 0, i, i + 1, i);
            server.receive(pair.now, release);
        }
        assertThat(server.send()).hasSize(CmBounds.DEFAULT.repliesPerSecond() / 10);
        assertThat(server.manager.counter(CmCounter.DROP_REPLY)).isEqualTo(10_000 - 1100);
    }

    /** A port that cannot send keeps few of the answers. */
    @Test
    void answersThatCannotBeSentAreFew() {
        server.manager.close(pair.listener);
        Datagram request = request();
        for (int i = 0; i < 10_000; i++) {
            pair.now += MS;
            server.receive(pair.now, Forge.request(request, i + 1, 2 + i));
        }
        assertThat(server.send()).hasSize(1024);
    }

    @Test
    void timewaitsAreBounded() {
        CmBounds few = new CmBounds(4, 2, 3, 1024, 1000);
        CmPair small = new CmPair(few);
        small.server.onRequest = c -> small.server.manager.accept(small.now, c, acceptance(SERVER_QP));
        small.client.onReply = c -> small.client.manager.complete(small.now, c);
        small.server.onDisconnected = c -> small.server.manager.disconnect(small.now, c, NONE);
        for (int i = 0; i < 10; i++) {
            Conversation active = small.connect();
            small.settle();
            small.client.manager.disconnect(small.now, active, NONE);
            small.settle();
            assertThat(small.client.manager.timewaits()).isLessThanOrEqualTo(3);
            assertThat(small.server.manager.timewaits()).isLessThanOrEqualTo(3);
        }
        assertThat(small.client.events).filteredOn("timewait exit"::equals).hasSize(7);
        for (int i = 0; i < 4; i++) {
            assertThat(small.connect()).isNotNull();
        }
        assertThat(small.connect()).isNull();
    }

    @Test
    void servicesAreBounded() {
        assertThat(server.manager.listen(CmPeer.SERVICE, 1)).isNull();
        for (int i = 1; i < CmBounds.DEFAULT.listeners(); i++) {
            assertThat(server.manager.listen(i, 1)).isNotNull();
        }
        assertThat(server.manager.listen(5_000_000, 1)).isNull();
        server.manager.close(pair.listener);
        server.manager.close(pair.listener);
        assertThat(server.manager.listen(CmPeer.SERVICE, 1)).isNotNull();
    }

    /** CONFORMANCE 55, and IBTA volume 1, 12.6: what fits. */
    @Test
    void privateDataHasALimit() {
        assertThat(new int[] {
                    Req.PRIVATE_DATA_BYTES,
                    Rep.PRIVATE_DATA_BYTES,
                    Rej.PRIVATE_DATA_BYTES,
                    Dreq.PRIVATE_DATA_BYTES,
                    Drep.PRIVATE_DATA_BYTES,
                    SidrReq.PRIVATE_DATA_BYTES,
                    SidrRep.PRIVATE_DATA_BYTES
                })
                .containsExactly(92, 196, 148, 220, 224, 216, 136);
        client.parameters(server, CLIENT_QP, 0, new byte[92]);
        assertThatThrownBy(() -> client.parameters(server, CLIENT_QP, 0, new byte[93]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a REQ has room for 92 bytes of private data, not 93");
        acceptance(SERVER_QP, new byte[196]);
        assertThatThrownBy(() -> acceptance(SERVER_QP, new byte[197])).isInstanceOf(IllegalArgumentException.class);
        new SidrReply(0, 2, 3, new byte[136]);
        assertThatThrownBy(() -> new SidrReply(0, 2, 3, new byte[137])).isInstanceOf(IllegalArgumentException.class);
        new SidrParameters(1, client.to(server), new byte[216], 0);
        assertThatThrownBy(() -> new SidrParameters(1, client.to(server), new byte[217], 0))
                .isInstanceOf(IllegalArgumentException.class);
        Conversation c = pair.connect();
        assertThatThrownBy(() -> client.manager.reject(0, c, 28, new byte[149]))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.manager.disconnect(0, c, new byte[221]))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
