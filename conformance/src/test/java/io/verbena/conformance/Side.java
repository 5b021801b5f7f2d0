// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/** An open device with a domain, a completion queue and a region of {@link #BYTES} with all rights. */
final class Side implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(5);
    static final int BYTES = 1 << 16;
    static final AccessFlag[] ALL = {
        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC
    };

    final DeviceContext context;
    final ProtectionDomain domain;
    final CompletionQueue cq;
    final MemorySegment memory;
    final MemoryRegion region;
    final WorkCompletion completion = new WorkCompletion();
    private final ProviderUnderTest.Devices devices;
    private final Deque<AutoCloseable> kept = new ArrayDeque<>();

    Side(ProviderUnderTest.Devices devices, DeviceContext context) {
        this.devices = devices;
        this.context = keep(context);
        domain = keep(context.allocateProtectionDomain());
        cq = keep(context.createCompletionQueue(256));
        memory = Arena.ofAuto().allocate(BYTES, 4096);
        region = register(memory, ALL);
    }

    /** Closes it at the end of the test, the newest first. */
    <T extends AutoCloseable> T keep(T closeable) {
        kept.push(closeable);
        return closeable;
    }

    MemoryRegion register(MemorySegment segment, AccessFlag... access) {
        return keep(domain.register(segment, access));
    }

    /** A region of its own memory. */
    MemoryRegion register(long bytes, AccessFlag... access) {
        return register(Arena.ofAuto().allocate(bytes, 8), access);
    }

    QueuePairOptions rcOptions() {
        return QueuePairOptions.rc(cq).withQueueDepth(32, 32);
    }

    Gid gid() {
        return context.gidTable(1).getFirst().gid();
    }

    /** A way to the other side for datagrams. */
    AddressHandle handleTo(Side other) {
        return keep(domain.createAddressHandle(AddressVector.to(other.gid())));
    }

    QueuePair queuePair(QueuePairOptions options) {
        return keep(domain.createQueuePair(options));
    }

    /** The next completion, which must come within the limit and have this status. */
    WorkCompletion expect(WorkCompletionStatus status) throws InterruptedException {
        return expect(cq, status);
    }

    WorkCompletion expect(CompletionQueue queue, WorkCompletionStatus status) throws InterruptedException {
        assertThat(queue.await(completion, LIMIT)).as("a completion in time").isTrue();
        assertThat(completion.status()).as(completion.toString()).isEqualTo(status);
        return completion;
    }

    /** Nothing is in the queue now, nor comes where waiting for it costs nothing. */
    void assertNoCompletion() {
        devices.settle();
        assertThat(cq.poll(completion)).as("a completion that nobody asked for").isFalse();
    }

    /** The same of asynchronous events. */
    void assertNoEvent(String why) {
        devices.settle();
        assertThat(context.pollAsyncEvent()).as(why).isNull();
    }

    /** Bytes that tell their place and the seed. */
    void fill(long offset, int length, int seed) {
        for (int i = 0; i < length; i++) {
            memory.set(ValueLayout.JAVA_BYTE, offset + i, pattern(i, seed));
        }
    }

    /** The bytes at the offset are those that {@link #fill} writes with this seed, from its byte {@code from} on. */
    void assertHolds(long offset, int length, int seed, int from) {
        byte[] expected = new byte[length];
        for (int i = 0; i < length; i++) {
            expected[i] = pattern(from + i, seed);
        }
        assertThat(memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(expected);
    }

    void assertHolds(long offset, int length, int seed) {
        assertHolds(offset, length, seed, 0);
    }

    void assertZero(long offset, int length) {
        assertThat(memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(new byte[length]);
    }

    private static byte pattern(int index, int seed) {
        return (byte) (index * 31 + (index >> 8) + seed * 7 + 1);
    }

    long longAt(long offset) {
        return memory.get(ValueLayout.JAVA_LONG, offset);
    }

    void longAt(long offset, long value) {
        memory.set(ValueLayout.JAVA_LONG, offset, value);
    }

    @Override
    @SuppressWarnings("try")
    public void close() {
        while (!kept.isEmpty()) {
            try {
                kept.pop().close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }
}
