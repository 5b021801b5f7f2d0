// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.pingpong;

import io.verbena.tools.cli.ByteSize;
import io.verbena.tools.cli.Json;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.cli.StandardCommand;
import io.verbena.tools.cli.Version;
import io.verbena.tools.devices.DevicePicker;
import io.verbena.tools.sideband.SidebandListener;
import io.verbena.tools.sideband.TcpSideband;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairEndpoint;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code verbena pingpong}, as ibv_rc_pingpong and its kin; either end may be the real one. */
@Command(
        name = "pingpong",
        description =
                "Send a message to and fro; the other end may be ibv_rc_pingpong -g INDEX, or with --type its kin.",
        versionProvider = Version.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbena pingpong                 a server; then, in another window,",
            "  verbena pingpong 127.0.0.1       its client",
            "  verbena pingpong -c -n 10 HOST   ten exchanges; the content is checked",
            "  verbena pingpong --type ud HOST  datagrams, to ibv_ud_pingpong -g INDEX",
        })
public final class PingpongCommand extends StandardCommand {
    /** Where ibv_rc_pingpong listens. */
    static final int DEFAULT_PORT = 18515;

    private static final int SIZE_MAX = Integer.MAX_VALUE - 64;

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            defaultValue = "rc",
            description = "rc, uc (unreliable connection), ud (datagrams) or srq (shared receive queue); default"
                    + " ${DEFAULT-VALUE}.")
    private PingpongType type = PingpongType.RC;

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
            description = "Bytes of a message (default 4096, 1024 for ud); 64k and 1m are understood.")
    private @Nullable ByteSize size;

    @Option(
            names = {"-m", "--mtu"},
            paramLabel = "MTU",
            description = "Path MTU (default 1024; ud has the active MTU).")
    private @Nullable Integer mtu;

    @Option(
            names = {"-q", "--num-qp"},
            paramLabel = "NUM",
            description = "Queue pairs of srq, the same on both sides (default 16).")
    private @Nullable Integer queuePairs;

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "ITERS",
            defaultValue = "1000",
            description = "Messages of each side (default ${DEFAULT-VALUE}).")
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
            TcpSideband sideband = resources.add(connect(resources));
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

    private PingpongResult run(
            Resources resources, DeviceContext context, TcpSideband sideband, PingpongOptions options)
            throws Exception {
        try (PingpongRun run = resources.add(new PingpongRun(context, options))) {
            run.local().forEach(endpoint -> print("local", endpoint));
            run.connect(sideband).forEach(endpoint -> print("remote", endpoint));
            return run.run();
        }
    }

    private TcpSideband connect(Resources resources) throws Exception {
        if (host != null) {
            return TcpSideband.connect(
                    host, port, "is `verbena pingpong" + typeOption() + portOption() + "` running there?");
        }
        try (SidebandListener listener = resources.add(SidebandListener.listen(port))) {
            if (!json()) {
                err().println("waiting for a client on TCP port " + port);
                err().flush();
            }
            return listener.accept();
        }
    }

    private String typeOption() {
        return type == PingpongType.RC ? "" : " --type " + type.name().toLowerCase(Locale.ROOT);
    }

    private String portOption() {
        return port == DEFAULT_PORT ? "" : " -p " + port;
    }

    private PingpongOptions options() {
        require(port >= 1 && port <= 65535, "-p " + port + " is no TCP port; 1 to 65535 are");
        long bytes = size == null ? type.defaultSize() : size.bytes();
        require(bytes >= 1 && bytes <= SIZE_MAX, "-s " + bytes + " is not possible; 1 to " + SIZE_MAX + " bytes are");
        require(iterations >= 1 && receiveDepth >= 1, "-n and -r must be at least 1");
        require(mtu == null || type != PingpongType.UD, "-m: datagrams have the active MTU; --type ud takes no -m");
        require(queuePairs == null || type == PingpongType.SRQ, "-q is for --type srq");
        int count = queuePairs == null ? type.defaultQueuePairs() : queuePairs;
        require(count >= 1 && count < PingpongType.SRQ_LINES, "-q: 1 to 255 queue pairs are possible, not " + count);
        require(
                count <= receiveDepth,
                "-r " + receiveDepth + " is less than one receive for each of " + count + " queue pairs (-q)");
        Mtu pathMtu;
        try {
            pathMtu = Mtu.ofBytes(mtu == null ? 1024 : mtu);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec().commandLine(), "-m: " + e.getMessage(), e);
        }
        return new PingpongOptions(
                type, (int) bytes, pathMtu, iterations, count, receiveDepth, events, check, gidIndex, host != null);
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec().commandLine(), message);
        }
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
