// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cmtime;

import io.verbena.tools.cli.Json;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.cli.StandardCommand;
import io.verbena.tools.cli.Version;
import io.verbena.tools.devices.DevicePicker;
import io.verbena.tools.sideband.TcpSideband;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.cm.EventChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * {@code verbena cmtime}: how fast connections are made and ended, with the options of rdma-core's cmtime (version 44,
 * whose server or client the other end may be: all that it sends are the connections themselves).
 */
@Command(
        name = "cmtime",
        description = "Measure how fast connections are made; the other end may be cmtime of librdmacm.",
        versionProvider = Version.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbena cmtime -b 127.0.0.1                       a server; then, in another window,",
            "  verbena cmtime -s 127.0.0.1 -c 1000               a client that connects a thousand times",
            "  cmtime -s 192.0.2.1                               the real client",
        })
public final class CmtimeCommand extends StandardCommand {
    private static final int PORT = 7471;
    private static final int MOST = 1 << 14;

    @Option(names = "-s", paramLabel = "ADDRESS", description = "The server; without it this is the server.")
    private @Nullable String server;

    @Option(
            names = "-b",
            paramLabel = "ADDRESS",
            description =
                    "The local address; default: all of a server, for a client the one that routes to the server.")
    private @Nullable InetAddress bind;

    @Option(names = "-c", paramLabel = "NUM", description = "Connections of a client (default 100).")
    private int connections = 100;

    @Option(names = "-p", paramLabel = "PORT", description = "Default " + PORT + ".")
    private int port = PORT;

    @Option(names = "-r", paramLabel = "NUM", description = "Retries of a client (default 2).")
    private int retries = 2;

    @Option(
            names = "-t",
            paramLabel = "MILLISECONDS",
            description = "How long a client waits for an address or a route (default 2000).")
    private int timeout = 2000;

    @Option(
            names = "--connect-timeout",
            paramLabel = "SECONDS",
            description = "How long a client waits for a connection (default 30).")
    private int connectTimeout = 30;

    @Option(
            names = "--idle",
            paramLabel = "SECONDS",
            description = "A server ends when all who came have been gone for so long (default: it stays). A client"
                    + " whose last word was lost may ask again after some seconds, and would miss the server.")
    private @Nullable Integer idle;

    @Override
    public Integer call() throws Exception {
        check(port >= 0 && port <= 0xffff, "-p takes a port, 0 to 65535, not " + port);
        check(connections >= 1 && connections <= MOST, "-c takes 1 to " + MOST + ", not " + connections);
        check(retries >= 0, "-r takes a number, not " + retries);
        check(timeout > 0, "-t takes milliseconds, not " + timeout);
        check(connectTimeout > 0, "--connect-timeout takes seconds, not " + connectTimeout);
        check(idle == null || idle >= 0, "--idle takes seconds, not " + idle);
        check(server == null || idle == null, "--idle is for a server");
        try (Resources resources = new Resources()) {
            return server == null ? serve(resources) : measure(server, resources);
        }
    }

    private void check(boolean good, String message) {
        if (!good) {
            throw new ParameterException(spec().commandLine(), message);
        }
    }

    private int serve(Resources resources) throws InterruptedException {
        CmtimeServer running = resources.add(new CmtimeServer(EventChannel.open()));
        InetSocketAddress local = running.listen(new InetSocketAddress(bind, port));
        err().println("listening on " + local);
        err().flush();
        running.serve(idle == null ? null : Duration.ofSeconds(idle));
        if (json()) {
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("accepted", running.accepted());
            result.put("failed", running.failed());
            Json.print(out(), result);
        } else {
            out().println("accepted " + running.accepted() + " connections");
            out().flush();
        }
        return 0;
    }

    private int measure(String host, Resources resources) throws InterruptedException {
        InetAddress address = TcpSideband.resolve(host)[0];
        DeviceContext own = bind == null ? DevicePicker.openForServer(address) : null;
        if (own != null) {
            resources.add(own);
        }
        EventChannel channel = own == null ? EventChannel.open() : EventChannel.over(own);
        CmtimeOptions options = new CmtimeOptions(connections, retries, timeout, Duration.ofSeconds(connectTimeout));
        CmtimeClient client = resources.add(new CmtimeClient(options, channel));
        CmtimeReport report =
                client.run(new InetSocketAddress(address, port), bind == null ? null : new InetSocketAddress(bind, 0));
        if (json()) {
            Json.print(out(), report.json());
        } else {
            out().println(report.text());
            out().flush();
        }
        return report.isComplete() ? 0 : 1;
    }
}
