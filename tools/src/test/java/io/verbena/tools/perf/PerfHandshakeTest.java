// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.sideband.Sideband;
import io.verbena.tools.sideband.SidebandListener;
import io.verbena.verbs.Mtu;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The bytes are those of a real ib_atomic_bw between two Linux kernels, as captured. */
@Timeout(60)
class PerfHandshakeTest {
    private static final String VERSION = "362e3036000000000000000000000000";
    private static final String GEOMETRY = "0000100000000040";
    private static final String MTU_1024 = "3300";
    private static final PerfDestination CLIENT =
            PerfDestination.decode(PerfDestinationTest.ATOMIC_CLIENT.getBytes(StandardCharsets.US_ASCII));
    private static final PerfDestination SERVER =
            PerfDestination.decode(PerfDestinationTest.ATOMIC_SERVER.getBytes(StandardCharsets.US_ASCII));

    private SidebandListener listener;
    private Socket peer;
    private Sideband sideband;

    @BeforeEach
    void connect() throws IOException {
        listener = SidebandListener.listen(0);
        peer = new Socket(InetAddress.getLoopbackAddress(), listener.port());
        sideband = listener.accept();
    }

    @AfterEach
    void close() throws IOException {
        sideband.close();
        peer.close();
        listener.close();
    }

    @Test
    void theClientSaysWhatTheRealClientSaid() throws Exception {
        peerSays(VERSION, GEOMETRY, MTU_1024, hex(SERVER.encode()), hex(SERVER.encode()));
        peerSays("00007ffef8028924", "00007fb0f3367ad0", "0000000000000006", "00007fb0f2eea0e1", "00007ffef80289e8");
        peerSays(hex(SERVER.encode()), "646f6e6500");
        PerfHandshake handshake = new PerfHandshake(sideband, true, DestinationForm.TEXT);
        assertThat(handshake.versions()).isEqualTo("6.06");
        assertThat(handshake.geometry()).isEqualTo(new PerfHandshake.Geometry(4096, 64));
        assertThat(handshake.mtu(Mtu.MTU_1024)).isEqualTo(Mtu.MTU_1024);
        assertThat(handshake.destination(CLIENT)).isEqualTo(SERVER);
        assertThat(handshake.awaitPeer(CLIENT)).isEqualTo(SERVER);
        handshake.reports(new BandwidthReport(
                8,
                5,
                Double.longBitsToDouble(0x3f6abf696d9588a2L),
                Double.longBitsToDouble(0x3f6abf695a6121c9L),
                Double.longBitsToDouble(0x3f3c0c0809b43706L),
                0));
        peer.shutdownOutput();
        handshake.close(CLIENT);
        String client = hex(CLIENT.encode());
        assertThat(hex(peer.getInputStream().readAllBytes()))
                .isEqualTo(VERSION + GEOMETRY + MTU_1024 + client + client + "0000000000000008" + "0000000000000005"
                        + "3f6abf696d9588a2" + "3f6abf695a6121c9" + "3f3c0c0809b43706" + client + "646f6e6500");
    }

    @Test
    void theServerWaitsForEachWordOfTheClient() throws Exception {
        PerfHandshake handshake = new PerfHandshake(sideband, false, DestinationForm.TEXT);
        Thread server = Thread.ofVirtual().start(() -> {
            try {
                handshake.versions();
                handshake.geometry();
                handshake.mtu(Mtu.MTU_4096);
                handshake.destination(SERVER);
                BandwidthReport report = handshake.reports(BandwidthReport.NONE);
                assertThat(report.iterations()).isEqualTo(5);
                handshake.close(SERVER);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        assertThat(peer.getInputStream().available()).isZero();
        assertThat(ask(VERSION)).isEqualTo(VERSION);
        assertThat(ask("00001000")).isEqualTo("00001000");
        assertThat(ask("00000040")).isEqualTo("00000040");
        assertThat(ask(MTU_1024)).isEqualTo("3500");
        assertThat(ask(hex(CLIENT.encode()))).isEqualTo(hex(SERVER.encode()));
        for (String value : new String[] {"08", "05", "00", "00", "00"}) {
            assertThat(ask("00000000000000" + value)).isEqualTo("0000000000000000");
        }
        assertThat(ask(hex(CLIENT.encode()))).isEqualTo(hex(SERVER.encode()));
        peer.getOutputStream().write("done\0".getBytes(StandardCharsets.US_ASCII));
        peer.shutdownOutput();
        assertThat(hex(peer.getInputStream().readAllBytes())).isEqualTo("646f6e6500");
        server.join();
    }

    @ParameterizedTest
    @CsvSource({"5.69, oldest", "4.5, oldest", "0.0, oldest", "GET / HTTP, version", "6, version", "6.06.1, version"})
    void otherVersionsAreToldInWords(String version, String expected) throws Exception {
        peer.getOutputStream().write(java.util.Arrays.copyOf(version.getBytes(StandardCharsets.US_ASCII), 16));
        PerfHandshake handshake = new PerfHandshake(sideband, false, DestinationForm.TEXT);
        assertThatThrownBy(handshake::versions)
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining(expected)
                .hasMessageContaining("127.0.0.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"5.70", "6.06", "6.27", "6.29"})
    void versionsFromTheOldestOnAreTaken(String version) throws Exception {
        peer.getOutputStream().write(java.util.Arrays.copyOf(version.getBytes(StandardCharsets.US_ASCII), 16));
        assertThat(new PerfHandshake(sideband, false, DestinationForm.TEXT).versions())
                .isEqualTo(version);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "7fffffff00000040",
                "ffffffff00000040",
                "0000000000000040",
                "0000100000000000",
                "000010007fffffff"
            })
    void aPeerCannotMakeBuffersGrow(String geometry) throws Exception {
        peerSays(geometry);
        assertThatThrownBy(() -> new PerfHandshake(sideband, false, DestinationForm.TEXT).geometry())
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("perftest");
    }

    @Test
    void theGreaterGeometryAndTheSmallerMtuCount() throws Exception {
        peerSays("0001000000000080", "3100");
        PerfHandshake handshake = new PerfHandshake(sideband, false, DestinationForm.TEXT);
        assertThat(handshake.geometry()).isEqualTo(new PerfHandshake.Geometry(65536, 128));
        assertThat(handshake.mtu(Mtu.MTU_4096)).isEqualTo(Mtu.MTU_256);
    }

    @ParameterizedTest
    @ValueSource(strings = {"3000", "3600", "ff00", "0000"})
    void anMtuThatIsNoneIsToldInWords(String mtu) throws Exception {
        peerSays(mtu);
        assertThatThrownBy(() -> new PerfHandshake(sideband, false, DestinationForm.TEXT).mtu(Mtu.MTU_1024))
                .isInstanceOf(CommandFailure.class);
    }

    @Test
    void aPeerThatLeavesIsTold() throws Exception {
        peer.close();
        assertThatThrownBy(() -> new PerfHandshake(sideband, false, DestinationForm.TEXT).versions())
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("closed the connection before it sent its version");
    }

    private void peerSays(String... messages) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (String message : messages) {
            all.writeBytes(HexFormat.of().parseHex(message));
        }
        peer.getOutputStream().write(all.toByteArray());
    }

    private String ask(String message) throws IOException {
        peerSays(message);
        return hex(peer.getInputStream().readNBytes(message.length() / 2));
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
