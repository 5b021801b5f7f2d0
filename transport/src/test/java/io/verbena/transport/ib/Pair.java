// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.verbena.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * Two hosts in virtual time with a faulty network between them. Everything follows from the seed. Addresses are IPv6,
 * so that the ICRC has no bits to solve for and finds every single corruption.
 */
final class Pair {
    static final int FRAME_BYTES_MAX = 4096 + 128;
    private static final long HIGH = 0xfd00_0000_0000_0000L;
    private static final int FRAMES_PER_CYCLE = 64;
    /** A frame's time on the wire, so that frames of one cycle do not arrive all at once. */
    private static final long FRAME_NS = 200;

    /** Changes frames on their way beyond what a {@link FaultPlan} does; for tests of the tests. */
    interface Tamper {
        /** Returns the frame that goes on, or null when it is swallowed. */
        byte[] apply(TestHost to, byte[] frame);
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared by value
    private record Flight(long at, long order, TestHost to, byte[] bytes) implements Comparable<Flight> {
        @Override
        public int compareTo(Flight other) {
            int byTime = Long.compare(at, other.at);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    final TestHost a;
    final TestHost b;
    final Random random;
    long now = 1_000_000;
    FaultPlan plan = FaultPlan.none();
    Tamper tamper;
    long framesSent;

    private final PriorityQueue<Flight> flights = new PriorityQueue<>();
    private final Frame frame = new Frame();
    private final MemorySegment out = Arena.ofAuto().allocate(FRAME_BYTES_MAX, 64);
    /** A frame lies at its end, so that reading past a frame fails. */
    private final MemorySegment in = Arena.ofAuto().allocate(FRAME_BYTES_MAX, 64);

    private long order;

    Pair(long seed) {
        random = new Random(seed);
        a = new TestHost(HIGH, 1, random.nextLong());
        b = new TestHost(HIGH, 2, random.nextLong());
    }

    TestHost other(TestHost host) {
        return host == a ? b : a;
    }

    /** Connects a new queue pair of each host; the settings' PSNs are those of {@code a}. */
    TestQueuePair[] connect(Settings settingsA, Settings settingsB) {
        settingsB.sqPsn = settingsA.rqPsn;
        settingsB.rqPsn = settingsA.sqPsn;
        TestQueuePair one = new TestQueuePair(a, settingsA);
        TestQueuePair two = new TestQueuePair(b, settingsB);
        one.connect(now, HIGH, b.low, two.qp.qpNumber());
        two.connect(now, HIGH, a.low, one.qp.qpNumber());
        return new TestQueuePair[] {one, two};
    }

    /** One duty cycle of both hosts. */
    void cycle() {
        cycle(a);
        cycle(b);
    }

    private void cycle(TestHost host) {
        host.port.answerDoorbells(now);
        if (host.port.nextDeadline() <= now) {
            host.port.onTimeout(now);
        }
        for (int i = 0; i < FRAMES_PER_CYCLE; i++) {
            frame.wrap(out, 0, FRAME_BYTES_MAX);
            frame.ipId(0);
            if (!host.port.pollFrame(now, frame)) {
                break;
            }
            byte[] bytes = new byte[frame.length()];
            MemorySegment.copy(out, JAVA_BYTE, 0, bytes, 0, bytes.length);
            framesSent++;
            transmit(other(host), bytes, now + plan.delayNs() + i * FRAME_NS);
        }
        host.port.pollEvents();
    }

    private void transmit(TestHost to, byte[] original, long at) {
        byte[] bytes = tamper == null ? original : tamper.apply(to, original);
        if (bytes == null || random.nextDouble() < plan.loss()) {
            return;
        }
        if (random.nextDouble() < plan.corrupt()) {
            bytes = bytes.clone();
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        }
        if (random.nextDouble() < plan.truncate()) {
            bytes = java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length));
        }
        int copies = random.nextDouble() < plan.duplicate() ? 2 : 1;
        for (int i = 0; i < copies; i++) {
            boolean late = i > 0 || random.nextDouble() < plan.reorder();
            long extra = late && plan.reorderNs() > 0 ? (long) (random.nextDouble() * plan.reorderNs()) : 0;
            flights.add(new Flight(at + extra, order++, to, bytes));
        }
    }

    /** Delivers frames whose time has come. */
    private void deliver() {
        for (Flight next = flights.peek(); next != null && next.at <= now; next = flights.peek()) {
            flights.poll();
            deliver(next.to, next.bytes);
        }
    }

    void deliver(TestHost to, byte[] bytes) {
        TestHost from = other(to);
        int offset = FRAME_BYTES_MAX - bytes.length;
        MemorySegment.copy(bytes, 0, in, JAVA_BYTE, offset, bytes.length);
        frame.wrap(in, offset, bytes.length);
        frame.ipId(0);
        frame.local(to.high, to.low, 4791);
        frame.remote(from.high, from.low, 0xc000);
        to.port.onFrame(now, frame);
    }

    /** When something happens next, {@link Long#MAX_VALUE} for never. */
    long next() {
        long next = Math.min(a.port.nextDeadline(), b.port.nextDeadline());
        Flight flight = flights.peek();
        if (flight != null) {
            next = Math.min(next, flight.at);
        }
        return a.port.wantsToSend() || b.port.wantsToSend() ? now + FRAME_NS : next;
    }

    /** Goes on to what happens next, at the latest to {@code until}, and lets both hosts act on it. */
    void step(long until) {
        now = Math.max(now, Math.min(until, next()));
        deliver();
        cycle();
    }

    /** Runs until nothing is under way, within a bound of virtual time; false when that did not do. */
    boolean settle(long boundNs) {
        long end = now + boundNs;
        cycle();
        while (next() != Long.MAX_VALUE) {
            if (next() > end) {
                return false;
            }
            step(end);
        }
        return true;
    }
}
