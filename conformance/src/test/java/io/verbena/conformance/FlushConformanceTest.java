// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.AccessFlag.FLUSH_GLOBAL;
import static io.verbena.verbs.AccessFlag.FLUSH_PERSISTENT;
import static io.verbena.verbs.AccessFlag.LOCAL_WRITE;
import static io.verbena.verbs.AccessFlag.REMOTE_ATOMIC;
import static io.verbena.verbs.AccessFlag.REMOTE_READ;
import static io.verbena.verbs.AccessFlag.REMOTE_WRITE;
import static io.verbena.verbs.DeviceCapability.ATOMIC_WRITE;
import static io.verbena.verbs.DeviceCapability.FLUSH;
import static io.verbena.verbs.WorkCompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.WorkCompletionStatus.REM_INV_REQ_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.FlushPlacement;
import io.verbena.verbs.FlushScope;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RC-9 and RC-10: FLUSH and atomic WRITE. */
class FlushConformanceTest extends ConformanceSuite {
    private Pair flushing() {
        require(FLUSH);
        return rc(
                options -> options,
                new QueuePairAttributes()
                        .accessFlags(REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, FLUSH_GLOBAL, FLUSH_PERSISTENT));
    }

    private void flush(
            Pair pair,
            long address,
            MemoryRegion region,
            long length,
            FlushPlacement placement,
            FlushScope scope,
            WorkCompletionStatus status)
            throws InterruptedException {
        pair.a()
                .post(pair.a()
                        .sendRequest()
                        .flush(address, region.rkey(), length, placement, scope)
                        .signaled());
        a.expect(status);
        if (status == SUCCESS) {
            assertThat(a.completion.opcode()).isEqualTo(WorkCompletionOpcode.FLUSH);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Conforms("RC-9")
    void whatWasWrittenIsFlushed(FlushScope scope) throws InterruptedException {
        Pair pair = flushing();
        MemoryRegion region = b.register(b.memory, LOCAL_WRITE, REMOTE_WRITE, FLUSH_GLOBAL);
        a.fill(0, 5000, 1);
        pair.a().postWrite(1, a.region, 0, 5000, region.address(), region.rkey(), 0);
        flush(pair, region.address(), region, 5000, FlushPlacement.GLOBAL, scope, SUCCESS);
        b.assertHolds(0, 5000, 1);
    }

    @Test
    @Conforms("RC-9")
    void aMappedFileIsMadePersistent(@TempDir Path folder) throws InterruptedException, IOException {
        Pair pair = flushing();
        Path path = folder.resolve("persistent");
        StandardOpenOption[] options = {StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE};
        try (Arena arena = Arena.ofShared();
                FileChannel file = FileChannel.open(path, options)) {
            MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 8192, arena);
            try (MemoryRegion region =
                    b.domain.register(mapped, LOCAL_WRITE, REMOTE_WRITE, FLUSH_GLOBAL, FLUSH_PERSISTENT)) {
                pair.a().postWrite(1, a.region, 0, 64, region.address(), region.rkey(), 0);
                flush(pair, region.address(), region, 64, FlushPlacement.PERSISTENT, FlushScope.RANGE, SUCCESS);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @Conforms("RC-9")
    void aPlacementThatTheRegionDoesNotHaveIsAnAccessError(FlushPlacement placement) throws InterruptedException {
        Pair pair = flushing();
        boolean global = placement == FlushPlacement.GLOBAL;
        MemoryRegion region = global
                ? b.register(b.memory, LOCAL_WRITE, REMOTE_WRITE)
                : b.register(b.memory, LOCAL_WRITE, REMOTE_WRITE, FLUSH_GLOBAL);
        flush(pair, region.address(), region, 64, placement, FlushScope.RANGE, REM_ACCESS_ERR);
    }

    @Test
    @Conforms("RC-9")
    void aRangeIsCheckedAndARegionIsNot() throws InterruptedException {
        Pair pair = flushing();
        MemoryRegion region = b.register(b.memory, LOCAL_WRITE, REMOTE_WRITE, FLUSH_GLOBAL);
        flush(pair, 0, region, 1 << 30, FlushPlacement.GLOBAL, FlushScope.REGION, SUCCESS);
        long end = region.address() + region.length();
        flush(pair, end - 8, region, 16, FlushPlacement.GLOBAL, FlushScope.RANGE, REM_ACCESS_ERR);
    }

    private void atomicWrite(Pair pair, long offset, int rkey, long value, WorkCompletionStatus status)
            throws InterruptedException {
        pair.a()
                .post(pair.a()
                        .sendRequest()
                        .atomicWrite(b.region.address() + offset, rkey, value)
                        .signaled());
        a.expect(status);
    }

    @Test
    @Conforms("RC-10")
    void eightBytesAreWrittenAtOnce() throws InterruptedException {
        require(ATOMIC_WRITE);
        b.longAt(72, 5);
        atomicWrite(rc(), 64, b.region.rkey(), 0x0102030405060708L, SUCCESS);
        assertThat(a.completion.opcode()).isEqualTo(WorkCompletionOpcode.ATOMIC_WRITE);
        assertThat(b.longAt(64)).isEqualTo(0x0102030405060708L);
        assertThat(b.longAt(72)).isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    @Conforms("RC-10")
    void anUnalignedAtomicWriteIsInvalidAndABadKeyIsAnAccessError(int offset) throws InterruptedException {
        require(ATOMIC_WRITE);
        Pair pair = rc();
        atomicWrite(pair, offset, b.region.rkey(), -1, REM_INV_REQ_ERR);
        pair.reconnect();
        atomicWrite(pair, 0, b.region.lkey(), -1, REM_ACCESS_ERR);
        b.assertZero(0, 16);
    }
}
