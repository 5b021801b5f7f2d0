// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.verbena.transport.memory.Region;
import io.verbena.verbs.Mtu;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Aeth;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Icrc;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Two ports in virtual time over a network that loses, doubles, reorders, corrupts and truncates. Nothing may be lost,
 * doubled or torn (6.A 17), and when the network heals everything ends within a bound. {@code -Dseed=N} runs one seed
 * again.
 */
final class LossyPairTest {
    /** More with {@code -Dseeds=N}. */
    private static final int SEEDS = Integer.getInteger("seeds", 200);

    private static final long HEALED_BOUND_NS = 4_000_000_000L;

    private Pair.Tamper tamper;

    @Test
    void nothingIsLostDoubledOrTorn() {
        Long only = Long.getLong("seed");
        LongStream seeds = only == null ? LongStream.rangeClosed(1, SEEDS) : LongStream.of(only);
        List<String> failed = new ArrayList<>();
        seeds.forEach(seed -> {
            try {
                run(seed, true);
            } catch (AssertionError | RuntimeException e) {
                failed.add("seed " + seed + " (again: mvn -pl transport -am test -Dtest=LossyPairTest"
                        + " -Dsurefire.failIfNoSpecifiedTests=false -Dseed=" + seed + "): " + e);
                if (failed.size() == 1) {
                    e.printStackTrace();
                }
            }
        });
        if (!failed.isEmpty()) {
            fail(failed.size() + " seeds failed\n" + String.join("\n", failed.subList(0, Math.min(8, failed.size()))));
        }
    }

    @Test
    void aSeedRepeatsItself() {
        assertThat(run(7, true)).isEqualTo(run(7, true));
    }

    /** Canary: what a checksum cannot see must be seen by the model. */
    @Test
    void noticesCorruptionThatTheChecksumMisses() {
        Random random = new Random(1);
        tamper = (to, frame) -> {
            Opcode opcode = Opcode.of(frame[0]);
            int body = opcode == null ? 0 : opcode.headerBytes();
            boolean data = frame.length - Icrc.BYTES - body > 8;
            return data && random.nextInt(20) == 0 ? reseal(to, flip(frame, body + random.nextInt(8))) : frame;
        };
        assertThatSomeSeedFails();
    }

    /** Canary: a peer that says it received what was lost. */
    @Test
    void noticesWorkThatIsLost() {
        tamper = (to, frame) -> {
            boolean nak = frame[0] == Opcode.RC_ACKNOWLEDGE.code() && (frame[12] & 0xff) == Aeth.NAK_PSN_SEQUENCE_ERROR;
            if (!nak) {
                return frame;
            }
            byte[] lie = frame.clone();
            lie[12] = Aeth.ACK_UNLIMITED_CREDITS;
            return reseal(to, lie);
        };
        assertThatSomeSeedFails();
    }

    /** Canary: an acknowledgement for an atomic that was carried out twice. */
    @Test
    void noticesWorkThatIsDoubled() {
        tamper = (to, frame) -> {
            if (frame[0] == Opcode.RC_FETCH_ADD.code()) {
                byte[] twice = frame.clone();
                // The low byte of what is added.
                twice[Bth.BYTES + 19]++;
                return reseal(to, twice);
            }
            return frame;
        };
        assertThatSomeSeedFails();
    }

    private void assertThatSomeSeedFails() {
        for (long seed = 1; seed <= 20; seed++) {
            try {
                run(seed, true);
            } catch (AssertionError expected) {
                return;
            }
        }
        fail("the checks do not see it");
    }

    private static byte[] flip(byte[] frame, int at) {
        byte[] wrong = frame.clone();
        wrong[at] ^= 1;
        return wrong;
    }

    private static byte[] reseal(TestHost to, byte[] bytes) {
        MemorySegment copy = Arena.ofAuto().allocate(bytes.length);
        copy.copyFrom(MemorySegment.ofArray(bytes));
        Frame frame = new Frame();
        frame.wrap(copy, 0, bytes.length);
        frame.local(to.high, 3 - to.low, 0xc000);
        frame.remote(to.high, to.low, 4791);
        int end = bytes.length - Icrc.BYTES;
        Icrc.store(copy, end, new Icrc().rocev2(frame, end));
        return copy.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
    }

    private static FaultPlan faults(Random random) {
        double scale = random.nextDouble();
        long reorderNs = (long) (random.nextDouble() * 200_000);
        return new FaultPlan(
                scale * 0.07,
                scale * 0.1,
                scale * 0.1,
                scale * 0.02,
                scale * 0.01,
                2_000 + random.nextInt(10_000),
                reorderNs);
    }

