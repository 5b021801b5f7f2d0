// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import io.verbena.soft.SteppedDevice;
import io.verbena.soft.VirtualTime;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A host of the world: a device with its clock, and frames that have arrived and wait to be taken in. */
final class Host implements VirtualTime {
    /** Clocks start here, so that no time is 0. */
    private static final long CLOCK_START_NS = 1_000_000_000;

    private static final int INBOX_MAX = 4096;

    /** A multicast group. */
    record Group(long high, long low) {}

    private final World world;
    private final String name;
    final int index;
    final long addressHigh;
    final long addressLow;
    final SimLink link;
    final Set<Group> groups = new HashSet<>();

    /** When the last frame to each host arrives that keeps its order. */
    final long[] lastArrival = new long[World.HOSTS_MAX];

    /** A bit for each host that frames from here do not reach. */
    int cutFrom;

    boolean up = true;
    int underWay;
    long clockAheadNs;

    private @Nullable SteppedDevice device;
    private @Nullable Flight first;
    private @Nullable Flight last;
    private int waiting;
    private long readsAgainAt;

    Host(World world, Fabric fabric, String name, int index, long addressHigh, long addressLow, int mtuBytes) {
        this.world = world;
        this.name = name;
        this.index = index;
        this.addressHigh = addressHigh;
        this.addressLow = addressLow;
        this.link = new SimLink(fabric, this, mtuBytes);
    }

    void device(SteppedDevice opened) {
        device = opened;
    }

    SteppedDevice device() {
        return Objects.requireNonNull(device, "a host has a device before it is used");
    }

    String name() {
        return name;
    }

    boolean has(long high, long low) {
        return addressLow == low && addressHigh == high && !link.closed();
    }

    /** A frame has arrived; false when there is no room for it. */
    boolean arrive(Flight flight) {
        if (waiting >= INBOX_MAX) {
            return false;
        }
        Flight before = last;
        if (before == null) {
            first = flight;
        } else {
            before.next = flight;
        }
        last = flight;
        waiting++;
        return true;
    }

    /** The next frame to take in; null for none, none wanted, and none yet at a slow host. */
    @Nullable
    Flight takeIn(int wanted) {
        Flight flight = first;
        if (flight == null || wanted <= 0 || readsAgainAt > world.now()) {
            return null;
        }
        first = flight.next;
        flight.next = null;
        if (first == null) {
            last = null;
        }
        waiting--;
        readsAgainAt = world.now() + world.fabric().pauseNs(this);
        return flight;
    }

    /** When the host has something to do, in the time of the world; {@link Long#MAX_VALUE} for never. */
    long wantsCycleAt() {
        if (link.closed()) {
            return Long.MAX_VALUE;
        }
        SteppedDevice it = device();
        if (it.wantsToSend() && link.hasRoom()) {
            return world.now();
        }
        long at = first == null ? Long.MAX_VALUE : readsAgainAt;
        long deadline = it.nextDeadline();
        return deadline == Long.MAX_VALUE ? at : Math.min(at, deadline - CLOCK_START_NS - clockAheadNs);
    }

    @Override
    public long nanoTime() {
        return CLOCK_START_NS + world.now() + clockAheadNs;
    }

    @Override
    public void polledInVain() {
        world.polledInVain();
    }

    @Override
    public void advance(long deadlineNs) {
        world.advance(deadlineNs - CLOCK_START_NS - clockAheadNs);
    }
}
