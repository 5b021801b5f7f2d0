// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.sideband;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.tools.cli.CommandFailure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class SidebandTest {
    private static final Duration SHORT = Duration.ofMillis(200);

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1", "localhost"})
    void bothSidesExchangeMessages(String host) throws Exception {
        Assumptions.assumeTrue(!host.equals("::1") || hasIpv6(), "no IPv6 here");
        try (SidebandListener listener = SidebandListener.listen(0);
                TcpSideband client = TcpSideband.connect(host, listener.port(), "hint");
                TcpSideband server = listener.accept()) {
            client.send(bytes("hello"));
            assertThat(server.receive(5, "a greeting", SHORT)).isEqualTo(bytes("hello"));
            server.send(bytes("abc"));
            server.send(bytes("def"));
            assertThat(client.receive(4, "letters", SHORT)).isEqualTo(bytes("abcd"));
            assertThat(client.receive(2, "letters", SHORT)).isEqualTo(bytes("ef"));
            assertThat(client.localAddress()).isEqualTo(server.remoteAddress());
        }
    }

    @Test
    void aRefusedConnectionSaysWhatToRun() throws Exception {
        int port = freePort();
        assertThatThrownBy(() -> TcpSideband.connect("127.0.0.1", port, "is `verbena perf write-bw` running there?"))
                .isInstanceOf(CommandFailure.class)
                .hasMessage("cannot connect to 127.0.0.1 port " + port
                        + ": connection refused; is `verbena perf write-bw` running there?");
    }

    @Test
    void aServerThatStartsAMomentLaterIsFound() throws Exception {
        int port = freePort();
        Thread late = Thread.ofVirtual().start(() -> {
            try {
                Thread.sleep(400);
                try (SidebandListener listener = SidebandListener.listen(port);
                        Sideband server = listener.accept()) {
                    server.send(bytes("x"));
                }
            } catch (InterruptedException | IOException e) {
                throw new IllegalStateException(e);
            }
        });
        try (Sideband client = TcpSideband.connect("127.0.0.1", port, "hint")) {
            assertThat(client.receive(1, "it", Duration.ofSeconds(5))).isEqualTo(bytes("x"));
        }
        late.join();
    }

    @Test
    void anUnknownHostIsNamed() {
        assertThatThrownBy(() -> TcpSideband.connect("no-such-host.invalid", 18515, "hint"))
                .isInstanceOf(CommandFailure.class)
                .hasMessageStartingWith("cannot resolve \"no-such-host.invalid\"");
    }

    @Test
    void theEndOfTheConnectionIsAMessageAndIsSeenWithoutReading() throws Exception {
        try (SidebandListener listener = SidebandListener.listen(0);
                Socket client = new Socket(InetAddress.getLoopbackAddress(), listener.port());
                Sideband server = listener.accept()) {
            client.getOutputStream().write(bytes("ab"));
            assertThat(server.peerGone()).isFalse();
            client.shutdownOutput();
            long deadline = System.nanoTime() + Duration.ofSeconds(5).toNanos();
            while (!server.peerGone() && System.nanoTime() < deadline) {
                Thread.sleep(5);
            }
            assertThat(server.peerGone()).isTrue();
            assertThat(server.receive(2, "what came before", SHORT)).isEqualTo(bytes("ab"));
            assertThatThrownBy(() -> server.receive(1, "its version", null))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessage("the peer at 127.0.0.1 closed the connection before it sent its version");
        }
    }

    @Test
    void aSilentPeerIsGivenUp() throws Exception {
        try (SidebandListener listener = SidebandListener.listen(0);
                Socket client = new Socket(InetAddress.getLoopbackAddress(), listener.port());
                Sideband server = listener.accept()) {
            client.getOutputStream().write(bytes("half"));
            assertThatThrownBy(() -> server.receive(16, "its version", SHORT))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("silent")
                    .hasMessageContaining("its version");
        }
    }

    @Test
    void aPeerThatTalksWithoutEndIsNotKept() throws Exception {
        try (SidebandListener listener = SidebandListener.listen(0);
                Socket client = new Socket(InetAddress.getLoopbackAddress(), listener.port());
                Sideband server = listener.accept()) {
            Thread talker = Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (true) {
                        client.getOutputStream().write(new byte[65536]);
                    }
                } catch (IOException e) {
                    // The test is over.
                }
            });
            // Reading goes on as what came is taken, so far more than the buffer holds passes through it unharmed.
            for (int i = 0; i < 3 * TcpSideband.BUFFER_BYTES / 1024; i++) {
                assertThat(server.receive(1024, "noise", Duration.ofSeconds(5))).containsOnly(0);
            }
            assertThat(talker.isAlive()).isTrue();
        }
    }

    @Test
    void finishReturnsWhenThePeerDoesNot() throws Exception {
        try (SidebandListener listener = SidebandListener.listen(0);
                Socket client = new Socket(InetAddress.getLoopbackAddress(), listener.port());
                Sideband server = listener.accept()) {
            long start = System.nanoTime();
            server.finish();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void aPortThatAnotherProgramHasIsSaid() throws Exception {
        try (ServerSocket other = new ServerSocket(0)) {
            assertThatThrownBy(() -> SidebandListener.listen(other.getLocalPort()))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("cannot listen on TCP port " + other.getLocalPort())
                    .hasMessageContaining("-p");
        }
    }

    private static boolean hasIpv6() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.ofLiteral("::1"))) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
