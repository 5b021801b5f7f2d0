// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.encap.Path;
import io.verbena.transport.encap.RoceV2;
import io.verbena.transport.memory.Region;
import io.verbena.verbs.QueuePairState;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A queue pair under test and a peer that the test plays: packets go in and come out one by one, at times that the test
 * says.
 */
final class Dialogue {
    static final long HIGH = 0xfd00_0000_0000_0000L;
    static final long PEER_LOW = 2;
    static final int PEER_QP = 0x77;
    private static final int FRAME_BYTES = 4096 + 128;

    final TestHost host;
    final Settings settings;
    final TestQueuePair end;
    /** Null for services other than RC and XRC. */
    final RcQueuePair qp;
    /** Registered for everything, 64 KiB, filled with a pattern. */
    final Region memory;

    /** What is sent has a wrong ICRC. */
    boolean corrupt;

    long now = 1_000_000_000L;
    private final Frame frame = new Frame();
    private final RoceV2 peer = new RoceV2();
    private final MemorySegment buffer = Arena.ofAuto().allocate(FRAME_BYTES, 8);
    /** The way from the peer; a test may choose another. */
    Path back = new Path(HIGH, PEER_LOW, HIGH, 1, 0xc001, Path.ROCE_V2_PORT, 0, 64);

    private Dialogue(TestHost host, Settings settings) {
        this.host = host;
        this.settings = settings;
        end = new TestQueuePair(host, settings);
        qp = end.qp;
        memory = host.region(64 << 10);
        fill(memory);
    }

    static void fill(Region region) {
        byte[] pattern = Packet.pattern((int) region.length());
        MemorySegment.copy(pattern, 0, region.segment(), JAVA_BYTE, 0, pattern.length);
    }

    static Dialogue rts() {
        return rts(new Settings());
    }

    static Dialogue rts(Settings settings) {
        return rts(new TestHost(HIGH, 1, 42), settings);
    }

    /** On a host that has what the settings refer to, such as a shared receive queue. */
    static Dialogue rts(TestHost host, Settings settings) {
        Dialogue dialogue = rtr(host, settings);
        dialogue.end.toRts(dialogue.now);
        return dialogue;
    }

    static Dialogue rtr(Settings settings) {
        return rtr(new TestHost(HIGH, 1, 42), settings);
    }

    static Dialogue rtr(TestHost host, Settings settings) {
        Dialogue dialogue = init(host, settings);
        dialogue.end.toRtr(dialogue.now, HIGH, PEER_LOW, PEER_QP);
        return dialogue;
    }

    static Dialogue init(Settings settings) {
        return init(new TestHost(HIGH, 1, 42), settings);
    }

    static Dialogue init(TestHost host, Settings settings) {
        Dialogue dialogue = new Dialogue(host, settings);
        dialogue.end.toInit(dialogue.now);
        return dialogue;
    }

    /** A request of the peer; {@code psn} counts from the first one expected. */
    Packet request(Opcode opcode, int psn) {
        return Packet.of(opcode, settings.rqPsn + psn);
    }

    /** An answer of the peer; {@code psn} counts from the first one sent. */
    Packet response(Opcode opcode, int psn) {
        return Packet.of(opcode, settings.sqPsn + psn);
    }

    Packet acknowledge(int psn) {
        return response(Opcode.RC_ACKNOWLEDGE, psn);
    }

    Packet negative(int psn, int syndrome) {
        return acknowledge(psn).aeth(syndrome, 0);
    }

    void send(Packet packet) {
        send(packet, end.any.qpNumber());
    }

    void send(Packet packet, int destinationQp) {
        frame.wrap(buffer, 0, FRAME_BYTES);
        frame.ipId(0);
        int bytes = packet.write(buffer, 0, destinationQp);
        peer.seal(frame, back, bytes);
        if (corrupt) {
            buffer.set(JAVA_BYTE, bytes, (byte) ~buffer.get(JAVA_BYTE, bytes));
        }
        arrive(back.localHigh(), back.localLow(), frame.length());
    }

    /** Lets the bytes at the start of {@link #buffer()} arrive. */
    void arrive(long fromHigh, long fromLow, int length) {
        MemorySegment.copy(buffer, 0, buffer, FRAME_BYTES - length, length);
        frame.wrap(buffer, FRAME_BYTES - length, length);
        frame.ipId(0);
        frame.local(back.remoteHigh(), back.remoteLow(), Path.ROCE_V2_PORT);
        frame.remote(fromHigh, fromLow, 0xc001);
        host.port.onFrame(now, frame);
        host.port.pollEvents();
    }

    MemorySegment buffer() {
        return buffer;
    }

    Frame frame() {
        return frame;
    }

    /**
     * Everything that goes out now, described; requests count from the first PSN sent, answers from the first expected.
     */
    List<Packet> out() {
        host.port.answerDoorbells(now);
        List<Packet> all = new ArrayList<>();
        frame.wrap(buffer, 0, FRAME_BYTES);
        frame.ipId(0);
        while (host.port.pollFrame(now, frame)) {
            all.add(Packet.read(frame));
            frame.wrap(buffer, 0, FRAME_BYTES);
        }
        host.port.pollEvents();
        return all;
    }

    String describe(Packet packet) {
        return packet.describe(packet.opcode.isRequest() ? settings.sqPsn : settings.rqPsn);
    }

    /** What goes out now is exactly this. */
    void expect(String... packets) {
        assertThat(out().stream().map(this::describe)).containsExactly(packets);
    }

    void expectNothing() {
        expect();
    }

    /** Moves on to a time and lets timers act. */
    void advance(long nanoseconds) {
        now += nanoseconds;
        if (host.port.nextDeadline() <= now) {
            host.port.onTimeout(now);
        }
        host.port.pollEvents();
    }

    long ackTimeoutNs() {
        return 4_096L << settings.timeout;
    }

    void expectCompletions(String... completions) {
        assertThat(end.completions()).containsExactly(completions);
    }

    void expectState(QueuePairState state) {
        assertThat(end.any.state()).isEqualTo(state);
    }

    /** A request of the peer that is answered with this NAK and takes the queue pair to ERR. */
    void expectRefused(Packet packet, String nak) {
        send(packet);
        expect(nak);
        expectState(QueuePairState.ERR);
        host.checkGuards();
    }

    long dropped(Counter counter) {
        return host.port.counter(counter);
    }

    byte[] bytes(Region region, int offset, int length) {
        return region.segment().asSlice(offset, length).toArray(JAVA_BYTE);
    }
}
