// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.QueuePairEndpoint;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Scanner;
import java.util.concurrent.Callable;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of the README is taken out of it, compiled and run against a peer of this test. */
class ReadmeExampleTest {
    private static final String IMPORTS = """
            import io.verbena.verbs.*;
            import java.io.*;
            import java.lang.foreign.*;
            import java.net.*;
            import java.time.*;
            import java.util.*;
            """;

    @Test
    void writesIntoThePeersMemory(@TempDir Path directory) throws Exception {
        String example = example();
        assertThat(example.lines().count()).as("lines of the example").isLessThanOrEqualTo(20);
        try (TwoDevices devices = new TwoDevices();
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String program = example.replace("rocev2:127.0.0.1", freeDevice())
                    .replace("\"127.0.0.2\", 7471", "\"127.0.0.1\", " + server.getLocalPort());
            Callable<?> client = compile(directory, program);
            Thread peer = Thread.ofVirtual().start(() -> answer(server, devices.b));
            client.call();
            peer.join();
            assertThat(devices.b.memory.getString(0)).isEqualTo("hello, remote memory");
        }
    }

    private static String freeDevice() {
        try (var device = TwoDevices.openFree()) {
            return device.device().name();
        }
    }

    private static void answer(ServerSocket server, TwoDevices.Side side) {
        try (Socket socket = server.accept()) {
            QueuePairEndpoint client =
                    QueuePairEndpoint.parse(new Scanner(socket.getInputStream(), StandardCharsets.UTF_8).next());
            side.replaceQueuePair(side.options()).connect(client);
            new PrintStream(socket.getOutputStream(), true, StandardCharsets.UTF_8)
                    .println(side.qp.endpoint() + " " + side.region.address() + " " + side.region.rkey());
            // Until the client is done.
            socket.getInputStream().read();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static String example() throws Exception {
        Path readme = Path.of("../README.md").toAbsolutePath().normalize();
        String text = Files.readString(readme);
        int start = text.indexOf("```java\n") + "```java\n".length();
        return text.substring(start, text.indexOf("```", start));
    }

    private static Callable<?> compile(Path directory, String body) throws Exception {
        Path source = directory.resolve("Example.java");
        Files.writeString(
                source,
                IMPORTS + "public class Example implements java.util.concurrent.Callable<Void> {\n"
                        + "public Void call() throws Exception {\n" + body + "return null;\n}}\n");
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        int result = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        messages,
                        messages,
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        directory.toString(),
                        source.toString());
        assertThat(result).as(messages.toString(StandardCharsets.UTF_8)).isZero();
        URLClassLoader loader = new URLClassLoader(new URL[] {directory.toUri().toURL()});
        return (Callable<?>)
                loader.loadClass("Example").getDeclaredConstructor().newInstance();
    }
}
