// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.encap.Path;
import io.verbena.transport.encap.RoceV2;
import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.queue.CompletionRing;
import io.verbena.verbs.QueuePairState;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Icrc;
import io.verbena.wire.ib.Opcode;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which frames reach a queue pair, and what the rest is counted as. */
final class PortDemuxTest {
    private static Packet write(Dialogue d) {
        return d.request(Opcode.RC_WRITE_ONLY, 0)
                .reth(d.memory.address(), d.memory.rkey(), 8)
                .payload(new byte[8])
                .ack();
    }

    /** The frame is dropped for this reason and no other, and nothing changes. */
    private static void expectDrop(Dialogue d, Counter reason, Consumer<Dialogue> arrival) {
        byte[] before = d.bytes(d.memory, 0, 64);
        Map<Counter, Long> counts = drops(d);
        arrival.accept(d);
        counts.merge(reason, 1L, Long::sum);
        assertThat(drops(d)).isEqualTo(counts);
        d.expectNothing();
        assertThat(d.bytes(d.memory, 0, 64)).isEqualTo(before);
        assertThat(d.qp.expectedPsn()).isEqualTo(d.settings.rqPsn);
    }

    private static Map<Counter, Long> drops(Dialogue d) {
        Map<Counter, Long> counts = new EnumMap<>(Counter.class);
        for (Counter counter : Counter.values()) {
            if (counter.name().startsWith("DROP_")) {
                counts.put(counter, d.dropped(counter));
            }
        }
        return counts;
    }

    private static int seal(Dialogue d, Packet packet) {
        Frame frame = d.frame();
        frame.wrap(d.buffer(), 0, 4096);
        frame.ipId(0);
        Path back = new Path(Dialogue.HIGH, Dialogue.PEER_LOW, Dialogue.HIGH, 1, 0xc001, Path.ROCE_V2_PORT, 0, 64);
        new RoceV2().seal(frame, back, packet.write(d.buffer(), 0, d.qp.qpNumber()));
        return frame.length();
    }

    /** 2.A: RC packets come from the address of the path, and to it. */
    @Test
    void framesFromAnotherAddressAreDropped() {
        Dialogue d = Dialogue.rts();
        expectDrop(d, Counter.DROP_WRONG_ADDRESS, x -> x.arrive(Dialogue.HIGH, 3, seal(x, write(x))));
        expectDrop(d, Counter.DROP_WRONG_ADDRESS, x -> x.arrive(Dialogue.HIGH + 1, 2, seal(x, write(x))));
    }

