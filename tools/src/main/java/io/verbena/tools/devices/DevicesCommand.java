// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.devices;

import io.verbena.tools.cli.Json;
import io.verbena.tools.cli.StandardCommand;
import io.verbena.tools.cli.Version;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceInfo;
import io.verbena.verbs.Devices;
import io.verbena.verbs.RdmaException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verbena devices}, the counterpart of ibv_devinfo. */
@Command(
        name = "devices",
        description = "List the RDMA devices of this host.",
        versionProvider = Version.class,
        footerHeading = "%nExamples:%n",
        footer = {
            "  verbena devices                        one line for each",
            "  verbena devices -v rocev2:127.0.0.1    all attributes of one",
        })
public final class DevicesCommand extends StandardCommand {
    @Option(
            names = {"-v", "--verbose"},
            description = "Show all attributes, ports and GIDs.")
    private boolean verbose;

    @Parameters(arity = "0..1", paramLabel = "NAME", description = "Only this device; it need not be in the list.")
    private @Nullable String name;

    @Override
    public Integer call() {
        List<DeviceReport> reports = new ArrayList<>();
        if (name != null) {
            try (DeviceContext context = Devices.open(name)) {
                reports.add(DeviceReport.of(context));
            }
        } else {
            for (DeviceInfo device : Devices.list()) {
                reports.add(report(device));
            }
        }
        if (json()) {
            Json.print(out(), reports.stream().map(DeviceReport::toJson).toList());
        } else if (reports.isEmpty()) {
            err().println("no devices: no provider is installed, or no network interface has an address");
        } else if (verbose) {
            reports.forEach(report -> out().print(DeviceText.full(report)));
        } else {
            out().print(DeviceText.table(reports));
        }
        out().flush();
        return 0;
    }

    /** A device that cannot be opened is still a device: it is listed with the reason. */
    private static DeviceReport report(DeviceInfo device) {
        try (DeviceContext context = Devices.open(device.name())) {
            return DeviceReport.of(context);
        } catch (RdmaException e) {
            return DeviceReport.unavailable(device, String.valueOf(e.getMessage()));
        }
    }
}
