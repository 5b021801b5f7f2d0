// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.tools.TestAddresses;
import io.verbena.tools.ToolRun;
import io.verbena.tools.sideband.CmSideband;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.cm.ConnectionOptions;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** perf -R: both ends in this process, each with a device of its own. */
@Timeout(180)
class ManagedEndToEndTest {
    private static final int PORT = 18515;

    private final String serverAddress = TestAddresses.free();
    private final String clientAddress = TestAddresses.free();

    private FutureTask<ToolRun> serve(String options) {
        FutureTask<ToolRun> server = new FutureTask<>(
                () -> ToolRun.of(("perf " + options + " -R --device rocev2:" + serverAddress).split(" ")));
        Thread.ofPlatform().daemon().name("server").start(server);
        return server;
    }

    private ToolRun connect(String options) {
        return ToolRun.of(
                ("perf " + options + " -R --device rocev2:" + clientAddress + " " + serverAddress).split(" "));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "send-bw -n 40 -s 4096 -q 2",
                "send-bw -n 40 -s 128 -b -e",
                "send-bw -a -n 5",
                "write-bw -n 20 -s 10000 -q 3",
                "write-bw -n 20 -s 4096 -b",
                "read-bw -n 20 -s 10000 -o 2",
                "read-bw -n 20",
                "atomic-bw -n 20",
                "send-lat -n 30",
                "write-lat -n 30",
                "read-lat -n 20",
                "write-bw -D 1 -s 64",
                "send-bw -c UD -n 40 -s 1024",
                "send-bw -c UD -n 40 -s 64 -q 3 -e",
                "send-bw -c UD -n 40 -s 512 -b -q 2",
                "send-lat -c UD -n 30 -s 512",
            })
    void bothSidesMeasure(String options) throws Exception {
        FutureTask<ToolRun> serving = serve(options);
        ToolRun client = connect(options);
        assertThat(client.exitCode()).as(client.err()).isZero();
        assertThat(client.out())
                .contains(" rdma_cm QPs     : ON", " Data ex. method : rdma_cm")
                .containsPattern("(?m)^ \\d+ +\\d+ +[0-9.]+ +[0-9.]+");
        ToolRun server = serving.get();
        assertThat(server.exitCode()).as(server.err()).isZero();
    }

    @Test
    void aServerThatIsNotThereIsTold() {
        try (DeviceContext device = Devices.open("rocev2:" + serverAddress)) {
            ToolRun client = connect("send-bw");
            assertThat(client.exitCode()).isEqualTo(1);
            assertThat(client.err())
                    .isEqualToIgnoringNewLines("verbena perf: cannot connect to " + serverAddress
                            + " port 18515: nobody listens there; is `verbena perf send-bw -R` running there?");
            assertThat(device.device().name()).endsWith(serverAddress);
        }
    }

    @Test
    void aServerOfConnectionsIsToldApartFromOneOfDatagrams() throws Exception {
        FutureTask<ToolRun> serving = serve("send-bw -n 10");
        ToolRun client = connect("send-bw -n 10 -c UD");
        assertThat(client.exitCode()).isEqualTo(1);
        assertThat(client.err()).contains("nobody listens there", "does it run with -c UD too?");
        assertThat(serving.get().exitCode()).isEqualTo(1);
    }

    @Test
    void aClientThatVanishesAfterTheSidebandIsNoticed() throws Exception {
        FutureTask<ToolRun> serving = serve("send-bw -n 10");
        try (CmSideband client = sideband()) {
            PerfHandshake handshake = new PerfHandshake(client, true, DestinationForm.STRUCT);
            handshake.versions();
            handshake.geometry();
            handshake.mtu(Mtu.MTU_1024);
        }
        ToolRun server = serving.get();
        assertThat(server.exitCode()).isEqualTo(1);
        assertThat(server.err()).contains("closed the connection before it sent its queue pair");
    }

    @Test
    void aClientOfAnotherProgramIsToldApart() throws Exception {
        FutureTask<ToolRun> serving = serve("send-bw -n 10");
        try (CmSideband client = sideband()) {
            client.send("hello".getBytes(StandardCharsets.US_ASCII));
            ToolRun server = serving.get();
            assertThat(server.exitCode()).isEqualTo(1);
            assertThat(server.err()).contains("does not speak this tool's protocol: its version has 5 bytes");
        }
    }

    private CmSideband sideband() throws Exception {
        InetSocketAddress from = new InetSocketAddress(InetAddress.ofLiteral(clientAddress), 0);
        return CmSideband.connect(
                new InetSocketAddress(InetAddress.ofLiteral(serverAddress), PORT),
                ConnectionOptions.defaults().withSource(from),
                "hint");
    }
}
