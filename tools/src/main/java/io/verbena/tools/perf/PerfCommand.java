// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.Resources;
import io.verbena.tools.cli.StandardCommand;
import io.verbena.tools.cli.Version;
import io.verbena.tools.devices.DevicePicker;
import io.verbena.tools.sideband.CmSideband;
import io.verbena.tools.sideband.Sideband;
import io.verbena.tools.sideband.SidebandListener;
import io.verbena.tools.sideband.TcpSideband;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.cm.Listener;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code verbena perf}, the counterpart of perftest; either end may be the real one. */
@Command(
        name = "perf",
        description = "Measure bandwidth or latency; the other end may be ib_write_bw and its kin of perftest.",
        versionProvider = Version.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbena perf write-bw                     a server; then, in another window,",
            "  verbena perf write-bw 127.0.0.1           its client",
            "  verbena perf read-lat -s 8 -D 10 HOST     latency of 8-byte READs over 10 seconds",
            "  verbena perf send-bw -a -b -q 4 HOST      all sizes, both ways, 4 queue pairs",
            "  verbena perf send-bw -c UD HOST           datagrams, to ib_send_bw -c UD",
            "  verbena perf send-lat -R HOST             connected by the connection manager, to ib_send_lat -R",
            "  ib_write_lat -d rxe0 -x 1 HOST            the real client to a verbena server",
        })
public final class PerfCommand extends StandardCommand {
    /** Where perftest listens. */
    private static final int DEFAULT_PORT = 18515;

    @Parameters(
            index = "0",
            paramLabel = "TEST",
            converter = PerfTest.Converter.class,
            description = "write-bw, write-lat, read-bw, read-lat, send-bw, send-lat, atomic-bw or atomic-lat.")
    private @Nullable PerfTest test;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "HOST",
            description = "The server; without it this is the server.")
    private @Nullable String host;

    @Option(
            names = {"-d", "--device", "--ib-dev"},
            paramLabel = "DEVICE",
            description = "The device, such as rocev2:127.0.0.1; default: the one that routes to the peer.")
    private @Nullable String device;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            defaultValue = "18515",
            description = "Port to listen on or to connect to (default ${DEFAULT-VALUE}); of TCP unless -R.")
    private int port = DEFAULT_PORT;

    @Mixin
    private PerfOptions options = new PerfOptions();

    @Override
    public Integer call() throws Exception {
        PerfTest chosen = Objects.requireNonNull(test, "picocli requires TEST");
        PerfParameters parameters = resolve(chosen);
        try (Resources resources = new Resources()) {
            // A device that cannot be opened is told before anybody connects.
            DeviceContext named = device == null ? null : resources.add(Devices.open(device));
            if (parameters.managed()) {
                overConnectionManager(parameters, named, resources);
            } else {
                overTcp(parameters, named, resources);
            }
            return 0;
        }
    }

    private void overTcp(PerfParameters parameters, @Nullable DeviceContext named, Resources resources)
            throws Exception {
        TcpSideband sideband = resources.add(connect(parameters.test(), resources));
        DeviceContext context = named != null
                ? named
                : resources.add(DevicePicker.openFor(sideband.localAddress(), sideband.remoteAddress()));
        run(context, sideband, new PlainQueuePairs(context), parameters, resources);
    }

    private void overConnectionManager(PerfParameters parameters, @Nullable DeviceContext named, Resources resources)
            throws InterruptedException {
        ManagedEnds ends = new ManagedEnds(parameters, port, named, resources);
        CmSideband sideband;
        Listener listener = null;
        if (host != null) {
            sideband = ends.connect(host, command(parameters.test()));
        } else {
            listener = ends.listen();
            sayWaiting("port " + port + " of the connection manager");
            sideband = ends.accept(listener);
        }
        DeviceContext context = sideband.connection().id().context();
        run(context, sideband, ends.queuePairs(sideband, listener), parameters, resources);
    }

    private void run(
            DeviceContext context,
            Sideband sideband,
            QueuePairSource source,
            PerfParameters parameters,
            Resources resources)
            throws InterruptedException {
        PerfOutput output = json() ? new JsonOutput(out()) : new TextOutput(out());
        try (PerfSession session =
                resources.add(new PerfSession(context, sideband, source, parameters, output, err()))) {
            session.run();
        }
        output.end();
    }

    private PerfParameters resolve(PerfTest chosen) {
        try {
            if (port < 1 || port > 65535) {
                throw new IllegalArgumentException("-p: " + port + " is no TCP port; 1 to 65535 are");
            }
            return options.resolve(chosen, host != null);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec().commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    private TcpSideband connect(PerfTest chosen, Resources resources) throws Exception {
        if (host != null) {
            return TcpSideband.connect(host, port, "is `" + command(chosen) + "` running there?");
        }
        try (SidebandListener listener = resources.add(SidebandListener.listen(port))) {
            sayWaiting("TCP port " + port);
            return listener.accept();
        }
    }

    private String command(PerfTest chosen) {
        return "verbena perf " + chosen.commandName() + (port == DEFAULT_PORT ? "" : " -p " + port);
    }

    private void sayWaiting(String where) {
        if (!json()) {
            err().println("waiting for a client on " + where);
            err().flush();
        }
    }
}
