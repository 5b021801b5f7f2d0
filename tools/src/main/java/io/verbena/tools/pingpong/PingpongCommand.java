// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import io.verbena.tools.cli.ByteSize;
import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.Json;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.cli.StandardCommand;
import io.verbena.tools.cli.Version;
import io.verbena.tools.devices.DevicePicker;
import io.verbena.tools.sideband.Sideband;
import io.verbena.tools.sideband.SidebandListener;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairEndpoint;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verbena pingpong}, the counterpart of ibv_rc_pingpong; either end may be the real one. */
@Command(
        name = "pingpong",
        description =
                "Send a message to and fro, as ibv_rc_pingpong does; the other end may be ibv_rc_pingpong -g INDEX.",
        versionProvider = Version.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbena pingpong                 a server; then, in another window,",
            "  verbena pingpong 127.0.0.1       its client",
            "  verbena pingpong -c -n 10 HOST   ten exchanges; the content is checked",
        })
public final class PingpongCommand extends StandardCommand {
    /** Where ibv_rc_pingpong listens. */
    static final int DEFAULT_PORT = 18515;

    @Option(
            names = {"-d", "--device", "--ib-dev"},
            paramLabel = "DEVICE",
            description = "The device, such as rocev2:127.0.0.1; default: the one that routes to the peer.")
    private @Nullable String device;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            defaultValue = "18515",
            description = "TCP port to listen on or to connect to (default ${DEFAULT-VALUE}).")
    private int port = DEFAULT_PORT;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "SIZE",
            converter = ByteSize.Converter.class,
            defaultValue = "4096",
            description = "Bytes of a message (default ${DEFAULT-VALUE}); 64k and 1m are understood.")
    private ByteSize size = new ByteSize(4096);

    @Option(
            names = {"-m", "--mtu"},
            paramLabel = "MTU",
            defaultValue = "1024",
            description = "Path MTU (default ${DEFAULT-VALUE}).")
    private int mtu = 1024;

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "ITERS",
            defaultValue = "1000",
            description = "Exchanges (default ${DEFAULT-VALUE}).")
    private int iterations = 1000;

    @Option(
            names = {"-r", "--rx-depth"},
            paramLabel = "DEPTH",
            defaultValue = "500",
            description = "Receives to post at a time (default ${DEFAULT-VALUE}).")
    private int receiveDepth = 500;

    @Option(
            names = {"-e", "--events"},
            description = "Sleep on completion events in place of polling.")
    private boolean events;

    @Option(
            names = {"-c", "--chk"},
            description = "Check the received content.")
    private boolean check;

    @Option(
            names = {"-g", "--gid-idx"},
            paramLabel = "INDEX",
            description = "Index of the local GID; default: the first of RoCE v2.")
    private @Nullable Integer gidIndex;

    @Parameters(arity = "0..1", paramLabel = "HOST", description = "The server; without it this is the server.")
    private @Nullable String host;

    @Override
    public Integer call() throws Exception {
        PingpongOptions options = options();
        try (Resources resources = new Resources()) {
            // A device that cannot be opened is told before anybody connects.
            DeviceContext named = device == null ? null : resources.add(Devices.open(device));
            Sideband sideband = resources.add(connect(resources));
            DeviceContext context = named != null
                    ? named
                    : resources.add(DevicePicker.openFor(sideband.localAddress(), sideband.remoteAddress()));
            PingpongResult result = run(resources, context, sideband, options);
            if (json()) {
                Json.print(out(), result.toJson());
            } else {
                result.print(out());
            }
            return 0;
        }
    }

    private PingpongResult run(Resources resources, DeviceContext context, Sideband sideband, PingpongOptions options)
            throws Exception {
        try (PingpongRun run = resources.add(new PingpongRun(context, options))) {
            print("local", run.local());
            QueuePairEndpoint remote = run.connect(sideband);
            print("remote", remote);
            return run.run();
        }
    }

    private Sideband connect(Resources resources) throws Exception {
        if (host != null) {
            return Sideband.connect(host, port, "is `verbena pingpong" + portOption() + "` running there?");
        }
        try (SidebandListener listener = resources.add(SidebandListener.listen(port))) {
            if (!json()) {
                err().println("waiting for a client on TCP port " + port);
                err().flush();
            }
            return listener.accept();
        }
    }

    private String portOption() {
        return port == DEFAULT_PORT ? "" : " -p " + port;
    }

    private PingpongOptions options() {
        if (port < 1 || port > 65535) {
            throw new CommandFailure("-p " + port + " is no TCP port; 1 to 65535 are");
        }
        if (size.bytes() < 1 || size.bytes() > Integer.MAX_VALUE - 8) {
            throw new CommandFailure("-s " + size.bytes() + " is not possible; 1 to 2147483639 bytes are");
        }
        if (iterations < 1 || receiveDepth < 1) {
            throw new CommandFailure("-n and -r must be at least 1");
        }
        Mtu pathMtu;
        try {
            pathMtu = Mtu.ofBytes(mtu);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure("-m: " + e.getMessage(), e);
        }
        return new PingpongOptions(
                (int) size.bytes(), pathMtu, iterations, receiveDepth, events, check, gidIndex, host != null);
    }

    private void print(String side, QueuePairEndpoint endpoint) {
        if (!json()) {
            out().println(String.format(
                    Locale.ROOT,
                    "  %-15s LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s",
                    side + " address:",
                    endpoint.lid(),
                    endpoint.qpNumber(),
                    endpoint.psn(),
                    endpoint.gid()));
            out().flush();
        }
    }
}
