// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.spi;

import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceInfo;
import io.verbena.verbs.DeviceOptions;
import io.verbena.verbs.cm.EventChannel;
import java.util.List;

/** A source of RDMA devices, found by {@link java.util.ServiceLoader}. */
public interface VerbsProvider {
    /** A short name, such as {@code soft}. */
    String name();

    /** The devices that can be opened now. A provider without any returns an empty list, never an error. */
    List<DeviceInfo> devices();

    /** Whether a device of this name would belong to this provider, listed or not. */
    boolean accepts(String deviceName);

    /**
     * Opens a device.
     *
     * @throws io.verbena.verbs.RdmaException with the reason and what to do about it
     */
    DeviceContext open(String deviceName, DeviceOptions options);

    /** Whether an open device is of this provider. */
    boolean owns(DeviceContext device);

    /**
     * Opens a channel of the connection manager.
     *
     * @param devices the devices that its ids may use; none means any that leads to an address
     */
    EventChannel openEventChannel(List<DeviceContext> devices);
}
