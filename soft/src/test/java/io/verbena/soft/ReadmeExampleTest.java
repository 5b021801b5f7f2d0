// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.cm.Listener;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The two programs of the README are taken out of it, compiled, and run against each other. */
class ReadmeExampleTest {
    private static final String IMPORTS = """
            import io.verbena.verbs.*;
            import io.verbena.verbs.cm.*;
            import java.lang.foreign.*;
            import java.net.*;
            import java.nio.*;
            import java.time.*;
            """;

    @Test
    void theClientWritesIntoTheServersMemory(@TempDir Path directory) throws Exception {
        List<String> examples = examples();
        assertThat(examples)
                .hasSize(2)
                .allSatisfy(example -> assertThat(example.lines().count())
                        .as("lines of the example")
                        .isLessThanOrEqualTo(12));
        InetSocketAddress address = freeAddress();
        String server = examples.getFirst()
                .replace("Listener.listen(7471)", "Listener.listen(" + text(address) + ")")
                .replace("System.out.println(", "return (");
        String client = examples.getLast()
                .replace(
                        "Connection.connect(\"127.0.0.1\", 7471)",
                        "Connection.connect(" + text(address) + ", ConnectionOptions.defaults().withSource("
                                + text(new InetSocketAddress(TestAddresses.free(), 0)) + "))")
                .replace("System.out.println(", "return (");
        FutureTask<Object> serving = new FutureTask<>(compile(directory, "Server", server));
        Callable<Object> connecting = compile(directory, "Client", client + "return null;");
        Thread.ofVirtual().start(serving);
        Object status = null;
        // The server's thread may not listen yet.
        for (int attempt = 0; status == null; attempt++) {
            try {
                status = connecting.call();
            } catch (io.verbena.verbs.RdmaException e) {
                assertThat(attempt).as("attempts; the last ended with: %s", e).isLessThan(20);
            }
        }
        assertThat(status).hasToString("SUCCESS");
        assertThat(serving.get()).isEqualTo("hello, remote memory");
    }

    private static InetSocketAddress freeAddress() {
        InetAddress address = TestAddresses.free();
        try (Listener listener = Listener.listen(new InetSocketAddress(address, 0))) {
            return listener.localAddress();
        }
    }

    private static String text(InetSocketAddress address) {
        return "new InetSocketAddress(\"" + address.getAddress().getHostAddress() + "\", " + address.getPort() + ")";
    }

    private static List<String> examples() throws Exception {
        String text = Files.readString(Path.of("../README.md").toAbsolutePath().normalize());
        List<String> found = new ArrayList<>();
        String fence = "```java\n";
        for (int at = text.indexOf(fence); at >= 0; at = text.indexOf(fence, at)) {
            int start = at + fence.length();
            at = text.indexOf("```", start);
            found.add(text.substring(start, at));
        }
        return found;
    }

    @SuppressWarnings("unchecked") // the class is made here
    private static Callable<Object> compile(Path directory, String name, String body) throws Exception {
        Path source = directory.resolve(name + ".java");
        Files.writeString(
                source,
                IMPORTS + "public class " + name + " implements java.util.concurrent.Callable<Object> {\n"
                        + "public Object call() throws Exception {\n" + body + "\n}}\n");
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
        return (Callable<Object>)
                loader.loadClass(name).getDeclaredConstructor().newInstance();
    }
}
