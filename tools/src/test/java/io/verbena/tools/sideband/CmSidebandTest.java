// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.sideband;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.tools.TestAddresses;
import io.verbena.tools.cli.CommandFailure;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionRequest;
import io.verbena.verbs.cm.Listener;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CmSidebandTest {
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final Duration LONG = Duration.ofSeconds(20);

    private Listener listener;
    private CmSideband client;
    private CmSideband server;

    private static InetSocketAddress free(int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(TestAddresses.free()), port);
    }

    @BeforeEach
    void connect() throws Exception {
        listener = Listener.listen(free(0));
        InetSocketAddress target = Objects.requireNonNull(listener.localAddress());
        FutureTask<CmSideband> connecting = new FutureTask<>(
                () -> CmSideband.connect(target, ConnectionOptions.defaults().withSource(free(0)), "hint"));
        Thread.ofVirtual().start(connecting);
        ConnectionRequest request = Objects.requireNonNull(listener.await(LONG));
        server = CmSideband.accept(request, ConnectionOptions.defaults());
        client = connecting.get();
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        listener.close();
    }

    @Test
    void bothSidesExchangeMessages() throws Exception {
        client.send(bytes("hello"));
        assertThat(server.receive(5, "a greeting", LONG)).isEqualTo(bytes("hello"));
        for (int i = 0; i < 20; i++) {
            server.send(bytes("message " + (char) ('a' + i)));
            assertThat(client.receive(9, "letters", LONG)).isEqualTo(bytes("message " + (char) ('a' + i)));
        }
        assertThat(client.hasUnread()).isFalse();
        assertThat(client.peerGone()).isFalse();
        assertThat(client.nanosSincePeerGone()).isZero();
        assertThat(client.peer()).startsWith("127.");
    }

    @Test
    void messagesThatNobodyReadsHoldUpTheirSender() throws Exception {
        FutureTask<Integer> flood = new FutureTask<>(() -> {
            for (int i = 0; i < 50; i++) {
                client.send(new byte[] {(byte) i});
            }
            return 50;
        });
        Thread.ofVirtual().start(flood);
        // However often this side looks, only so many messages find room.
        for (int i = 0; i < 20_000; i++) {
            boolean unused = server.hasUnread();
        }
        assertThat(flood.isDone()).isFalse();
        for (int i = 0; i < 50; i++) {
            assertThat(server.receive(1, "a byte", LONG)).containsExactly((byte) i);
        }
        assertThat(flood.get()).isEqualTo(50);
    }

    @Test
    void silenceIsTold() {
        assertThatThrownBy(() -> server.receive(5, "its version", SHORT))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("is silent: its version did not come in 0 s");
    }

    @Test
    void aMessageThatIsTooShortIsTold() throws Exception {
        client.send(bytes("ab"));
        assertThatThrownBy(() -> server.receive(5, "its version", LONG))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("its version has 2 bytes and not 5");
    }

    @Test
    void whatWasSentBeforeTheEndIsStillReceived() throws Exception {
        client.send(bytes("last"));
        client.finishFirst();
        while (!server.peerGone()) {
            Thread.onSpinWait();
        }
        assertThat(server.nanosSincePeerGone()).isPositive();
        assertThat(server.hasUnread()).isTrue();
        assertThat(server.receive(4, "a word", LONG)).isEqualTo(bytes("last"));
        assertThatThrownBy(() -> server.receive(4, "a word", LONG))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("closed the connection before it sent a word");
        assertThatThrownBy(() -> server.send(bytes("x")))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("closed the connection while it was told something");
        server.finish();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
