// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static io.verbena.transport.cm.CmPair.CLIENT_QP;
import static io.verbena.transport.cm.CmPair.MS;
import static io.verbena.transport.cm.CmPair.SERVER_QP;
import static io.verbena.wire.cm.CmAttribute.DREP;
import static io.verbena.wire.cm.CmAttribute.DREQ;
import static io.verbena.wire.cm.CmAttribute.REP;
import static io.verbena.wire.cm.CmAttribute.REQ;
import static io.verbena.wire.cm.CmAttribute.RTU;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Connecting and disconnecting when nothing is lost. */
final class ConnectDialogueTest {
    private final CmPair pair = new CmPair();
    private final CmPeer client = pair.client;
    private final CmPeer server = pair.server;

    @Test
    void connectsAndDisconnects() {
        Conversation active = pair.connect((byte) 1, (byte) 2);
        assertThat(active.state()).isEqualTo(ConversationState.REQ_SENT);
        pair.pass(client, REQ);
        assertThat(server.events).containsExactly("request");
        Conversation passive = server.requests.getFirst();
        RequestParameters request = server.request;
        assertThat(request.serviceId()).isEqualTo(CmPeer.SERVICE);
        assertThat(request.type()).isEqualTo(QueuePairType.RC);
        assertThat(request.endpoint()).isEqualTo(CmPeer.endpoint(CLIENT_QP));
        assertThat(request.retryCount()).isEqualTo(6);
        assertThat(request.ackTimeout()).isEqualTo(CmPeer.ACK_TIMEOUT);
        assertThat(request.pathMtu()).isEqualTo(Mtu.MTU_1024);
        byte[] privateData = {1, 2};
        assertThat(request.privateData()).isEqualTo(Arrays.copyOf(privateData, 92));
        assertThat(request.path().remoteLow()).isEqualTo(client.low);

        assertThat(server.manager.accept(pair.now, passive, CmPeer.acceptance(SERVER_QP, (byte) 9)))
                .isTrue();
        pair.pass(server, REP);
        assertThat(client.events).containsExactly("replied");
        assertThat(client.reply.endpoint()).isEqualTo(CmPeer.endpoint(SERVER_QP));
        assertThat(client.reply.targetAckDelay()).isEqualTo(15);
        assertThat(client.reply.privateData()).hasSize(196).startsWith(9);
        assertThat(active.remoteQueuePair()).isEqualTo(SERVER_QP);
        assertThat(passive.remoteQueuePair()).isEqualTo(CLIENT_QP);

        assertThat(client.manager.complete(pair.now, active)).isTrue();
        pair.pass(client, RTU);
        assertThat(server.events).containsExactly("request", "established");
        assertThat(server.privateData).hasSize(224);
        assertThat(active.state()).isEqualTo(ConversationState.ESTABLISHED);
        assertThat(passive.state()).isEqualTo(ConversationState.ESTABLISHED);
        assertThat(client.manager.nextDeadline()).isEqualTo(Long.MAX_VALUE);
        assertThat(server.manager.nextDeadline()).isEqualTo(Long.MAX_VALUE);

        assertThat(client.manager.disconnect(pair.now, active, PrivateData.NONE))
                .isTrue();
        pair.pass(client, DREQ);
        assertThat(server.events).containsExactly("request", "established", "disconnected");
        assertThat(server.manager.disconnect(pair.now, passive, PrivateData.NONE))
                .isTrue();
        pair.pass(server, DREP);
        assertThat(client.events).containsExactly("replied", "disconnected");
        assertThat(client.manager.holdsQueuePair(CLIENT_QP)).isTrue();
        assertThat(server.manager.holdsQueuePair(SERVER_QP)).isTrue();
        pair.pass(10_000 * MS);
        assertThat(client.events).containsExactly("replied", "disconnected", "timewait exit");
        assertThat(server.events).containsExactly("request", "established", "disconnected", "timewait exit");
        pair.assertNothingLeft();
    }
}