    private static Settings settings(Random random, Mtu mtu, int depth) {
        Settings settings = new Settings();
        settings.mtu = mtu;
        settings.sqPsn = random.nextBoolean() ? 0xfffff0 + random.nextInt(16) : random.nextInt(1 << 24);
        settings.rqPsn = random.nextBoolean() ? 0xfffff0 + random.nextInt(16) : random.nextInt(1 << 24);
        settings.timeout = 8 + random.nextInt(3);
        settings.maxRdAtomic = depth;
        settings.maxDestRdAtomic = depth;
        settings.minRnrTimer = 1 + random.nextInt(12);
        settings.receiveDepth = 1 + random.nextInt(12);
        settings.sendDepth = 4 + random.nextInt(28);
        settings.signalAll = false;
        return settings;
    }

    /** Runs a seed; returns a line that sums it up, the same for the same seed. */
    private String run(long seed, boolean faulty) {
        Pair pair = new Pair(seed);
        Random random = pair.random;
        pair.tamper = tamper;
        Region[] counters = {pair.a.region(Long.BYTES), pair.b.region(Long.BYTES)};
        List<Workload> loads = new ArrayList<>();
        List<List<Workload>> byTarget = List.of(new ArrayList<>(), new ArrayList<>());
        int connections = 1 + random.nextInt(4);
        for (int i = 0; i < connections; i++) {
            Mtu mtu = Mtu.values()[random.nextInt(Mtu.values().length)];
            int depth = 1 + random.nextInt(6);
            TestQueuePair[] ends = pair.connect(settings(random, mtu, depth), settings(random, mtu, depth));
            for (int to = 0; to < 2; to++) {
                int operations = 10 + random.nextInt(60 / connections);
                Workload load = new Workload(random, ends[1 - to], ends[to], counters[to], operations);
                loads.add(load);
                byTarget.get(to).add(load);
            }
        }
        pair.plan = faulty ? faults(random) : FaultPlan.none();
        long healAt = pair.now + 1_000_000 + random.nextInt(30_000_000);
        drive(pair, loads, healAt);
        assertThat(pair.settle(HEALED_BOUND_NS)).as("comes to rest").isTrue();
        loads.forEach(Workload::poll);
        for (int to = 0; to < 2; to++) {
            checkTarget(byTarget.get(to), counters[to]);
        }
        checkAtRest(pair.a);
        checkAtRest(pair.b);
        return pair.now + " ns, " + pair.framesSent + " frames";
    }

    private static void drive(Pair pair, List<Workload> loads, long healAt) {
        long nextAction = pair.now;
        int idle = 0;
        while (!loads.stream().allMatch(Workload::finished)) {
            if (pair.now >= healAt) {
                pair.plan = FaultPlan.none();
            }
            assertThat(pair.now - healAt).as("time since the network healed").isLessThan(HEALED_BOUND_NS);
            if (pair.now >= nextAction) {
                for (Workload load : loads) {
                    if (pair.random.nextInt(3) == 0) {
                        load.postSome();
                    }
                    if (pair.random.nextInt(4) == 0) {
                        load.receiveSome();
                    }
                }
                nextAction = pair.now + 1_000 + pair.random.nextInt(200_000);
            }
            long before = pair.now;
            pair.step(nextAction);
            idle = pair.now == before ? idle + 1 : 0;
            assertThat(idle).as("cycles without time passing").isLessThan(10_000);
            loads.forEach(Workload::poll);
        }
    }

    private static void checkTarget(List<Workload> loads, Region counter) {
        List<Long> values = new ArrayList<>();
        long adds = 0;
        for (Workload load : loads) {
            assertThat(load.finished()).isTrue();
            load.checkMemory(values);
            adds += load.counterAdds;
        }
        assertThat(counter.segment().get(JAVA_LONG, 0)).as("shared counter").isEqualTo(adds);
        assertThat(values).doesNotHaveDuplicates().allMatch(value -> value >= 0 && value < Long.MAX_VALUE);
    }

    private static void checkAtRest(TestHost host) {
        host.checkGuards();
        assertThat(host.port.wantsToSend()).isFalse();
        assertThat(host.port.nextDeadline()).isEqualTo(Long.MAX_VALUE);
        assertThat(host.events).allMatch("COMM_EST"::equals);
        for (TestQueuePair end : host.queuePairs) {
            assertThat(end.qp.window.requestsInFlight()).as("requests charged").isZero();
            assertThat(end.qp.window.readsInFlight()).as("READs charged").isZero();
            assertThat(end.qp.send.chargedRequests).isZero();
            assertThat(end.qp.send.readsOutstanding()).isZero();
            assertThat(end.qp.send.outstanding()).isFalse();
            assertThat(end.qp.responder.resources.unanswered()).isZero();
        }
    }
}
