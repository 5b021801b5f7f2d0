// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.link.LocalAddress;
import io.verbena.link.LocalInterfaces;
import io.verbena.verbs.DeviceOptions;
import io.verbena.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The devices that are open in this process, so that the connection manager can use what the program opened, and opens
 * the rest itself for as long as someone uses them. Thread-safe.
 */
final class OpenDevices {
    static final OpenDevices SHARED = new OpenDevices();

    private final Map<InetAddress, SoftContext> open = new HashMap<>();
    /** Devices that no program opened. */
    private final Set<SoftContext> own = new HashSet<>();

    private OpenDevices() {}

    synchronized void opened(SoftContext context) {
        open.put(context.localAddress(), context);
    }

    synchronized void closed(SoftContext context) {
        open.remove(context.localAddress(), context);
    }

    /**
     * The device of a local address, for someone who will {@link #release} it.
     *
     * @throws RdmaException if there is no such address, or another process has it
     */
    synchronized SoftContext acquire(InetAddress address) {
        SoftContext known = open.get(address);
        if (known != null) {
            known.connections().use();
            return known;
        }
        LocalAddress local = find(address);
        SoftContext opened = SoftContext.open(SoftProvider.info(local), local, DeviceOptions.defaults());
        opened.connections().use();
        own.add(opened);
        opened.whenUnused(() -> closeUnlessUsed(opened));
        return opened;
    }

    private static LocalAddress find(InetAddress address) {
        try {
            return LocalInterfaces.find(address)
                    .orElseThrow(() -> new RdmaException(
                            RdmaException.Reason.NOT_FOUND,
                            "this host has no address " + AddressText.of(address) + ", so no device leads from there"));
        } catch (IOException e) {
            throw new RdmaException(
                    RdmaException.Reason.IO, "cannot list the network interfaces: " + e.getMessage(), e);
        }
    }

    /** Ends one use; a device that nobody uses any more is closed unless the program opened it. */
    synchronized void release(SoftContext context) {
        // What the program made on the device may outlive the connection; then the device lives until that is closed.
        if (context.connections().release()) {
            closeUnlessUsed(context);
        }
    }

    private synchronized void closeUnlessUsed(SoftContext context) {
        if (own.contains(context) && context.closeUnlessUsed()) {
            own.remove(context);
        }
    }
}
