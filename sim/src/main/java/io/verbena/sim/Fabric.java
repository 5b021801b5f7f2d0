// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.verbena.sim.FabricCounters.Kind;
import io.verbena.transport.queue.SeededRandom;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Opcode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Carries frames from host to host, and does to them what the plan says. */
final class Fabric implements AutoCloseable {
    private static final int DUPLICATE_LATER_NS = 20_000;
    private static final int SCRIPTED_DELAY_NS = 100_000;
    private static final int FLIPS_MAX = 3;
    private static final int UDP_IPV4_BYTES = 28;
    private static final int UDP_IPV6_BYTES = 48;

    private final World world;
    private final FlightPool pool = new FlightPool();
    private final EventQueue queue;
    private final SeededRandom random;
    private final FabricCounters counters = new FabricCounters();
    private final FrameDigest digest = new FrameDigest();
    private final List<Host> hosts = new ArrayList<>();
    private final SimFrame inspected;
    private final @Nullable Capture capture;
    private FaultPlan plan;
    /** How many frames each scripted fault has counted. */
    private int[] matches;

    private @Nullable Interceptor interceptor;

    Fabric(World world, EventQueue queue, SeededRandom random, FaultPlan plan, @Nullable Capture capture) {
        this.world = world;
        this.queue = queue;
        this.random = random;
        this.plan = plan;
        this.capture = capture;
        this.matches = new int[plan.script().size()];
        this.inspected = new SimFrame(this);
    }

    List<Host> hosts() {
        return hosts;
    }

    FabricCounters counters() {
        return counters;
    }

    long digest() {
        return digest.value();
    }

    void interceptor(@Nullable Interceptor value) {
        interceptor = value;
    }

    void heal() {
        plan = plan.healed();
        matches = new int[0];
        for (Host host : hosts) {
            host.cutFrom = 0;
        }
    }

    Flight take() {
        return pool.take();
    }

    /** A frame has come to its end. */
    void release(Flight flight) {
        Host from = flight.from;
        if (from != null) {
            from.underWay--;
        }
        pool.release(flight);
    }

    /** Whether the plan has the link of a host down now. */
    boolean hasLinkDown(Host host) {
        return plan.windows().stream()
                .anyMatch(window -> window.kind() == FaultWindow.Kind.LINK_DOWN
                        && window.concerns(host.name())
                        && window.active(world.now()));
    }

    /** How long a host pauses after a frame that it took in. */
    long pauseNs(Host host) {
        List<FaultWindow> windows = plan.windows();
        for (int i = 0; i < windows.size(); i++) {
            FaultWindow window = windows.get(i);
            if (window.kind() == FaultWindow.Kind.SLOW && window.concerns(host.name()) && window.active(world.now())) {
                return window.value();
            }
        }
        return 0;
    }

    /** A host sends; the flight belongs to the fabric from now on. */
    void send(Host from, Flight flight) {
        flight.from = from;
        from.underWay++;
        digest.add(world.now(), from.index, flight);
        if (isGroup(flight.targetHigh, flight.targetLow)) {
            Host.Group group = new Host.Group(flight.targetHigh, flight.targetLow);
            for (int i = 0; i < hosts.size(); i++) {
                if (hosts.get(i).groups.contains(group)) {
                    route(from, hosts.get(i), copy(flight));
                }
            }
            release(flight);
            return;
        }
        for (int i = 0; i < hosts.size(); i++) {
            if (hosts.get(i).has(flight.targetHigh, flight.targetLow)) {
                route(from, hosts.get(i), flight);
                return;
            }
        }
        counters.count(Kind.SENT);
        lose(flight, Kind.NO_HOST);
    }

    private static boolean isGroup(long high, long low) {
        return high >>> 56 == 0xff || (high == 0 && low >>> 28 == 0xffffeL);
    }

    private Flight copy(Flight flight) {
        Flight copy = pool.take();
        copy.copyFrom(flight);
        Host from = copy.from;
        if (from != null) {
            from.underWay++;
        }
        return copy;
    }

    /** The same frame once more, in order behind nothing; for interceptors and duplicates. */
    void sendCopy(Flight flight, long laterNs) {
        Flight copy = copy(flight);
        counters.count(Kind.DUPLICATED);
        record(copy, "copy");
        queue.add(copy, world.now() + plan.delay().draw(random) + laterNs);
    }

