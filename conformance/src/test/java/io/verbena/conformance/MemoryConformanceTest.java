// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.AccessFlag.LOCAL_WRITE;
import static io.verbena.verbs.AccessFlag.REMOTE_ATOMIC;
import static io.verbena.verbs.AccessFlag.REMOTE_READ;
import static io.verbena.verbs.AccessFlag.REMOTE_WRITE;
import static io.verbena.verbs.WorkCompletionStatus.LOC_PROT_ERR;
import static io.verbena.verbs.WorkCompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.RdmaException.Reason;
import io.verbena.verbs.WorkCompletionStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PD and MR: domains keep what lives in them, regions check what is done with them. */
class MemoryConformanceTest extends ConformanceSuite {
    private static final AccessFlag[][] SENSIBLE = {
        {},
        {LOCAL_WRITE},
        {REMOTE_READ},
        {LOCAL_WRITE, REMOTE_READ},
        {LOCAL_WRITE, REMOTE_WRITE},
        {LOCAL_WRITE, REMOTE_ATOMIC},
        {LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC},
    };

    @Test
    @Conforms("PD-1")
    void twoHundredDomainsLiveAtOnceAndCloseTwice() {
        List<ProtectionDomain> domains = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            domains.add(a.keep(a.context.allocateProtectionDomain()));
        }
        assertThat(domains).doesNotHaveDuplicates();
        domains.forEach(ProtectionDomain::close);
        domains.forEach(ProtectionDomain::close);
        a.keep(a.context.allocateProtectionDomain());
    }

    @Test
    @Conforms("PD-2")
    void aDomainWaitsForItsRegionsAndQueuePairs() {
        ProtectionDomain domain = a.keep(a.context.allocateProtectionDomain());
        MemoryRegion region = domain.register(a.memory);
        QueuePair qp = domain.createQueuePair(a.rcOptions());
        assertRefused(Reason.BUSY, domain::close);
        region.close();
        assertRefused(Reason.BUSY, domain::close);
        qp.close();
        domain.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 4095, 4096, 4097, 1 << 20, 20_000_000})
    @Conforms("MR-1")
    void regionsOfAllSizesTakeAllSensibleRights(int size) throws InterruptedException {
        MemorySegment memory = Arena.ofAuto().allocate(size);
        for (AccessFlag[] access : SENSIBLE) {
            MemoryRegion region = b.register(memory, access);
            assertThat(region.address()).isEqualTo(memory.address());
            assertThat(region.length()).isEqualTo(size);
            assertThat(region.access()).isEqualTo(AccessFlag.mask(access));
            assertThat(region.protectionDomain()).isSameAs(b.domain);
        }
        MemoryRegion open = b.register(memory, Side.ALL);
        a.memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 42);
        rc().a().postWrite(1, a.region, 0, 1, open.address() + size - 1, open.rkey(), SIGNALED);
        a.expect(SUCCESS);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, size - 1)).isEqualTo((byte) 42);
    }

    @Test
    @Conforms("MR-1")
    void anyNativeMemoryCanBeRegistered(@TempDir Path folder) throws IOException, InterruptedException {
        Pair pair = rc();
        try (Arena arena = Arena.ofShared();
                FileChannel file = FileChannel.open(
                        folder.resolve("mapped"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 4096, arena);
            for (MemorySegment memory : List.of(
                    arena.allocate(4096),
                    mapped,
                    Arena.global().allocate(4096),
                    arena.allocate(8192).asSlice(13, 4096))) {
                a.fill(0, 4096, 5);
                MemoryRegion region = b.domain.register(memory, Side.ALL);
                pair.a().postWrite(1, a.region, 0, 4096, region.address(), region.rkey(), SIGNALED);
                a.expect(SUCCESS);
                region.close();
                assertThat(memory.mismatch(a.memory.asSlice(0, 4096))).isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = AccessFlag.class,
            names = {"REMOTE_WRITE", "REMOTE_ATOMIC"})
    @Conforms("MR-2")
    void whatAPeerMayChangeNeedsLocalWrite(AccessFlag flag) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> a.domain.register(a.memory, flag))
                .withMessageContaining("LOCAL_WRITE");
        assertThatIllegalArgumentException().isThrownBy(() -> a.domain.register(a.memory, flag, REMOTE_READ));
        a.register(a.memory, flag, LOCAL_WRITE);
    }

    @Test
    @Conforms("MR-3")
    void anEmptyRegionIsRefusedAlways() {
        for (AccessFlag[] access : SENSIBLE) {
            assertThatIllegalArgumentException().isThrownBy(() -> a.domain.register(a.memory.asSlice(64, 0), access));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Side.BYTES - 7, Side.BYTES, 1L << 40})
    @Conforms("MR-3")
    void nothingReachesOutsideTheRegion(long offset) throws InterruptedException {
        Pair pair = rc();
        b.fill(0, 64, 9);
        pair.a().postWrite(1, a.region, offset, 8, b.region.address(), b.region.rkey(), SIGNALED);
        a.expect(LOC_PROT_ERR);
        pair.reconnect();
        pair.a().postRead(2, a.region, offset, 8, b.region.address(), b.region.rkey(), SIGNALED);
        a.expect(LOC_PROT_ERR);
        pair.reconnect();
        pair.a().postWrite(3, a.region, 0, 8, b.region.address() + offset, b.region.rkey(), SIGNALED);
        a.expect(REM_ACCESS_ERR);
        b.assertHolds(0, 64, 9);
    }

    @Test
    @Conforms("MR-4")
    void keysDifferBetweenRegistrations() {
        Set<Integer> keys = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            MemoryRegion region = a.register(a.memory, Side.ALL);
            assertThat(keys.add(region.rkey())).isTrue();
            assertThat(keys.add(region.lkey())).isTrue();
        }
    }

    @Test
    @Conforms("MR-4")
    void keysDieWithTheirRegion() throws InterruptedException {
        Pair pair = rc();
        MemoryRegion region = b.domain.register(b.memory, Side.ALL);
        pair.a().postWrite(1, a.region, 0, 8, region.address(), region.rkey(), SIGNALED);
        a.expect(SUCCESS);
        region.close();
        b.fill(0, 64, 3);
        for (int attempt = 0; attempt < 2; attempt++) {
            pair.a().postWrite(2, a.region, 0, 8, region.address(), region.rkey(), SIGNALED);
            a.expect(REM_ACCESS_ERR);
            pair.reconnect();
            b.register(b.memory, Side.ALL);
        }
        b.assertHolds(0, 64, 3);
        MemoryRegion local = a.domain.register(a.memory);
        local.close();
        pair.a().postWrite(3, a.memory.address(), 8, local.lkey(), b.region.address(), b.region.rkey(), SIGNALED);
        assertThat(a.expect(WorkCompletionStatus.LOC_PROT_ERR).wrId()).isEqualTo(3);
    }
}
