// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.verbena.sim.World;
import io.verbena.transport.queue.SeededRandom;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** A device with what all flows share: a domain, a completion queue, and bytes to send. */
final class Station implements AutoCloseable {
    private static final int COMPLETIONS_MAX = 1 << 12;
    /** In a work request's number: the flow, and whether it is a receive. */
    private static final int FLOW_SHIFT = 48;

    private static final long RECEIVE = 1L << 47;
    private static final long SEQUENCE = RECEIVE - 1;

    private final DeviceContext device;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment sourceBytes;
    private final MemoryRegion source;
    private final WorkCompletion completion = new WorkCompletion();

    Station(World world, String address, int sourceSize, SeededRandom random) {
        device = world.openDevice(address);
        domain = device.allocateProtectionDomain();
        completions = device.createCompletionQueue(COMPLETIONS_MAX);
        sourceBytes = allocate(sourceSize);
        for (long at = 0; at + Long.BYTES <= sourceSize; at += Long.BYTES) {
            sourceBytes.set(JAVA_LONG, at, random.nextLong());
        }
        source = domain.register(sourceBytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    }

    static long sendId(int flow, long sequence) {
        return (long) flow << FLOW_SHIFT | sequence;
    }

    static long receiveId(int flow, long sequence) {
        return (long) flow << FLOW_SHIFT | RECEIVE | sequence;
    }

    DeviceContext device() {
        return device;
    }

    ProtectionDomain domain() {
        return domain;
    }

    CompletionQueue completions() {
        return completions;
    }

    /** Random bytes that never change, for the peer's READs too. */
    MemoryRegion source() {
        return source;
    }

    MemorySegment sourceBytes() {
        return sourceBytes;
    }

    MemorySegment allocate(long bytes) {
        return arena.allocate(bytes, 64);
    }

    /** Hands out all completions; returns how many. */
    int drain(List<Flow> flows) {
        int taken = 0;
        while (completions.poll(completion)) {
            long id = completion.wrId();
            int number = (int) (id >>> FLOW_SHIFT);
            if (number >= flows.size()) {
                throw new Violation("a completion of a request that nobody posted: " + completion);
            }
            Flow flow = flows.get(number);
            if ((id & RECEIVE) == 0) {
                flow.sent(id & SEQUENCE, completion);
            } else {
                flow.received(device, id & SEQUENCE, completion);
            }
            taken++;
        }
        return taken;
    }

    /** After all flows are closed. */
    @Override
    public void close() {
        source.close();
        completions.close();
        domain.close();
        device.close();
        arena.close();
    }

    /** Frees the memory of a device that nobody drives any more. */
    void abandon() {
        arena.close();
    }
}
