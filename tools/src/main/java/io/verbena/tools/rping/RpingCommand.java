// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.rping;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.Json;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.cli.StandardCommand;
import io.verbena.tools.cli.Version;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.ConnectionRequest;
import io.verbena.verbs.cm.Listener;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code verbena rping}: the client's memory is read and written by the server, over a connection of rdma_cm. */
@Command(
        name = "rping",
        description = "Ping over a connection of the connection manager; the other end may be rping of librdmacm.",
        versionProvider = Version.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbena rping -s -a 127.0.0.2                     wait for a client; then, in another window,",
            "  verbena rping -c -a 127.0.0.2 -C 10 -v -V         ping it ten times",
            "  rping -c -a 192.0.2.1 -C 10 -v -V                 the real client",
        })
public final class RpingCommand extends StandardCommand {
    private static final int PORT = 7174;
    private static final int SIZE_MIN = 18;
    private static final int SIZE_MAX = 64 * 1024;

    @Option(names = "-s", description = "Serve.")
    private boolean server;

    @Option(names = "-c", description = "Ping a server.")
    private boolean client;

    @Option(names = "-a", paramLabel = "ADDRESS", description = "The server's address; default when serving: all.")
    private @Nullable String address;

    @Option(
            names = "-I",
            paramLabel = "ADDRESS",
            description = "The local address of a client; default: the one that routes to the server.")
    private @Nullable InetAddress source;

    @Option(names = "-p", paramLabel = "PORT", description = "Default " + PORT + ".")
    private int port = PORT;

    @Option(
            names = "-C",
            paramLabel = "COUNT",
            description = "Pings of a client; a server ends after so many, too (default: until interrupted).")
    private int count;

    @Option(
            names = "-S",
            paramLabel = "SIZE",
            description = "Bytes of a ping, " + SIZE_MIN + " to " + SIZE_MAX + " (default 64).")
    private int size = 64;

    @Option(names = "-v", description = "Print what was pinged.")
    private boolean verbose;

    @Option(names = "-V", description = "Compare what comes back with what was sent.")
    private boolean validate;

    @Option(names = "-P", description = "Serve one client after the other, until interrupted.")
    private boolean persistent;

    @Option(names = "--timeout", paramLabel = "SECONDS", description = "How long to wait for the peer (default 30).")
    private int timeout = 30;

    @Override
    public Integer call() throws Exception {
        check(port >= 0 && port <= 0xffff, "-p takes a port, 0 to 65535, not " + port);
        check(size >= SIZE_MIN && size <= SIZE_MAX, "-S takes " + SIZE_MIN + " to " + SIZE_MAX + ", not " + size);
        check(count >= 0, "-C takes a number, not " + count);
        check(timeout > 0, "--timeout takes seconds, not " + timeout);
        check(server != client, "either -s, to serve, or -c, to ping a server");
        check(server || address != null, "-c needs the server's address: -a ADDRESS");
        try (Resources resources = new Resources()) {
            if (server) {
                serve(resources);
            } else {
                ping(resources);
            }
        }
        return 0;
    }

    private void check(boolean good, String message) {
        if (!good) {
            throw new ParameterException(spec().commandLine(), message);
        }
    }

    private Duration patience() {
        return Duration.ofSeconds(timeout);
    }

    /** The options of a connection whose memory is ready before the first message can come. */
    private static ConnectionOptions options(RpingEnd[] end, int bytes, Duration patience) {
        return ConnectionOptions.defaults()
                .withParameters(ConnectionParameters.defaults().withReads(1, 1).withTimeout(patience))
                .withPrepare(connection -> end[0] = new RpingEnd(connection, bytes, patience));
    }

    private void ping(Resources resources) throws InterruptedException {
        InetSocketAddress target = new InetSocketAddress(String.valueOf(address), port);
        RpingEnd[] made = new RpingEnd[1];
        ConnectionOptions options = options(made, size, patience());
        if (source != null) {
            options = options.withSource(new InetSocketAddress(source, 0));
        }
        resources.add(Connection.connect(target, options));
        RpingEnd end = resources.add(made[0]);
        RpingText text = new RpingText();
        long start = System.nanoTime();
        int rounds = 0;
        for (; count == 0 || rounds < count; rounds++) {
            text.fill(end.source(), rounds);
            end.send(end.source());
            require(end.receive());
            end.send(end.sink());
            require(end.receive());
            if (validate && !Arrays.equals(RpingText.bytes(end.source()), RpingText.bytes(end.sink()))) {
                throw new CommandFailure("ping " + rounds + " came back changed");
            }
            if (verbose) {
                out().println("ping data: " + RpingText.of(end.sink()));
                out().flush();
            }
        }
        report(rounds, System.nanoTime() - start);
    }

    private static void require(RpingEnd.@Nullable Info info) {
        if (info == null) {
            throw new CommandFailure("the server ended the connection");
        }
    }

    private void report(int rounds, long ns) {
        double us = rounds == 0 ? 0 : ns / 1e3 / rounds;
        if (json()) {
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("pings", rounds);
            result.put("size", size);
            result.put("microseconds_per_ping", us);
            Json.print(out(), result);
        } else {
            out().println(String.format(
                    java.util.Locale.ROOT, "%d pings of %d bytes, %.1f us each on average", rounds, size, us));
            out().flush();
        }
    }

    private void serve(Resources resources) throws InterruptedException {
        InetSocketAddress local = address == null ? new InetSocketAddress(port) : new InetSocketAddress(address, port);
        Listener listener = resources.add(Listener.listen(local));
        err().println("listening on " + listener.localAddress());
        err().flush();
        do {
            try (ConnectionRequest request = awaitRequest(listener)) {
                serve(request);
            } catch (io.verbena.verbs.RdmaException | CommandFailure e) {
                if (!persistent) {
                    throw e;
                }
                err().println(e.getMessage());
                err().flush();
            }
        } while (persistent);
    }

    private static ConnectionRequest awaitRequest(Listener listener) throws InterruptedException {
        while (true) {
            ConnectionRequest request = listener.await(Duration.ofDays(1));
            if (request != null) {
                return request;
            }
        }
    }

    private void serve(ConnectionRequest request) throws InterruptedException {
        RpingEnd[] made = new RpingEnd[1];
        try (Resources own = new Resources()) {
            own.add(request.accept(options(made, SIZE_MAX, patience())));
            RpingEnd end = own.add(made[0]);
            int rounds = 0;
            for (RpingEnd.Info from = end.receive(); from != null; from = end.receive()) {
                if (from.length() < 1 || from.length() > SIZE_MAX) {
                    throw new CommandFailure("the client asks for pings of " + from.length() + " bytes; 1 to "
                            + SIZE_MAX + " are possible");
                }
                end.read(from, from.length());
                String text = RpingText.of(end.source().asSlice(0, from.length()));
                if (verbose) {
                    out().println("server ping data: " + text);
                    out().flush();
                }
                end.send(end.sink());
                RpingEnd.Info to = end.receive();
                if (to == null) {
                    break;
                }
                end.write(to, Math.min(text.length() + 1, to.length()));
                end.send(end.sink());
                rounds++;
                if (count > 0 && rounds == count) {
                    end.receive();
                    break;
                }
            }
            if (!json()) {
                out().println("served " + rounds + " pings");
                out().flush();
            }
        }
    }
}
