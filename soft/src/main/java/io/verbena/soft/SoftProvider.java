// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.link.LocalAddress;
import io.verbena.link.LocalInterfaces;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceInfo;
import io.verbena.verbs.DeviceOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.spi.VerbsProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/** Software devices, one for each local address: {@code rocev2:127.0.0.1}. */
public final class SoftProvider implements VerbsProvider {
    static final String NAME = "soft";
    private static final String ROCE_V2 = "rocev2:";

    /** For {@link java.util.ServiceLoader}. */
    public SoftProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<DeviceInfo> devices() {
        try {
            return LocalInterfaces.list().stream()
                    .filter(LocalAddress::up)
                    .map(SoftProvider::info)
                    .toList();
        } catch (IOException e) {
            throw new RdmaException(
                    RdmaException.Reason.IO, "cannot list the network interfaces: " + e.getMessage(), e);
        }
    }

    @Override
    public boolean accepts(String deviceName) {
        return deviceName.startsWith(ROCE_V2);
    }

    @Override
    public DeviceContext open(String deviceName, DeviceOptions options) {
        InetAddress address = parse(deviceName);
        try {
            Optional<LocalAddress> local = LocalInterfaces.find(address);
            if (local.isEmpty()) {
                throw new RdmaException(
                        RdmaException.Reason.NOT_FOUND,
                        deviceName + ": this host has no address " + address.getHostAddress() + "; it has "
                                + devices().stream().map(DeviceInfo::name).toList());
            }
            return SoftContext.open(info(local.get()), local.get(), options);
        } catch (IOException e) {
            throw new RdmaException(RdmaException.Reason.IO, deviceName + ": " + e.getMessage(), e);
        }
    }

    @Override
    public boolean owns(DeviceContext device) {
        return device instanceof SoftContext;
    }

    @Override
    public EventChannel openEventChannel(List<DeviceContext> devices) {
        List<SoftContext> own = devices.stream()
                .map(device -> {
                    if (device instanceof SoftContext context) {
                        return context;
                    }
                    throw new IllegalArgumentException(device.device().name() + " is of another provider");
                })
                .toList();
        return new SoftEventChannel(new DeviceChoice(own));
    }

    private static InetAddress parse(String deviceName) {
        String text = deviceName.substring(ROCE_V2.length());
        try {
            return InetAddress.ofLiteral(text);
        } catch (IllegalArgumentException e) {
            throw new RdmaException(
                    RdmaException.Reason.NOT_FOUND,
                    "\"" + deviceName + "\": \"" + text
                            + "\" is not an IP address; a device is named like rocev2:127.0.0.1",
                    e);
        }
    }

    static DeviceInfo info(LocalAddress local) {
        return new DeviceInfo(ROCE_V2 + AddressText.of(local.address()), NAME, "RoCE v2", local.interfaceName());
    }
}
