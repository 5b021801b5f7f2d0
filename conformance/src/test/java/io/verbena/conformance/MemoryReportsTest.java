// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.WorkCompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.verbs.MemoryRegion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What users of RDMA software reported of memory (E62 to E70), beyond the catalogue. */
class MemoryReportsTest extends ConformanceSuite {
    @Test
    @DisplayName("E62, E70: a mapped file of 5 GiB is a region, and is written at 4.5 GiB")
    void aRegionOfFiveGibibytesIsWrittenFarInside(@TempDir Path folder) throws IOException, InterruptedException {
        long size = 5L << 30;
        long at = 9L << 29;
        StandardOpenOption[] options = {
            StandardOpenOption.CREATE_NEW, StandardOpenOption.SPARSE, StandardOpenOption.READ, StandardOpenOption.WRITE
        };
        assumeTrue(a.context.queryDevice().maxMrSize() >= size, "regions of 5 GiB");
        try (Arena arena = Arena.ofShared();
                FileChannel file = FileChannel.open(folder.resolve("large"), options)) {
            MemorySegment large = file.map(FileChannel.MapMode.READ_WRITE, 0, size, arena);
            try (MemoryRegion region = b.domain.register(large, Side.ALL)) {
                assertThat(region.length()).isEqualTo(size);
                a.fill(0, 64, 1);
                rc().a().postWrite(1, a.region, 0, 64, region.address() + at, region.rkey(), SIGNALED);
                a.expect(SUCCESS);
            }
            assertThat(large.asSlice(at, 64).mismatch(a.memory.asSlice(0, 64))).isEqualTo(-1);
        }
        assertThat(Files.size(folder.resolve("large"))).isEqualTo(size);
    }

    @Test
    @DisplayName("E66: a region keeps its memory when nobody else does")
    void aRegionKeepsItsMemory() throws InterruptedException {
        Pair pair = rc();
        MemoryRegion region = b.register(1 << 20, Side.ALL);
        System.gc();
        a.fill(0, 1000, 5);
        pair.a().postWrite(1, a.region, 0, 1000, region.address(), region.rkey(), SIGNALED);
        a.expect(SUCCESS);
        System.gc();
        pair.a().postRead(2, a.region, 4096, 1000, region.address(), region.rkey(), SIGNALED);
        a.expect(SUCCESS);
        a.assertHolds(4096, 1000, 5);
    }

    @Test
    @DisplayName("E66: memory on the heap is refused")
    void memoryOnTheHeapIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> a.domain.register(MemorySegment.ofArray(new byte[4096]), Side.ALL))
                .withMessageContaining("heap");
    }

    @Test
    @DisplayName("E67: memory that was given back is not reached by its old key")
    void memoryGivenBackIsNotReached() throws InterruptedException {
        Pair pair = rc();
        MemoryRegion region;
        try (Arena arena = Arena.ofShared()) {
            region = b.register(arena.allocate(4096, 4096), Side.ALL);
            pair.a().postWrite(1, a.region, 0, 8, region.address(), region.rkey(), SIGNALED);
            a.expect(SUCCESS);
        }
        MemorySegment next = Arena.ofAuto().allocate(4096, 4096);
        a.longAt(0, -1);
        pair.a().postWrite(2, a.region, 0, 8, region.address(), region.rkey(), SIGNALED);
        a.expect(REM_ACCESS_ERR);
        assertThat(next.get(ValueLayout.JAVA_LONG, 0)).isZero();
        region.close();
        b.register(next, Side.ALL);
        pair.reconnect();
        pair.a().postWrite(3, a.region, 0, 8, next.address(), region.rkey(), SIGNALED);
        a.expect(REM_ACCESS_ERR);
        assertThat(next.get(ValueLayout.JAVA_LONG, 0)).isZero();
    }
}