    @Test
    void framesOfAnotherPartitionAreDropped() {
        Dialogue d = Dialogue.rts();
        Packet packet = write(d);
        packet.partitionKey = 0xfffe;
        expectDrop(d, Counter.DROP_WRONG_PARTITION, x -> x.send(packet));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 15})
    void otherTransportVersionsAreDropped(int version) {
        Dialogue d = Dialogue.rts();
        Packet packet = write(d);
        packet.version = version;
        expectDrop(d, Counter.DROP_BAD_VERSION, x -> x.send(packet));
    }

    @Test
    void framesForNobodyAreDropped() {
        Dialogue d = Dialogue.rts();
        int number = d.qp.qpNumber();
        for (int other : new int[] {0, 1, number + 1, number ^ 0x10000}) {
            expectDrop(d, Counter.DROP_NO_QUEUE_PAIR, x -> x.send(write(x), other));
        }
        expectDrop(d, Counter.DROP_NO_GROUP_MEMBER, x -> x.send(write(x), 0xffffff));
        d.host.port.destroyQueuePair(d.qp);
        expectDrop(d, Counter.DROP_NO_QUEUE_PAIR, x -> x.send(write(x), number));
    }

    @Test
    void framesForAQueuePairThatDoesNotReceiveAreDropped() {
        Dialogue d = Dialogue.init(new Settings());
        byte[] before = d.bytes(d.memory, 0, 64);
        d.send(write(d));
        assertThat(d.dropped(Counter.DROP_WRONG_STATE)).isEqualTo(1);
        assertThat(d.bytes(d.memory, 0, 64)).isEqualTo(before);
        Dialogue rtr = Dialogue.rtr(new Settings());
        expectDrop(rtr, Counter.DROP_WRONG_STATE, x -> x.send(x.acknowledge(0)));
    }

    /** 2.A and 6.B 38: each of the 256 opcodes, as short as its headers are. */
    @Test
    void everyOpcodeIsCarriedOutOrCounted() {
        for (int code = 0; code < 256; code++) {
            Opcode opcode = Opcode.of(code);
            if (opcode != null && opcode.service() == Opcode.Service.RC && opcode.isRequest()) {
                continue;
            }
            Counter reason = opcode == null
                    ? Counter.DROP_UNKNOWN_OPCODE
                    : switch (opcode.service()) {
                        case RC -> Counter.DROP_UNEXPECTED_RESPONSE;
                        case CNP -> Counter.DROP_CONGESTION_NOTIFICATION;
                        default -> Counter.DROP_WRONG_SERVICE;
                    };
            Dialogue d = Dialogue.rts();
            Packet packet = Packet.of(opcode == null ? Opcode.RC_SEND_ONLY : opcode, d.settings.rqPsn);
            int length = seal(d, packet);
            byte first = (byte) code;
            expectDrop(d, reason, x -> {
                x.buffer().set(JAVA_BYTE, 0, first);
                Frame frame = x.frame();
                frame.wrap(x.buffer(), 0, length);
                Icrc.store(x.buffer(), length - 4, new Icrc().rocev2(frame, length - 4));
                x.arrive(Dialogue.HIGH, Dialogue.PEER_LOW, length);
            });
        }
    }

    /**
     * 6.B 38: all opcodes at all lengths from 0 to 100, right ICRC or not: a frame changes nothing that its length does
     * not allow.
     */
    @Test
    void everyLengthOfEveryOpcodeIsHarmless() {
        for (int code = 0; code < 256; code++) {
            Dialogue d = Dialogue.rts();
            for (int length = 0; length <= 100; length++) {
                seal(d, write(d));
                d.buffer().asSlice(12, 100).fill((byte) 0);
                d.buffer().set(JAVA_BYTE, 0, (byte) code);
                if (length >= 16) {
                    d.frame().wrap(d.buffer(), 0, length);
                    Icrc.store(d.buffer(), length - 4, new Icrc().rocev2(d.frame(), length - 4));
                }
                d.arrive(Dialogue.HIGH, Dialogue.PEER_LOW, length);
                if (length < 16) {
                    assertThat(d.dropped(Counter.DROP_TOO_SHORT)).isEqualTo(length + 1);
                }
                d.out();
            }
            assertThat(d.dropped(Counter.FRAMES_RECEIVED)).isEqualTo(101);
            d.host.checkGuards();
        }
    }

    /** 6.B 38: padding that is longer than the payload. */
    @Test
    void paddingOfAnEmptyPayloadIsDropped() {
        Dialogue d = Dialogue.rts();
        Packet packet = d.request(Opcode.RC_SEND_ONLY, 0);
        packet.padOverride = 3;
        expectDrop(d, Counter.DROP_TOO_SHORT, x -> x.send(packet));
    }

    /** 2.A: every bit of the frame but the variant byte is covered. */
    @Test
    void anyFlippedBitIsDropped() {
        Dialogue d = Dialogue.rts();
        Packet packet = write(d);
        int length = seal(d, packet);
        byte[] good = d.buffer().asSlice(0, length).toArray(JAVA_BYTE);
        for (int bit = 0; bit < length * 8; bit++) {
            if (bit / 8 == 4) {
                continue;
            }
            byte[] bad = good.clone();
            bad[bit / 8] ^= (byte) (1 << bit % 8);
            d.buffer().asSlice(0, length).copyFrom(java.lang.foreign.MemorySegment.ofArray(bad));
            d.arrive(Dialogue.HIGH, Dialogue.PEER_LOW, length);
        }
        d.expectNothing();
        assertThat(d.qp.expectedPsn()).isEqualTo(d.settings.rqPsn);
        assertThat(drops(d).values().stream().mapToLong(Long::longValue).sum()).isEqualTo(length * 8L - 8);
        d.buffer().asSlice(0, length).copyFrom(java.lang.foreign.MemorySegment.ofArray(good));
        d.arrive(Dialogue.HIGH, Dialogue.PEER_LOW, length);
        d.expect("ACK +0 msn 1");
    }

    /** 1.12: a completion queue that overruns takes its queue pairs with it. */
    @Test
    void overrunOfACompletionQueueIsAnEventAndAnError() {
        Settings settings = new Settings();
        settings.ringDepth = 2;
        Dialogue d = Dialogue.rts(settings);
        TestQueuePair sharing = new TestQueuePair(d.host, settings, new CompletionRing(8), d.end.sendRing);
        sharing.connect(d.now, Dialogue.HIGH, 5, 6);
        for (int i = 0; i < 3; i++) {
            d.end.post(Work.send(i, Sge.of(d.memory, 0, 4)));
        }
        sharing.post(Work.send(7, Sge.of(d.memory, 0, 4)));
        d.out();
        d.send(d.acknowledge(2));
        assertThat(d.host.events).containsExactly("CQ_ERR");
        d.expectState(QueuePairState.ERR);
        assertThat(sharing.qp.state()).isEqualTo(QueuePairState.ERR);
        d.expectCompletions("0 SUCCESS", "1 SUCCESS");
        assertThat(sharing.poll(sharing.sendRing).wrId()).isEqualTo(7);
        d.advance(0);
        assertThat(d.host.events).hasSize(1);
    }

    /** Numbers are never 0, 1 or the multicast number; late packets of a queue pair do not find its successor. */
    @Test
    void queuePairNumbersAreNotReusedAtOnce() {
        TestHost host = new TestHost(Dialogue.HIGH, 1, 5);
        Set<Integer> live = new HashSet<>();
        Map<Integer, Integer> lastOfHandle = new HashMap<>();
        Settings settings = new Settings();
        settings.sendDepth = 1;
        settings.receiveDepth = 1;
        settings.ringDepth = 1;
        for (int i = 0; i < 3000; i++) {
            IbQueuePair one = new TestQueuePair(host, settings).qp;
            assertThat(live.add(one.qpNumber())).isTrue();
            assertThat(one.qpNumber()).isBetween(16, 0xfffffe);
            assertThat(lastOfHandle.getOrDefault(one.handle(), 0)).isNotEqualTo(one.qpNumber());
            lastOfHandle.put(one.handle(), one.qpNumber());
            if (i % 30 > 0) {
                host.port.destroyQueuePair(one);
                live.remove(one.qpNumber());
            }
        }
    }
}
