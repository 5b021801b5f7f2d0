// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cmtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.tools.TestAddresses;
import io.verbena.tools.ToolRun;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionRejectedException;
import java.net.InetSocketAddress;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class CmtimeTest {
    private final String server = TestAddresses.free();
    private final String client = TestAddresses.free();

    private FutureTask<ToolRun> serve(String options) {
        FutureTask<ToolRun> task =
                new FutureTask<>(() -> ToolRun.of(("cmtime --idle 0 -b " + server + options).split(" ")));
        Thread.ofPlatform().daemon().name("server").start(task);
        return task;
    }

    private ToolRun connect(String options) throws InterruptedException {
        awaitDevice();
        while (true) {
            ToolRun run = ToolRun.of(("cmtime -s " + server + " -b " + client + options).split(" "));
            // The device is there before its listener is.
            if (!(run.out() + run.err()).contains("INVALID_SERVICE_ID")) {
                return run;
            }
        }
    }

    /** Until the server's device answers, if only that nobody listens to some other port. */
    private void awaitDevice() throws InterruptedException {
        ConnectionOptions options = ConnectionOptions.defaults().withSource(new InetSocketAddress(client, 0));
        while (true) {
            try (Connection connection = Connection.connect(new InetSocketAddress(server, 1), options)) {
                throw new AssertionError("somebody listens to port 1: " + connection);
            } catch (ConnectionRejectedException e) {
                return;
            } catch (RdmaException e) {
                assertThat(e.reason()).isEqualTo(RdmaException.Reason.UNREACHABLE);
            }
        }
    }

    @Test
    void allConnectionsGoThroughAllSteps() throws Exception {
        FutureTask<ToolRun> serving = serve("");
        ToolRun run = connect(" -c 50");
        assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
        assertThat(run.out().lines().map(line -> line.replaceFirst(" *:.*", "")))
                .containsSubsequence(
                        "create id",
                        "bind addr",
                        "resolve addr",
                        "resolve route",
                        "create qp",
                        "connect",
                        "disconnect",
                        "destroy");
        assertThat(run.out()).containsPattern("50 of 50 connected, \\d+ connects per second");
        ToolRun served = serving.get();
        assertThat(served.exitCode()).as(served.err()).isZero();
        assertThat(served.out()).isEqualToIgnoringNewLines("accepted 50 connections");
    }

    @Test
    void jsonHasTheStepsWithPercentiles() throws Exception {
        FutureTask<ToolRun> serving = serve(" --json");
        ToolRun run = connect(" -c 7 --json");
        assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("\"connections\" : 7", "\"failed\" : 0", "\"step\" : \"connect\"", "\"p99_us\" : ")
                .containsPattern("\"connects_per_second\" : [1-9]");
        assertThat(serving.get().out()).contains("\"accepted\" : 7", "\"failed\" : 0");
    }

    @Test
    void eachConnectionThatFailsIsCounted() {
        try (DeviceContext device = Devices.open("rocev2:" + server)) {
            ToolRun run = ToolRun.of("cmtime", "-s", server, "-b", client, "-c", "3");
            assertThat(run.exitCode()).isEqualTo(1);
            assertThat(run.out()).contains("0 of 3 connected", "3 failed: connect: rejected, INVALID_SERVICE_ID");
            assertThat(device.device().name()).endsWith(server);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-c 0",
                "-c 20000",
                "-p 65536",
                "-r -1",
                "-t 0",
                "--connect-timeout 0",
                "-s x --idle 1",
                "--idle -1"
            })
    void impossibleOptionsAreRefused(String options) {
        ToolRun run = ToolRun.of(("cmtime " + options).split(" "));
        assertThat(run.exitCode()).as(run.err()).isEqualTo(2);
    }

    @Test
    void anUnknownHostIsToldInALine() {
        ToolRun run = ToolRun.of("cmtime", "-s", "no-such-host.invalid");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err().lines().toList()).hasSize(1);
        assertThat(run.err()).contains("no-such-host.invalid");
    }
}
