// SPDX-License-Identifier: Apache-2.0
package io.verbena.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.Listener;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ExamplesTest {
    private static final int PORT = 7471;

    private final String here = Program.freeAddress();
    private final String there = Program.freeAddress();

    /** Both ends of a program that is its own counterpart. */
    private void exchange(String program, String options, String result) throws Exception {
        Program server = Program.server(program + " -b " + here + options);
        Program client = Program.run(program + " -s " + here + " -b " + there + options);
        assertThat(client.exitCode()).as(client.err()).isZero();
        assertThat(server.exitCode()).as(server.err()).isZero();
        assertThat(client.out().strip()).isEqualTo(result);
        assertThat(server.out().strip()).isEqualTo(result);
    }

    private void assertFails(Program program, String... words) throws Exception {
        assertThat(program.exitCode()).as(program.out() + program.err()).isEqualTo(1);
        assertThat(program.err().lines().toList().getLast()).contains(words);
        assertThat(program.err()).doesNotContain("\tat ", "unexpected");
    }

    @Test
    void rdmaClientMeetsRdmaServer() throws Exception {
        Program server = Program.server("rdma-server -s " + here);
        Program client = Program.run("rdma-client -s " + here + " -b " + there);
        assertThat(client.exitCode()).as(client.err()).isZero();
        assertThat(server.exitCode()).as(server.err()).isZero();
        assertThat(client.out()).contains("sent 16 bytes to /" + here + ":7471 and received the answer");
        assertThat(server.out()).contains("received 16 bytes from /" + there);
    }

    @ParameterizedTest
    @CsvSource({
        "'', '1 connections, 10 messages of 100 bytes'",
        "' -c 20 -p 7472', '20 connections, 10 messages of 100 bytes'",
        "' -c 2 -C 3 -S 70000 -a 16', '2 connections, 3 messages of 70000 bytes'",
        "' -c 3 -C 0', '3 connections, 0 messages of 100 bytes'",
        "' -S 0', '1 connections, 0 messages of 0 bytes'",
    })
    void ucmatoseMeetsItself(String options, String what) throws Exception {
        exchange("ucmatose", options, "ucmatose: " + what + " each way: complete");
    }

    @ParameterizedTest
    @CsvSource({
        "'', '1 queue pairs, 10 messages of 100 bytes'",
        "' -c 5 -C 3 -S 1024', '5 queue pairs, 3 messages of 1024 bytes'",
        "' -c 2 -C 0', '2 queue pairs, 0 messages of 100 bytes'",
    })
    void udaddyMeetsItself(String options, String what) throws Exception {
        exchange("udaddy", options, "udaddy: " + what + " each way: complete");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma-client", "ucmatose", "udaddy"})
    void whereNobodyListensIsTold(String program) throws Exception {
        try (DeviceContext device = Devices.open("rocev2:" + here)) {
            Program client = Program.run(program + " -s " + here + " -b " + there);
            assertFails(client, program + ": ", here, "refused", "nobody listens to that port");
            assertThat(device.isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma-server -s ", "ucmatose -b "})
    void aPortInUseIsTold(String server) throws Exception {
        try (Listener listener = Listener.listen(new InetSocketAddress(here, PORT))) {
            assertFails(Program.server(server + here), "7471");
            assertThat(listener.localAddress()).isNotNull();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma-server -s ", "ucmatose -b "})
    void aClientThatLeavesIsTold(String program) throws Exception {
        Program server = Program.server(program + here);
        ConnectionOptions options = ConnectionOptions.defaults().withSource(new InetSocketAddress(there, 0));
        Connection.connect(new InetSocketAddress(here, PORT), options).close();
        assertFails(server, "the peer ended the connection");
    }

    @Test
    void aMessageOfAnotherSizeIsTold() throws Exception {
        Program server = Program.server("ucmatose -b " + here + " -S 200");
        assertFails(Program.run("ucmatose -s " + here + " -b " + there + " -S 100"), "LOC_LEN_ERR");
        assertFails(server, "waiting for the client to take the messages");
    }

    @Test
    void moreMessagesThanAQueueHoldsAreRefused() throws Exception {
        assertFails(Program.run("ucmatose -s " + here + " -b " + there + " -C 1000000"), "1000000");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma-client -s no-such-host.invalid", "ucmatose -s no-such-host.invalid"})
    void anUnknownHostIsTold(String client) throws Exception {
        assertFails(Program.run(client), "no-such-host.invalid");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "no-such-program",
                "rdma-server -p 65536",
                "rdma-client -p 0",
                "rdma-client -x",
                "ucmatose -c 0",
                "ucmatose -C -1",
                "ucmatose -S -1",
                "ucmatose -a 32",
                "ucmatose -s 127.0.0.1 -p 0",
                "udaddy -c 0",
                "udaddy -C x",
            })
    void aWrongCommandLineIsTold(String line) throws Exception {
        Program program = Program.run(line);
        assertThat(program.exitCode()).as(program.err()).isEqualTo(2);
        assertThat(program.err().lines()).hasSize(1);
    }

    @Test
    void aMessageThatNoDatagramCarriesIsRefused() throws Exception {
        Program.server("udaddy -b " + here);
        Program client = Program.run("udaddy -s " + here + " -b " + there + " -S 4097");
        assertThat(client.exitCode()).isEqualTo(2);
        assertThat(client.err()).contains("-S 4097 is more than a datagram carries: the MTU is ");
    }
}
