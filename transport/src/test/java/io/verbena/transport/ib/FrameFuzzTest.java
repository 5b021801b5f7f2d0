// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.memory.Region;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.wire.ib.Icrc;
import io.verbena.wire.ib.Opcode;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random packets with a good ICRC, as an evil peer would send them, at queue pairs in every state and with work under
 * way. {@code -Dseed=N} runs one seed again.
 */
final class FrameFuzzTest {
    /** More with {@code -Dseeds=N}. */
    private static final int SEEDS = Integer.getInteger("seeds", 400);

    private static final int PACKETS = 250;
    private static final byte SECRET = 0x33;

    @Test
    void nothingThatArrivesThrowsOrTouchesOtherMemory() {
        long only = Long.getLong("seed", 0);
        for (long seed = only == 0 ? 1 : only; seed <= (only == 0 ? SEEDS : only); seed++) {
            try {
                run(new Random(seed));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + " (again with -Dseed=" + seed + ")", e);
            }
        }
    }

    private void run(Random random) {
        Settings settings = new Settings();
        settings.mtu = random.nextBoolean() ? Mtu.MTU_256 : Mtu.MTU_1024;
        settings.rqPsn = random.nextBoolean() ? 0xfffff8 : random.nextInt(1 << 24);
        settings.sqPsn = random.nextBoolean() ? 0xfffff8 : random.nextInt(1 << 24);
        settings.timeout = random.nextInt(12);
        settings.maxDestRdAtomic = random.nextInt(5);
        settings.ringDepth = random.nextInt(20) == 0 ? 4 : 512;
        Dialogue d = start(random, settings);
        // Registered, but for local use or another domain only: no packet may change it.
        Region local = d.host.register(d.host.allocate(4096), AccessFlag.LOCAL_WRITE.code(), TestHost.DOMAIN);
        Region foreign = d.host.register(d.host.allocate(4096), TestHost.ALL, 1);
        local.segment().fill(SECRET);
        foreign.segment().fill(SECRET);
        Region[] regions = {d.memory, d.memory, d.memory, local, foreign};
        for (int i = 0; i < PACKETS; i++) {
            work(d, random);
            boolean lost = d.qp.state() == QueuePairState.ERR && random.nextInt(4) == 0;
            if (lost || random.nextInt(60) == 0) {
                restart(d, random);
            }
            Packet packet = packet(d, random, regions[random.nextInt(regions.length)]);
            arrive(d, packet, random);
            // The link has room seldom, so that answers heap up if they can.
            if (random.nextInt(4) == 0) {
                long frames = d.out().size();
                assertThat(frames).as("frames sent").isLessThan(2000);
            }
            if (random.nextInt(10) == 0) {
                d.advance(random.nextInt(3_000_000));
            }
            assertThat(d.qp.responder.resources.unanswered()).isBetween(0, settings.maxDestRdAtomic);
            assertThat(d.qp.send.readsOutstanding()).isBetween(0, settings.maxRdAtomic);
            assertThat(d.qp.window.requestsInFlight()).isBetween(0L, PathWindow.REQUEST_LIMIT_MAX + (16 << 10));
            assertThat(d.qp.window.readsInFlight()).isBetween(0L, 2 * PathWindow.READ_LIMIT_MAX);
        }
        assertThat(local.segment().toArray(JAVA_BYTE)).containsOnly(SECRET);
        assertThat(foreign.segment().toArray(JAVA_BYTE)).containsOnly(SECRET);
        d.host.checkGuards();
        d.end.modify(d.now, QueuePairState.ERR, null, new QueuePairAttributes());
        d.out();
        assertThat(d.qp.window.requestsInFlight()).isZero();
        assertThat(d.qp.window.readsInFlight()).isZero();
        d.host.port.destroyQueuePair(d.qp);
        assertThat(d.out()).isEmpty();
        assertThat(d.host.port.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    }

    private static Dialogue start(Random random, Settings settings) {
        return switch (random.nextInt(10)) {
            case 0 -> Dialogue.init(settings);
            case 1, 2 -> Dialogue.rtr(settings);
            default -> Dialogue.rts(settings);
        };
    }

    /** ERR and RESET end in RTS again sooner or later, as an application that reconnects does it. */
    private static void restart(Dialogue d, Random random) {
        if (random.nextInt(3) == 0) {
            d.end.modify(d.now, QueuePairState.ERR, null, new QueuePairAttributes());
        } else {
            d.end.modify(d.now, QueuePairState.RESET, null, new QueuePairAttributes());
            d.end.connect(d.now, Dialogue.HIGH, Dialogue.PEER_LOW, Dialogue.PEER_QP);
        }
    }

    private static void work(Dialogue d, Random random) {
        Sge entry = Sge.of(d.memory, 32 << 10, random.nextInt(2000));
        if (random.nextInt(4) == 0 && d.end.hasRoom()) {
            d.end.post(
                    switch (random.nextInt(4)) {
                        case 0 -> Work.send(1, entry);
                        case 1 -> Work.write(2, 0x1000, 5, entry);
                        case 2 -> Work.read(3, 0x1000, 5, entry);
                        default -> Work.fetchAdd(4, 0x1000, 5, 1, Sge.of(d.memory, 32 << 10, 8));
                    });
        }
        if (random.nextInt(6) == 0 && d.end.receives.hasRoom(0)) {
            d.end.postReceive(5, entry);
        }
        d.host.port.answerDoorbells(d.now);
        d.end.completions();
    }

    private static Packet packet(Dialogue d, Random random, Region region) {
        Opcode[] all = Opcode.values();
        Opcode opcode =
                all[random.nextInt(random.nextInt(10) == 0 ? all.length : Opcode.RC_ATOMIC_WRITE.ordinal() + 1)];
        int base = opcode.isRequest() ? d.qp.expectedPsn() : d.qp.send.unackedPsn;
        int psn = switch (random.nextInt(5)) {
            case 0, 1, 2 -> base;
            case 3 -> base + random.nextInt(12) - 6;
            default -> random.nextInt();
        };
        int mtu = d.settings.mtu.bytes();
        int payload = opcode.hasPayload() ? (random.nextBoolean() ? mtu : random.nextInt(mtu + 8)) : 0;
        long offset = random.nextInt(5) == 0 ? random.nextLong() : random.nextInt((int) region.length() + 16) - 8;
        long aligned = random.nextBoolean() ? offset & ~7 : offset;
        int key = random.nextInt(8) == 0 ? random.nextInt() : random.nextInt(8) == 0 ? region.lkey() : region.rkey();
        long length = random.nextInt(3) == 0 ? random.nextInt(70_000) : payload;
        length = random.nextInt(50) == 0 ? random.nextLong() : length;
        Packet packet = Packet.of(opcode, psn).bytes(payload);
        packet.ackRequest = random.nextBoolean();
        packet.solicited = random.nextBoolean();
        packet.aeth(random.nextInt(3) > 0 ? 0x1f : random.nextInt(256), random.nextInt());
        packet.reth(region.address() + aligned, key, length);
        packet.swapOrAdd = random.nextLong();
        packet.compare = random.nextLong();
        packet.padOverride = random.nextInt(20) == 0 ? random.nextInt(4) : -1;
        return packet;
    }

    private static void arrive(Dialogue d, Packet packet, Random random) {
        if (random.nextInt(10) > 0) {
            d.send(packet);
            return;
        }
        // Mutated behind the headers' back, but with an ICRC that is right, and of any length.
        int length = packet.write(d.buffer(), 0, d.qp.qpNumber());
        length = random.nextBoolean() ? length : random.nextInt(length + 1);
        for (int i = random.nextInt(4); i >= 0 && length > 0; i--) {
            d.buffer().set(JAVA_BYTE, random.nextInt(length), (byte) random.nextInt());
        }
        int total = Math.max(length, 12) + Icrc.BYTES;
        d.frame().wrap(d.buffer(), 0, total);
        d.frame().ipId(0);
        d.frame().local(Dialogue.HIGH, Dialogue.PEER_LOW, 0xc001);
        d.frame().remote(Dialogue.HIGH, 1, 4791);
        Icrc.store(d.buffer(), total - Icrc.BYTES, new Icrc().rocev2(d.frame(), total - Icrc.BYTES));
        d.arrive(Dialogue.HIGH, Dialogue.PEER_LOW, total);
    }
}