    private void route(Host from, Host to, Flight flight) {
        counters.count(Kind.SENT);
        flight.to = to;
        long lateNs = 0;
        Interceptor looking = interceptor;
        if (looking != null) {
            inspected.set(flight, from, to);
            looking.onFrame(inspected);
            lateNs = inspected.delayNs;
            if (inspected.dropped) {
                lose(flight, Kind.SCRIPTED);
                return;
            }
        }
        Kind obstacle = obstacle(from, to, flight);
        if (obstacle != null) {
            lose(flight, obstacle);
            return;
        }
        ScriptedFault scripted = matches.length == 0 ? null : scripted(from, to, flight);
        if (scripted != null) {
            counters.count(Kind.SCRIPTED);
            switch (scripted.action()) {
                case DROP -> {
                    record(flight, "dropped by the script");
                    release(flight);
                    return;
                }
                case DUPLICATE -> sendCopy(flight, DUPLICATE_LATER_NS);
                case DELAY -> lateNs += SCRIPTED_DELAY_NS;
                case CORRUPT -> corrupt(flight);
            }
        }
        if (Dice.chance(random, plan.loss())) {
            lose(flight, Kind.LOST);
            return;
        }
        damage(flight);
        schedule(from, to, flight, lateNs);
    }

    private void damage(Flight flight) {
        if (Dice.chance(random, plan.duplicate())) {
            sendCopy(flight, Dice.below(random, Math.max(plan.reorderWindowNs(), DUPLICATE_LATER_NS)));
        }
        if (Dice.chance(random, plan.corrupt())) {
            counters.count(Kind.CORRUPTED);
            corrupt(flight);
        }
        if (Dice.chance(random, plan.truncate())) {
            counters.count(Kind.TRUNCATED);
            flight.length = random.nextInt(flight.length);
        }
    }

    private void schedule(Host from, Host to, Flight flight, long lateNs) {
        long arrival = world.now() + plan.delay().draw(random) + lateNs;
        if (Dice.chance(random, plan.reorder())) {
            counters.count(Kind.REORDERED);
            arrival += Dice.below(random, Math.max(1, plan.reorderWindowNs()));
        } else if (lateNs == 0) {
            // A path keeps the order of its frames.
            arrival = Math.max(arrival, from.lastArrival[to.index]);
            from.lastArrival[to.index] = arrival;
        }
        record(flight, null);
        queue.add(flight, arrival);
    }

    /** What keeps the frame from getting through, or null. */
    private @Nullable Kind obstacle(Host from, Host to, Flight flight) {
        if (!from.up || !to.up) {
            return Kind.LINK_DOWN;
        }
        if ((from.cutFrom & (1 << to.index)) != 0) {
            return Kind.PARTITIONED;
        }
        List<FaultWindow> windows = plan.windows();
        for (int i = 0; i < windows.size(); i++) {
            FaultWindow window = windows.get(i);
            if (!window.active(world.now()) || !window.hits(from.name(), to.name())) {
                continue;
            }
            if (window.kind() == FaultWindow.Kind.PARTITION) {
                return Kind.PARTITIONED;
            }
            int headers = flight.targetHigh == 0 ? UDP_IPV4_BYTES : UDP_IPV6_BYTES;
            if (window.kind() == FaultWindow.Kind.BLACK_HOLE && flight.length + headers > window.value()) {
                return Kind.BLACK_HOLED;
            }
        }
        return null;
    }

    private @Nullable ScriptedFault scripted(Host from, Host to, Flight flight) {
        Opcode opcode = flight.length < Bth.BYTES ? null : Opcode.of(Bth.opcode(flight.buffer, flight.offset));
        ScriptedFault due = null;
        for (int i = 0; i < matches.length; i++) {
            ScriptedFault fault = plan.script().get(i);
            if (fault.matches(opcode, from.name(), to.name()) && ++matches[i] == fault.nth()) {
                due = fault;
            }
        }
        return due;
    }

    private void corrupt(Flight flight) {
        for (int flips = 1 + random.nextInt(FLIPS_MAX); flips > 0; flips--) {
            int bit = random.nextInt(flight.length * Byte.SIZE);
            long at = flight.offset + (bit >>> 3);
            byte old = flight.buffer.get(JAVA_BYTE, at);
            flight.buffer.set(JAVA_BYTE, at, (byte) (old ^ (1 << (bit & 7))));
        }
    }

    private void lose(Flight flight, Kind why) {
        counters.count(why);
        record(flight, why.key());
        release(flight);
    }

    private void record(Flight flight, @Nullable String comment) {
        if (capture != null) {
            capture.write(world.now(), flight, comment);
        }
    }

    /** A flight has reached its host. */
    void deliver(Flight flight) {
        Host to = flight.to;
        if (to == null || to.link.closed()) {
            counters.count(Kind.NO_HOST);
            release(flight);
        } else if (!to.up) {
            counters.count(Kind.LINK_DOWN);
            release(flight);
        } else if (to.arrive(flight)) {
            counters.count(Kind.DELIVERED);
        } else {
            counters.count(Kind.OVERFLOWED);
            release(flight);
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
