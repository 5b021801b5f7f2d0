// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.memory.Region;
import io.verbena.transport.queue.CompletionRing;
import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
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
    private static final int XRC_DOMAIN = 5;

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
        TestHost host = new TestHost(Dialogue.HIGH, 1, 42);
        Settings settings = new Settings();
        QueuePairType[] types = QueuePairType.values();
        settings.type = random.nextBoolean() ? QueuePairType.RC : types[random.nextInt(types.length)];
        settings.xrcDomain = settings.type == QueuePairType.XRC_TGT ? XRC_DOMAIN : 0;
        settings.mtu = random.nextBoolean() ? Mtu.MTU_256 : Mtu.MTU_1024;
        settings.rqPsn = random.nextBoolean() ? 0xfffff8 : random.nextInt(1 << 24);
        settings.sqPsn = random.nextBoolean() ? 0xfffff8 : random.nextInt(1 << 24);
        settings.timeout = random.nextInt(12);
        settings.maxDestRdAtomic = random.nextInt(5);
        settings.ringDepth = random.nextInt(20) == 0 ? 4 : 512;
        SharedReceives shared = host.port.createSharedReceives(
                TestHost.DOMAIN,
                new WorkQueue(16, ReceiveSlot.bytes(Settings.MAX_SGE)),
                settings.xrcDomain,
                settings.xrcDomain == 0 ? null : new CompletionRing(settings.ringDepth));
        settings.shared = settings.type.hasReceiveQueue() && random.nextInt(3) == 0 ? shared : null;
        Dialogue d = start(random, host, settings);
        // Registered, but for local use or another domain only: no packet may change it.
        Region local = d.host.register(d.host.allocate(4096), AccessFlag.LOCAL_WRITE.code(), TestHost.DOMAIN);
        Region foreign = d.host.register(d.host.allocate(4096), TestHost.ALL, 1);
        local.segment().fill(SECRET);
        foreign.segment().fill(SECRET);
        Region[] regions = {d.memory, d.memory, d.memory, local, foreign};
        for (int i = 0; i < PACKETS; i++) {
            work(d, random, shared);
            boolean lost = d.end.any.state() == QueuePairState.ERR && random.nextInt(4) == 0;
            if (lost || random.nextInt(60) == 0) {
                restart(d, random);
            }
            Packet packet = packet(d, random, regions[random.nextInt(regions.length)], shared);
            arrive(d, packet, random);
            // The link has room seldom, so that answers heap up if they can.
            if (random.nextInt(4) == 0) {
                long frames = d.out().size();
                assertThat(frames).as("frames sent").isLessThan(2000);
            }
            if (random.nextInt(10) == 0) {
                d.advance(random.nextInt(3_000_000));
            }
            checkBounds(d, settings);
        }
        assertThat(local.segment().toArray(JAVA_BYTE)).containsOnly(SECRET);
        assertThat(foreign.segment().toArray(JAVA_BYTE)).containsOnly(SECRET);
        d.host.checkGuards();
        d.end.modify(d.now, QueuePairState.ERR, null, new QueuePairAttributes());
        d.out();
        assertThat(d.end.any.window.requestsInFlight()).isZero();
        assertThat(d.end.any.window.readsInFlight()).isZero();
        d.host.port.destroyQueuePair(d.end.any);
        assertThat(d.out()).isEmpty();
        assertThat(d.host.port.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    }

    private static void checkBounds(Dialogue d, Settings settings) {
        IbQueuePair qp = d.end.any;
        if (qp instanceof RcQueuePair rc) {
            assertThat(rc.responder.resources.unanswered()).isBetween(0, settings.maxDestRdAtomic);
            assertThat(rc.send.readsOutstanding()).isBetween(0, settings.maxRdAtomic);
        } else {
            assertThat(d.out()).as("answers").allMatch(packet -> packet.opcode.isRequest());
        }
        assertThat(qp.window.requestsInFlight()).isBetween(0L, PathWindow.REQUEST_LIMIT_MAX + (16 << 10));
        assertThat(qp.window.readsInFlight()).isBetween(0L, 2 * PathWindow.READ_LIMIT_MAX);
    }

    private static Dialogue start(Random random, TestHost host, Settings settings) {
        Dialogue d = switch (random.nextInt(10)) {
            case 0 -> Dialogue.init(host, settings);
            case 1, 2 -> Dialogue.rtr(host, settings);
            default -> Dialogue.rts(host, settings);
        };
        int number = host.port.addressHandles().add(d.back, TestHost.DOMAIN);
        assertThat(number).isZero();
        return d;
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

    private static void work(Dialogue d, Random random, SharedReceives shared) {
        Sge entry = Sge.of(d.memory, 32 << 10, random.nextInt(2000));
        if (random.nextInt(4) == 0 && d.end.hasRoom() && d.settings.type.hasSendQueue()) {
            Work work = switch (random.nextInt(6)) {
                case 0 -> Work.send(1, entry);
                case 1 -> Work.write(2, 0x1000, 5, entry);
                case 2 -> Work.read(3, 0x1000, 5, entry);
                case 3 -> Work.flush(6, 0x1000, 5, 100, 1, 0);
                case 4 -> Work.atomicWrite(7, 0x1000, 5, 1);
                default -> Work.fetchAdd(4, 0x1000, 5, 1, Sge.of(d.memory, 32 << 10, 8));
            };
            // Address handle 0 is there, others are not.
            boolean datagram = d.settings.type == QueuePairType.UD;
            d.end.post(datagram ? work.to(random.nextInt(20) / 19, 3, d.settings.qkey) : work);
        }
        if (random.nextInt(6) == 0 && d.end.receives.hasRoom(0) && d.settings.shared == null) {
            d.end.postReceive(5, entry);
        }
        if (random.nextInt(6) == 0 && shared.queue().hasRoom(0)) {
            TestQueuePair.postReceive(shared.queue(), 6, entry);
        }
        if (random.nextInt(20) == 0) {
            shared.armLimit(random.nextInt(17));
        }
        d.host.port.answerDoorbells(d.now);
        d.end.completions();
        if (shared.completions() != null) {
            d.end.receiveCompletions(shared.completions());
        }
    }

    private static Packet packet(Dialogue d, Random random, Region region, SharedReceives shared) {
        Opcode[] all = Opcode.values();
        Opcode opcode = all[random.nextInt(all.length)];
        boolean anyService = random.nextInt(10) == 0;
        while (!anyService && opcode.service() != d.end.any.service()) {
            opcode = all[random.nextInt(all.length)];
        }
        int base = opcode.isRequest() || d.qp == null ? d.end.any.expectedPsn() : d.qp.send.unackedPsn;
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
        packet.datagram(random.nextInt(10) == 0 ? random.nextInt() : d.settings.qkey, random.nextInt());
        packet.sharedReceiveQueue(random.nextInt(10) == 0 ? random.nextInt() : shared.number());
        packet.flush(random.nextInt(4), random.nextInt(3));
        packet.invalidate(key);
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
        int length = packet.write(d.buffer(), 0, d.end.any.qpNumber());
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
