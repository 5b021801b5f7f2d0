// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.encap.Path;
import io.verbena.transport.encap.RoceV2;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.memory.Region;
import io.verbena.verbs.QueuePairType;
import io.verbena.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A host in virtual time and the wire to it, on which a fuzz target plays the peers. */
final class FuzzPeer {
    static final long HIGH = 0xfd00_0000_0000_0000L;
    static final long LOW = 2;
    /** The address of a second, well-behaved peer. */
    static final long OTHER_LOW = 3;

    static final int PEER_QP = 0x77;
    static final int FRAME_BYTES = 4096 + 256;
    /** More than can be under way: four READs of all memory in the smallest packets, and requests. */
    private static final int FRAMES_MAX = 4096;

    /** A packet that the host sent, and where to. */
    record Sent(Packet packet, long remoteLow) {}

    final TestHost host = new TestHost(HIGH, 1, 42);
    /** Where work of this side takes data from and puts it. */
    final Region own = host.region(64 << 10);

    final FuzzMemory memory = new FuzzMemory(host);

    final MemorySegment buffer = Arena.ofAuto().allocate(FRAME_BYTES, 8);
    long now = 1_000_000_000L;
    private final RoceV2 encapsulation = new RoceV2();
    private final Frame frame = new Frame();

    /** The number of an address handle of the peer. */
    private final int handle = host.port
            .addressHandles()
            .add(new Path(HIGH, 1, HIGH, LOW, 0xc000, Path.ROCE_V2_PORT, 0, 64), TestHost.DOMAIN);

    /** A datagram goes to the peer; other work stays as it is. */
    Work addressed(Work work, TestQueuePair end) {
        return end.settings.type == QueuePairType.UD ? work.to(handle, PEER_QP, end.settings.qkey) : work;
    }

    /** Lets a packet arrive with its ICRC. */
    void deliver(Packet packet, int qpNumber, long fromLow) {
        deliver(packet.write(buffer, 0, qpNumber), fromLow);
    }

    /** Lets {@code bytes} of the buffer arrive, followed by their ICRC. */
    void deliver(int bytes, long fromLow) {
        frame.wrap(buffer, 0, FRAME_BYTES);
        frame.ipId(0);
        Path back = new Path(HIGH, fromLow, HIGH, 1, 0xc001, Path.ROCE_V2_PORT, 0, 64);
        encapsulation.seal(frame, back, bytes);
        deliverAsIs(frame.length(), fromLow);
    }

    /** Lets {@code bytes} of the buffer arrive as they are, at its very end so that reading past them fails. */
    void deliverAsIs(int bytes, long fromLow) {
        int at = FRAME_BYTES - bytes;
        MemorySegment.copy(buffer, 0, buffer, at, bytes);
        frame.wrap(buffer, at, bytes);
        frame.ipId(0);
        frame.local(HIGH, 1, Path.ROCE_V2_PORT);
        frame.remote(HIGH, fromLow, 0xc001);
        host.port.onFrame(now, frame);
        host.port.pollEvents();
    }

    /** All that the host has to send now. */
    List<Sent> drain() {
        List<Sent> all = drain(FRAMES_MAX);
        assertThat(all).as("frames sent at once").hasSizeLessThan(FRAMES_MAX);
        return all;
    }

    List<Sent> drain(int framesMax) {
        host.port.answerDoorbells(now);
        List<Sent> all = new ArrayList<>();
        while (all.size() < framesMax) {
            frame.wrap(buffer, 0, FRAME_BYTES);
            frame.ipId(0);
            if (!host.port.pollFrame(now, frame)) {
                break;
            }
            all.add(new Sent(Packet.read(frame), frame.remoteLow()));
        }
        host.port.pollEvents();
        return all;
    }

    void advance(long nanoseconds) {
        now += nanoseconds;
        if (host.port.nextDeadline() <= now) {
            host.port.onTimeout(now);
        }
        host.port.pollEvents();
    }
}
