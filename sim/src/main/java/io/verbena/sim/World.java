// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import io.verbena.link.Addresses;
import io.verbena.link.LocalAddress;
import io.verbena.soft.SteppedDevice;
import io.verbena.transport.queue.SeededRandom;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceInfo;
import java.io.OutputStream;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A simulated network with its software devices, in virtual time. All that happens comes from one seed: the same
 * program in a world of the same seed sends the same frames at the same times.
 *
 * <p>The devices are those of {@code verbena.soft}, on a fabric that a {@link FaultPlan} makes as bad as wished, and
 * are used through the ordinary verbs API. No time passes while a program computes; it passes while the program waits
 * ({@link io.verbena.verbs.CompletionQueue#await}), polls in vain, or calls {@link #run} and {@link #until}. One thread
 * uses a world and all of its devices; not thread-safe.
 */
public final class World implements AutoCloseable {
    static final int HOSTS_MAX = 26;
    /** The IP MTU of a device, enough for a path MTU of 4096. */
    private static final int MTU_BYTES = 4200;
    /** What passes when a program polls and nothing will ever happen. */
    private static final long IDLE_POLL_NS = 1_000;
    /** More than all frames that can be under way: beyond it a device is at something again and again. */
    private static final int EVENTS_AT_A_TIME_MAX = 1_000_000;

    private final EventQueue events = new EventQueue();
    private final SeededRandom random;
    private final Fabric fabric;
    private final @Nullable Capture capture;
    private long now;
    private long steps;
    private int eventsAtThisTime;
    private boolean stepping;
    private boolean pollingPassesTime = true;
    private boolean healed;

    private World(Builder builder) {
        random = new SeededRandom(builder.seed);
        capture = builder.capture == null ? null : new Capture(builder.capture);
        fabric = new Fabric(this, events, new SeededRandom(random.nextLong()), builder.faults, capture);
        for (FaultWindow window : builder.faults.windows()) {
            plan(window);
        }
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Faults of a host rather than of a frame are planned. */
    private void plan(FaultWindow window) {
        switch (window.kind()) {
            case LINK_DOWN -> {
                at(window.fromNs(), () -> linksChange(window));
                at(window.toNs(), () -> linksChange(window));
            }
            case CLOCK_JUMP -> at(window.fromNs(), () -> jump(window));
            case PARTITION, BLACK_HOLE, SLOW -> {
                // The fabric looks at them with each frame.
            }
        }
    }

    private void jump(FaultWindow window) {
        for (Host host : fabric.hosts()) {
            if (!healed && window.concerns(host.name())) {
                host.clockAheadNs += window.value();
            }
        }
    }

    /** A window begins or ends; a link stays down while another window has it down. */
    private void linksChange(FaultWindow window) {
        for (Host host : fabric.hosts()) {
            if (!healed && window.concerns(host.name())) {
                portState(host, !fabric.hasLinkDown(host));
            }
        }
    }

    private static void portState(Host host, boolean up) {
        host.up = up;
        host.device().portState(up);
    }

    /**
     * Adds a host with one device to the network. The first is named {@code a} in fault plans, the next {@code b}, and
     * so on.
     *
     * @param address an IPv4 or IPv6 address; no such interface needs to exist
     * @throws IllegalArgumentException when it is no address or taken, or there are 26 hosts
     */
    public DeviceContext openDevice(String address) {
        InetAddress ip = InetAddress.ofLiteral(address);
        long high = Addresses.high(ip);
        long low = Addresses.low(ip);
        List<Host> hosts = fabric.hosts();
        if (hosts.size() == HOSTS_MAX) {
            throw new IllegalArgumentException("a world has at most " + HOSTS_MAX + " hosts");
        }
        if (hosts.stream().anyMatch(host -> host.has(high, low))) {
            throw new IllegalArgumentException(address + " is taken");
        }
        String name = String.valueOf((char) ('a' + hosts.size()));
        Host host = new Host(this, fabric, name, hosts.size(), high, low, MTU_BYTES);
        LocalAddress local = new LocalAddress(ip, "sim-" + name, MTU_BYTES, false, true);
        DeviceInfo info = new DeviceInfo("sim:" + address, "sim", "RoCE v2", local.interfaceName());
        host.device(SteppedDevice.open(info, host.link, local, random.nextLong(), host));
        hosts.add(host);
        return host.device().context();
    }

    Fabric fabric() {
        return fabric;
    }

    /** Nanoseconds since the start. The clocks of devices show another time: {@link DeviceContext#clockNanos()}. */
    public long now() {
        return now;
    }

    /** How many times something happened. */
    public long steps() {
        return steps;
    }

    /**
     * Lets the next thing happen.
     *
     * @return false when nothing will ever happen any more by itself
     * @throws IllegalStateException when a device has stopped with a defect, or no time passes any more
     */
    public boolean step() {
        return step(Long.MAX_VALUE);
    }

    private boolean step(long limit) {
        if (stepping) {
            return false;
        }
        stepping = true;
        try {
            long next = events.firstAt();
            List<Host> hosts = fabric.hosts();
            for (int i = 0; i < hosts.size(); i++) {
                requireAlive(hosts.get(i));
                next = Math.min(next, hosts.get(i).wantsCycleAt());
            }
            if (next == Long.MAX_VALUE || next > limit) {
                now = limit == Long.MAX_VALUE ? now : Math.max(now, limit);
                return false;
            }
            steps++;
            eventsAtThisTime = next > now ? 0 : eventsAtThisTime;
            now = Math.max(now, next);
            countEvent();
            while (events.firstAt() <= now) {
                happen(events.poll());
            }
            for (int i = 0; i < hosts.size(); i++) {
                if (hosts.get(i).wantsCycleAt() <= now) {
                    cycle(hosts.get(i));
                }
            }
            return true;
        } finally {
            stepping = false;
        }
    }

    private void happen(Flight event) {
        countEvent();
        Runnable action = event.action;
        if (action == null) {
            fabric.deliver(event);
        } else {
            fabric.release(event);
            action.run();
        }
    }

    private void countEvent() {
        if (++eventsAtThisTime > EVENTS_AT_A_TIME_MAX) {
            throw new IllegalStateException("time stands still at " + now + " ns: something goes on without an end");
        }
    }

    private static void cycle(Host host) {
        int unused = host.device().cycle();
        requireAlive(host);
    }

    /** A device may have stopped on a call of the program too. */
    private static void requireAlive(Host host) {
        String failure = host.device().failure();
        if (failure != null) {
            throw new IllegalStateException("host " + host.name() + ": " + failure);
        }
    }

    /** Lets so much time pass. */
    public void run(Duration time) {
        long end = now + time.toNanos();
        while (now < end) {
            step(end);
        }
    }

    /**
     * Lets time pass until something is so.
     *
     * @return whether it came to be so in time
     */
    public boolean until(BooleanSupplier condition, Duration timeout) {
        long end = now + timeout.toNanos();
        while (!condition.getAsBoolean()) {
            if (now >= end) {
                return false;
            }
            step(end);
        }
        return true;
    }

    /**
     * Whether a poll that finds nothing lets something happen, as by default, so that a program that polls until its
     * work is done gets there. A program that drives the world with {@link #step} may not want that.
     */
    public void pollingPassesTime(boolean passes) {
        pollingPassesTime = passes;
    }

    void polledInVain() {
        if (pollingPassesTime && !stepping && !step()) {
            now += IDLE_POLL_NS;
        }
    }

    void advance(long deadline) {
        if (stepping) {
            throw new IllegalStateException("what happens at a time cannot wait for a later one");
        }
        step(deadline);
    }

    /** Does something when the world is so old, for instance heals a partition. It must not wait. */
    public void at(long ns, Runnable action) {
        Flight flight = fabric.take();
        flight.action = action;
        events.add(flight, Math.max(ns, now));
    }

    /** Cuts the way between two devices, in both directions. */
    public void partition(DeviceContext one, DeviceContext other) {
        cut(one, other);
        cut(other, one);
    }

    /** Cuts the way from one device to another only. */
    public void cut(DeviceContext from, DeviceContext to) {
        host(from).cutFrom |= 1 << host(to).index;
    }

    /** The network interface of a device goes down; what is under way to it is lost. */
    public void linkDown(DeviceContext device) {
        portState(host(device), false);
    }

    public void linkUp(DeviceContext device) {
        portState(host(device), true);
    }

    /** Ends all faults, also those planned; frames take as long as before. */
    public void heal() {
        healed = true;
        fabric.heal();
        for (Host host : fabric.hosts()) {
            portState(host, true);
        }
    }

    /** Lets someone look at all frames that are sent from now on; null for nobody. */
    public void intercept(@Nullable Interceptor interceptor) {
        fabric.interceptor(interceptor);
    }

    private Host host(DeviceContext device) {
        for (Host host : fabric.hosts()) {
            if (host.device().context().equals(device)) {
                return host;
            }
        }
        throw new IllegalArgumentException(device.device().name() + " is not of this world");
    }

    /** What happened to frames. */
    public FabricCounters counters() {
        return fabric.counters();
    }

    /**
     * A number that stands for all frames, their times and their bytes: the same for the same seed and program. Memory
     * addresses in frames are not part of it.
     */
    public long digest() {
        return fabric.digest();
    }

    /** Ends the capture, and the fabric. Its devices are closed before, by those who opened them. */
    @Override
    public void close() {
        fabric.close();
        if (capture != null) {
            capture.close();
        }
    }

    /** Starts from seed 0 and a perfect fabric. */
    public static final class Builder {
        private long seed;
        private FaultPlan faults = FaultPlan.none();
        private @Nullable OutputStream capture;

        private Builder() {}

        public Builder seed(long value) {
            seed = value;
            return this;
        }

        public Builder faults(FaultPlan plan) {
            faults = plan;
            return this;
        }

        /**
         * Writes all frames as pcapng; the world closes the stream. When writing fails, {@link World#close} throws
         * {@link java.io.UncheckedIOException}.
         */
        public Builder capture(OutputStream out) {
            capture = out;
            return this;
        }

        public World build() {
            return new World(this);
        }
    }
}
