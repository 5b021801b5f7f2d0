// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.cm.CmPort;
import io.verbena.transport.encap.RoceV2;
import io.verbena.transport.memory.Region;
import io.verbena.transport.memory.Window;
import io.verbena.transport.queue.CompletionRing;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.Mtu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** One host: a port, memory with guard bytes around every region, and the events that the port raised. */
final class TestHost implements PortEvents {
    static final int DOMAIN = 7;
    static final int ALL = AccessFlag.mask(
            AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_ATOMIC,
            AccessFlag.MEMORY_WINDOW_BIND,
            AccessFlag.FLUSH_GLOBAL);
    private static final int GUARD_BYTES = 64;
    private static final byte GUARD = 0x5a;

    final long high;
    final long low;
    final IbPort port;
    final List<TestQueuePair> queuePairs = new ArrayList<>();
    final List<String> events = new ArrayList<>();
    private final Arena arena = Arena.ofAuto();
    private final List<MemorySegment> guarded = new ArrayList<>();

    TestHost(long high, long low, long seed) {
        this.high = high;
        this.low = low;
        this.port = new IbPort(new RoceV2(), this, new CmPort(low, Mtu.MTU_4096), seed, 1 << 12);
    }

    MemorySegment allocate(long bytes) {
        MemorySegment all = arena.allocate(bytes + 2 * GUARD_BYTES, 64).fill(GUARD);
        guarded.add(all);
        return all.asSlice(GUARD_BYTES, bytes).fill((byte) 0);
    }

    Region register(MemorySegment segment, int access, int domain) {
        Region region = new Region(segment, access, domain);
        assertThat(port.keys().add(region)).isTrue();
        return region;
    }

    Region region(long bytes) {
        return register(allocate(bytes), ALL, DOMAIN);
    }

    Window window(MemoryWindowType type) {
        Window window = new Window(type, DOMAIN);
        port.keys().add(window);
        return window;
    }

    /** Fails when anything was written beside a region. */
    void checkGuards() {
        for (MemorySegment all : guarded) {
            for (long i = 0; i < GUARD_BYTES; i++) {
                assertThat(all.get(JAVA_BYTE, i)).as("guard before a region").isEqualTo(GUARD);
                assertThat(all.get(JAVA_BYTE, all.byteSize() - 1 - i))
                        .as("guard after a region")
                        .isEqualTo(GUARD);
            }
        }
    }

    @Override
    public void completions(CompletionRing ring) {
        // Tests poll the rings.
    }

    @Override
    public void completionQueueOverrun(CompletionRing ring) {
        events.add("CQ_ERR");
    }

    @Override
    public void communicationEstablished(IbQueuePair queuePair) {
        events.add("COMM_EST");
    }

    @Override
    public void queuePairFailed(IbQueuePair queuePair) {}

    @Override
    public void accessError(IbQueuePair queuePair, String why) {
        events.add(why);
    }

    @Override
    public void sendQueueDrained(IbQueuePair queuePair) {
        events.add("SQ_DRAINED");
    }

    @Override
    public void lastWqeReached(IbQueuePair queuePair) {
        events.add("LAST_WQE_REACHED");
    }

    @Override
    public void sharedReceiveQueueLimit(SharedReceives queue) {
        events.add("SRQ_LIMIT");
    }
}
