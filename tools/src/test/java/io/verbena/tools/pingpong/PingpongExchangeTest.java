// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.sideband.Sideband;
import io.verbena.tools.sideband.SidebandListener;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairEndpoint;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The strings are those of a real ibv_rc_pingpong between two Linux kernels, as captured. */
@Timeout(30)
class PingpongExchangeTest {
    private static final byte[] CLIENT = HexFormat.of()
            .parseHex("303030303a3030303031313a3935363332373a"
                    + "303030303030303030303030303030303030303066666666306130393030303200");
    private static final byte[] SERVER = HexFormat.of()
            .parseHex("303030303a3030303031323a3231323636363a"
                    + "303030303030303030303030303030303030303066666666306130393030303100");

    @Test
    void linesOfTheRealProgramAreReadAndWrittenAlike() {
        for (byte[] line : List.of(CLIENT, SERVER)) {
            QueuePairEndpoint endpoint = PingpongExchange.decode(line, "peer");
            assertThat(PingpongExchange.encode(endpoint)).isEqualTo(line).hasSize(PingpongExchange.LINE_BYTES);
        }
        QueuePairEndpoint client = PingpongExchange.decode(CLIENT, "peer");
        assertThat(client.qpNumber()).isEqualTo(0x11);
        assertThat(client.psn()).isEqualTo(0x956327);
        assertThat(client.gid().toAddress().getHostAddress()).isEqualTo("10.9.0.2");
    }

    @Test
    void theClientSaysWhatTheRealClientSaid() throws Exception {
        try (SidebandListener listener = SidebandListener.listen(0);
                Socket realServer = new Socket(InetAddress.getLoopbackAddress(), listener.port());
                Sideband sideband = listener.accept()) {
            realServer.getOutputStream().write(SERVER);
            List<QueuePairEndpoint> connected = new ArrayList<>();
            List<QueuePairEndpoint> remote = new PingpongExchange(sideband, 1)
                    .asClient(List.of(PingpongExchange.decode(CLIENT, "me")), connected::addAll);
            assertThat(realServer.getInputStream().readNBytes(52)).isEqualTo(CLIENT);
            assertThat(realServer.getInputStream().readNBytes(5))
                    .isEqualTo("done\0".getBytes(StandardCharsets.US_ASCII));
            assertThat(remote).containsExactly(PingpongExchange.decode(SERVER, "peer"));
            assertThat(connected).isEqualTo(remote);
        }
    }

    @Test
    void theServerIsConnectedBeforeItAnswers() throws Exception {
        try (SidebandListener listener = SidebandListener.listen(0);
                Socket realClient = new Socket(InetAddress.getLoopbackAddress(), listener.port());
                Sideband sideband = listener.accept()) {
            InputStream in = realClient.getInputStream();
            OutputStream out = realClient.getOutputStream();
            out.write(CLIENT);
            CompletableFuture<Integer> answeredWhenConnecting = new CompletableFuture<>();
            CompletableFuture<byte[]> answer = CompletableFuture.supplyAsync(() -> {
                try {
                    byte[] line = in.readNBytes(52);
                    out.write("done\0".getBytes(StandardCharsets.US_ASCII));
                    return line;
                } catch (java.io.IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            new PingpongExchange(sideband, 1)
                    .asServer(
                            List.of(PingpongExchange.decode(SERVER, "me")),
                            peers -> answeredWhenConnecting.complete(answer.isDone() ? 1 : 0));
            assertThat(answer.get()).isEqualTo(SERVER);
            assertThat(answeredWhenConnecting.get()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: curl\r\n\r\n  ",
                "0000:000011:956327:00000000000000000000ffff0a09000x\0",
                "0000:00001:1956327:00000000000000000000ffff0a090002\0",
                "0000:000011:956327:00000000000000000000ffff0a090002 ",
                "-001:000011:956327:00000000000000000000ffff0a090002\0"
            })
    void garbageIsToldInWords(String garbage) {
        byte[] line = garbage.getBytes(StandardCharsets.US_ASCII);
        assertThat(line.length).isGreaterThanOrEqualTo(52);
        assertThatThrownBy(() -> PingpongExchange.decode(java.util.Arrays.copyOf(line, 52), "10.0.0.7"))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("10.0.0.7")
                .hasMessageContaining("ibv_rc_pingpong");
    }

    @Test
    void aClientThatLeavesIsTold() throws Exception {
        try (SidebandListener listener = SidebandListener.listen(0);
                Socket client = new Socket(InetAddress.getLoopbackAddress(), listener.port());
                Sideband sideband = listener.accept()) {
            client.getOutputStream().write(CLIENT, 0, 20);
            client.shutdownOutput();
            assertThatThrownBy(() -> new PingpongExchange(sideband, 1)
                            .asServer(List.of(PingpongExchange.decode(SERVER, "me")), peers -> {}))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("closed the connection");
        }
    }

    @Test
    void manyQueuePairsAreToldInAFixedNumberOfLines() throws Exception {
        try (SidebandListener listener = SidebandListener.listen(0);
                Socket realServer = new Socket(InetAddress.getLoopbackAddress(), listener.port());
                Sideband sideband = listener.accept()) {
            byte[] unused = PingpongExchange.encode(new QueuePairEndpoint(0, 0, 0, Gid.ZERO));
            for (byte[] line : List.of(SERVER, CLIENT, unused, unused)) {
                realServer.getOutputStream().write(line);
            }
            QueuePairEndpoint one = PingpongExchange.decode(CLIENT, "me");
            QueuePairEndpoint two = PingpongExchange.decode(SERVER, "me");
            List<QueuePairEndpoint> remote = new PingpongExchange(sideband, 4).asClient(List.of(one, two), peers -> {});
            assertThat(remote).containsExactly(two, one);
            for (byte[] line : List.of(CLIENT, SERVER, unused, unused)) {
                assertThat(realServer.getInputStream().readNBytes(52)).isEqualTo(line);
            }
        }
    }
}
