// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import io.verbena.verbs.spi.Providers;
import io.verbena.verbs.spi.VerbsProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Where a program starts: lists the RDMA devices of this host and opens one. Thread-safe. */
public final class Devices {
    private Devices() {}

    /** All devices of all providers; software devices first, loopback addresses before others. */
    public static List<DeviceInfo> list() {
        List<DeviceInfo> devices = new ArrayList<>();
        for (VerbsProvider provider : Providers.all()) {
            devices.addAll(provider.devices());
        }
        return List.copyOf(devices);
    }

    /** Opens a device with default options; see {@link #open(String, DeviceOptions)}. */
    public static DeviceContext open(String name) {
        return open(name, DeviceOptions.defaults());
    }

    /**
     * Opens the device called {@code name}, such as {@code rocev2:127.0.0.1}.
     *
     * @throws RdmaException {@link RdmaException.Reason#NOT_FOUND} when there is no such device,
     *     {@link RdmaException.Reason#ADDRESS_IN_USE} when another process has it, each with what to do
     */
    public static DeviceContext open(String name, DeviceOptions options) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(options, "options");
        for (VerbsProvider provider : Providers.all()) {
            if (provider.accepts(name)) {
                return provider.open(name, options);
            }
        }
        throw new RdmaException(
                RdmaException.Reason.NOT_FOUND,
                "no provider has a device \"" + name + "\"; devices here: "
                        + list().stream().map(DeviceInfo::name).toList());
    }
}
