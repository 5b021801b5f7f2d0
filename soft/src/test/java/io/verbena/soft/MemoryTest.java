// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which memory can be registered, and what happens when it goes away under traffic. */
class MemoryTest {
    private static final long MIB = 1 << 20;

    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;

    @TempDir
    private Path directory;

    @BeforeEach
    void open() {
        devices = new TwoDevices(8 * MIB);
        a = devices.a;
        b = devices.b;
    }

    @AfterEach
    void close() {
        devices.close();
    }

    @Test
    void aHeapSegmentIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> a.domain.register(MemorySegment.ofArray(new byte[64]), TwoDevices.ALL))
                .withMessageContaining("heap")
                .withMessageContaining("Arena.ofShared");
    }

    @Test
    void aConfinedSegmentIsRefused() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocate(64);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> a.domain.register(segment, TwoDevices.ALL))
                    .withMessageContaining("confined")
                    .withMessageContaining("Arena.ofShared");
        }
    }

    @Test
    void aClosedSegmentIsRefused() {
        MemorySegment segment;
        try (Arena arena = Arena.ofShared()) {
            segment = arena.allocate(64);
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> a.domain.register(segment, TwoDevices.ALL))
                .withMessageContaining("closed");
    }

    @Test
    void anEmptySegmentIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> a.domain.register(a.memory.asSlice(8, 0), TwoDevices.ALL))
                .withMessageContaining("empty");
    }

    @Test
    void aReadOnlySegmentCannotBeWritable() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> a.domain.register(a.memory.asReadOnly(), AccessFlag.LOCAL_WRITE))
                .withMessageContaining("read-only");
    }

    @ParameterizedTest
    @EnumSource(
            value = AccessFlag.class,
            names = {"REMOTE_WRITE", "REMOTE_ATOMIC"})
    void whatAPeerMayChangeThisSideMustBeAbleToChange(AccessFlag flag) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> a.domain.register(a.memory, AccessFlag.REMOTE_READ, flag))
                .withMessageContaining("LOCAL_WRITE");
    }

    @Test
    void aRefusedRegistrationLeavesNothingBehind() {
        assertThatIllegalArgumentException().isThrownBy(() -> a.domain.register(MemorySegment.ofArray(new byte[64])));
        // The domain closes in close(): a region left behind would make it busy.
    }

    @Test
    void aRegionTellsWhatItIs() {
        MemoryRegion region =
                a.keep(a.domain.register(a.memory.asSlice(64, 128), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ));
        assertThat(region.address()).isEqualTo(a.memory.address() + 64);
        assertThat(region.length()).isEqualTo(128);
        assertThat(region.access()).isEqualTo(AccessFlag.mask(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ));
        assertThat(region.segment().address()).isEqualTo(region.address());
        assertThat(region.protectionDomain()).isSameAs(a.domain);
        assertThat(Set.of(region.lkey(), region.rkey(), a.region.lkey(), a.region.rkey()))
                .hasSize(4);
    }

    @Test
    void aRegionOfFiveGibibytesIsReachedAtAllOffsets() throws IOException, InterruptedException {
        long length = 5L << 30;
        try (FileChannel file = FileChannel.open(
                        directory.resolve("sparse"),
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.SPARSE);
                Arena arena = Arena.ofShared()) {
            MemorySegment large = file.map(MapMode.READ_WRITE, 0, length, arena);
            try (MemoryRegion region = b.domain.register(large, TwoDevices.ALL)) {
                assertThat(region.length()).isEqualTo(length);
                a.memory.set(JAVA_LONG, 0, 0x1122334455667788L);
                for (long offset : new long[] {0, (1L << 31) - 4, 1L << 32, 9L << 29, length - 8}) {
                    a.qp.postWrite(1, a.region, 0, 8, region.address() + offset, region.rkey(), SendFlags.SIGNALED);
                    a.qp.postRead(2, a.region, 64, 8, region.address() + offset, region.rkey(), SendFlags.SIGNALED);
                    a.next().orThrow();
                    a.next().orThrow();
                    assertThat(a.memory.get(JAVA_LONG, 64)).isEqualTo(0x1122334455667788L);
                    assertThat(large.get(java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED, offset))
                            .isEqualTo(0x1122334455667788L);
                }
                a.qp.postWrite(3, a.region, 0, 8, region.address() + length - 4, region.rkey(), SendFlags.SIGNALED);
                assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            }
        }
    }

    @Test
    void aMappedFileIsWrittenByThePeer() throws IOException, InterruptedException {
        Path path = directory.resolve("mapped");
        try (FileChannel file = FileChannel.open(
                        path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
                Arena arena = Arena.ofShared()) {
            MemorySegment mapped = file.map(MapMode.READ_WRITE, 0, 10_000, arena);
            try (MemoryRegion region = b.domain.register(mapped, TwoDevices.ALL)) {
                for (int i = 0; i < 10_000; i++) {
                    a.memory.set(JAVA_BYTE, i, (byte) (i * 13));
                }
                a.qp.postWrite(1, a.region, 0, 10_000, region.address(), region.rkey(), SendFlags.SIGNALED);
                a.next().orThrow();
                mapped.force();
                assertThat(Files.readAllBytes(path))
                        .isEqualTo(a.memory.asSlice(0, 10_000).toArray(JAVA_BYTE));
            }
        }
    }

    @Test
    void aReadOnlyMappingIsReadByThePeerButNotWritten() throws IOException, InterruptedException {
        Path path = directory.resolve("constant");
        byte[] content = new byte[9_000];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (i * 17);
        }
        Files.write(path, content);
        try (FileChannel file = FileChannel.open(path);
                Arena arena = Arena.ofShared()) {
            MemorySegment mapped = file.map(MapMode.READ_ONLY, 0, content.length, arena);
            try (MemoryRegion region = b.domain.register(mapped, AccessFlag.REMOTE_READ)) {
                a.qp.postRead(1, a.region, 0, content.length, region.address(), region.rkey(), SendFlags.SIGNALED);
                a.next().orThrow();
                assertThat(a.memory.asSlice(0, content.length).toArray(JAVA_BYTE))
                        .isEqualTo(content);
                // It may be sent from, too.
                a.qp.postReceive(3, a.region, 0, 9_000);
                b.qp.postSend(4, region, 0, content.length, SendFlags.SIGNALED);
                b.next().orThrow();
                assertThat(a.next().orThrow().byteLength()).isEqualTo(content.length);
                a.qp.postWrite(2, a.region, 0, 8, region.address(), region.rkey(), SendFlags.SIGNALED);
                assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            }
            assertThat(Files.readAllBytes(path)).isEqualTo(content);
        }
    }

    @Test
    void aFileThatShrankUnderItsMappingIsAnAccessError() throws IOException, InterruptedException {
        try (FileChannel file = FileChannel.open(
                        directory.resolve("shrinking"),
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
                Arena arena = Arena.ofShared()) {
            MemorySegment mapped = file.map(MapMode.READ_WRITE, 0, 1 << 16, arena);
            try (MemoryRegion region = b.domain.register(mapped, TwoDevices.ALL)) {
                a.qp.postWrite(1, a.region, 0, 1 << 16, region.address(), region.rkey(), SendFlags.SIGNALED);
                a.next().orThrow();
                file.truncate(0);
                a.qp.postWrite(2, a.region, 0, 1 << 16, region.address(), region.rkey(), SendFlags.SIGNALED);
                assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
                devices.reconnect(new QueuePairAttributes());
                a.qp.postRead(3, a.region, 0, 1 << 16, region.address(), region.rkey(), SendFlags.SIGNALED);
                assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
                devices.reconnect(new QueuePairAttributes());
                a.qp.postFetchAndAdd(
                        4, a.region.address(), a.region.lkey(), region.address(), region.rkey(), 1, SendFlags.SIGNALED);
                assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            }
        }
        assertStillWorks();
    }

    enum Victim {
        WRITE_TARGET,
        READ_TARGET,
        ATOMIC_TARGET,
        WRITE_SOURCE,
        READ_DESTINATION,
        RECEIVE_BUFFER
    }

    /** Posts work of a kind, two requests deep, until one fails; returns how it failed. */
    private WorkCompletionStatus runUntilFailure(Victim victim, MemoryRegion region, Runnable remove)
            throws InterruptedException {
        boolean local = victim == Victim.WRITE_SOURCE || victim == Victim.READ_DESTINATION;
        MemoryRegion source = local ? region : a.region;
        MemoryRegion target = local ? b.region : region;
        long end = System.nanoTime() + TwoDevices.TIMEOUT.toNanos();
        post(victim, source, target);
        post(victim, source, target);
        Thread remover = null;
        for (int done = 0; System.nanoTime() < end; done++) {
            if (done == 3) {
                remover = Thread.ofPlatform().start(remove);
            }
            if (!a.next().isSuccess()) {
                WorkCompletionStatus status = a.completion.status();
                if (remover != null) {
                    remover.join();
                }
                return status;
            }
            post(victim, source, target);
        }
        throw new AssertionError("the work went on without its memory");
    }

    private void post(Victim victim, MemoryRegion source, MemoryRegion target) {
        int length = (int) (2 * MIB);
        switch (victim) {
            case WRITE_TARGET, WRITE_SOURCE ->
                a.qp.postWrite(1, source, 0, length, target.address(), target.rkey(), SendFlags.SIGNALED);
            case READ_TARGET, READ_DESTINATION ->
                a.qp.postRead(1, source, 0, length, target.address(), target.rkey(), SendFlags.SIGNALED);
            case ATOMIC_TARGET ->
                a.qp.postFetchAndAdd(
                        1, source.address(), source.lkey(), target.address(), target.rkey(), 1, SendFlags.SIGNALED);
            case RECEIVE_BUFFER -> {
                b.qp.postReceive(1, target, 0, length);
                a.qp.postSend(1, source, 0, length, SendFlags.SIGNALED);
            }
        }
    }

    private static WorkCompletionStatus expected(Victim victim) {
        return switch (victim) {
            case WRITE_TARGET, READ_TARGET, ATOMIC_TARGET -> WorkCompletionStatus.REM_ACCESS_ERR;
            case WRITE_SOURCE, READ_DESTINATION -> WorkCompletionStatus.LOC_PROT_ERR;
            case RECEIVE_BUFFER -> WorkCompletionStatus.REM_OP_ERR;
        };
    }

    private TwoDevices.Side owner(Victim victim) {
        return victim == Victim.WRITE_SOURCE || victim == Victim.READ_DESTINATION ? a : b;
    }

    @ParameterizedTest
    @EnumSource
    @SuppressWarnings("MustBeClosed") // another thread closes it, in the middle of the traffic
    void anArenaClosedUnderTrafficIsAnErrorCompletion(Victim victim) throws InterruptedException {
        for (int round = 0; round < 10; round++) {
            Arena arena = Arena.ofShared();
            MemoryRegion region =
                    owner(victim).keep(owner(victim).domain.register(arena.allocate(2 * MIB, 64), TwoDevices.ALL));
            assertThat(runUntilFailure(victim, region, () -> closeArena(arena))).isEqualTo(expected(victim));
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            drain();
            devices.reconnect(new QueuePairAttributes());
        }
        assertStillWorks();
    }

    /** Closing fails while a thread is inside the memory; the next attempt comes through. */
    private static void closeArena(Arena arena) {
        while (true) {
            try {
                arena.close();
                return;
            } catch (IllegalStateException busy) {
                Thread.onSpinWait();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRegionClosedUnderTrafficIsAnErrorCompletionAndIsTouchedNoMore(Victim victim) throws InterruptedException {
        for (int round = 0; round < 5; round++) {
            MemorySegment memory = Arena.ofAuto().allocate(2 * MIB, 64);
            MemoryRegion region = owner(victim).domain.register(memory, TwoDevices.ALL);
            Runnable remove = () -> {
                region.close();
                memory.fill((byte) 0x77);
            };
            assertThat(runUntilFailure(victim, region, remove)).isEqualTo(expected(victim));
            drain();
            for (long i = 0; i < memory.byteSize(); i += 8) {
                assertThat(memory.get(JAVA_LONG, i)).isEqualTo(0x7777777777777777L);
            }
            devices.reconnect(new QueuePairAttributes());
        }
        assertStillWorks();
    }

    private void drain() {
        WorkCompletion rest = new WorkCompletion();
        while (a.cq.poll(rest)) {
            assertThat(rest.isSuccess()).isFalse();
        }
        while (b.cq.poll(rest)) {
            assertThat(rest.wrId()).isEqualTo(1);
        }
    }

    private void assertStillWorks() throws InterruptedException {
        devices.reconnect(new QueuePairAttributes());
        a.qp.postWrite(9, a.region, 0, 4096, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
        assertThat(a.next().orThrow().wrId()).isEqualTo(9);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRegionNobodyHoldsStaysAliveForThePeer(boolean registeredByBoth) throws InterruptedException {
        long[] remote = registerAndForget(registeredByBoth);
        for (int i = 0; i < 20; i++) {
            System.gc();
            a.memory.set(JAVA_LONG, 0, i);
            a.qp.postWrite(1, a.region, 0, (int) MIB, remote[0], (int) remote[1], SendFlags.SIGNALED);
            a.qp.postRead(2, a.region, MIB, (int) MIB, remote[0], (int) remote[1], SendFlags.SIGNALED);
            a.next().orThrow();
            a.next().orThrow();
            assertThat(a.memory.get(JAVA_LONG, MIB)).isEqualTo(i);
        }
        // Its domain can never be closed again, so this device is left to the garbage collector too.
        b.qp.close();
        devices.b.abandon();
    }

    private long[] registerAndForget(boolean twice) {
        MemorySegment memory = Arena.ofAuto().allocate(MIB, 64);
        MemoryRegion region = b.domain.register(memory, TwoDevices.ALL);
        if (twice) {
            b.domain.register(memory, AccessFlag.REMOTE_READ);
        }
        return new long[] {region.address(), region.rkey()};
    }
}
