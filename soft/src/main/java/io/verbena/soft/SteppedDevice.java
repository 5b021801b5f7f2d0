// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.link.DatagramLink;
import io.verbena.link.LocalAddress;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceInfo;
import org.jspecify.annotations.Nullable;

/**
 * A software device in virtual time, for simulators: no thread belongs to it, its duty cycle is called by the owner of
 * the time, and where an application would wait for the device, {@link VirtualTime} passes. One thread uses all devices
 * of one virtual time.
 */
public final class SteppedDevice {
    private final SoftContext context;

    private SteppedDevice(SoftContext context) {
        this.context = context;
    }

    /**
     * Opens a device.
     *
     * @param link what it sends and receives on; the device closes it
     * @param seed of keys, numbers and PSNs
     */
    public static SteppedDevice open(
            DeviceInfo info, DatagramLink link, LocalAddress local, long seed, VirtualTime time) {
        return new SteppedDevice(SoftContext.over(link, info, local, seed, time));
    }

    public DeviceContext context() {
        return context;
    }

    /** One duty cycle; returns how much there was to do. */
    public int cycle() {
        return context.agent().tryCycle();
    }

    /** When the device wants a cycle without any other cause, by its clock; {@link Long#MAX_VALUE} for never. */
    public long nextDeadline() {
        return context.agent().port().nextDeadline();
    }

    /** Whether the device has frames to send, as soon as its link has room. */
    public boolean wantsToSend() {
        return context.agent().port().wantsToSend();
    }

    /** The network interface of the device goes up or down; each change is an asynchronous event. */
    public void portState(boolean up) {
        context.portState(up);
    }

    /** Why the device stopped by itself, or null while it works. */
    public @Nullable String failure() {
        return context.agent().failure();
    }
}
