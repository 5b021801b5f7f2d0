// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.FlushPlacement;
import io.verbena.verbs.FlushScope;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendRequest;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** FLUSH and atomic WRITE (RC-9 and RC-10 of the list of what must work). */
class FlushTest {
    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;

    @TempDir
    private Path directory;

    @BeforeEach
    void open() {
        devices = new TwoDevices(1 << 16);
        a = devices.a;
        b = devices.b;
        a.memory.set(JAVA_LONG, 0, 99);
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private static MemorySegment map(FileChannel file, Arena arena) throws IOException {
        return file.map(MapMode.READ_WRITE, 0, 16384, arena);
    }

    private FileChannel file() throws IOException {
        return FileChannel.open(
                directory.resolve("log"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
    }

    private SendRequest flush(MemoryRegion region, FlushPlacement placement, FlushScope scope) {
        return a.qp.sendRequest()
                .flush(region.address() + 4096, region.rkey(), 8, placement, scope)
                .id(2)
                .signaled();
    }

    @ParameterizedTest
    @EnumSource
    void aWriteIsMadePersistent(FlushScope scope) throws IOException, InterruptedException {
        try (FileChannel file = file();
                Arena arena = Arena.ofShared();
                MemoryRegion region = b.domain.register(
                        map(file, arena),
                        AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE,
                        AccessFlag.FLUSH_PERSISTENT)) {
            a.qp.postWrite(1, a.region, 0, 8, region.address() + 4096, region.rkey(), 0);
            flush(region, FlushPlacement.PERSISTENT, scope).post();
            assertThat(a.next().orThrow().opcode()).isEqualTo(WorkCompletionOpcode.FLUSH);
            assertThat(a.completion.wrId()).isEqualTo(2);
            ByteBuffer stored = ByteBuffer.wrap(Files.readAllBytes(directory.resolve("log")))
                    .order(ByteOrder.nativeOrder());
            assertThat(stored.getLong(4096)).isEqualTo(99);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWriteIsMadeVisible(FlushScope scope) throws InterruptedException {
        MemoryRegion region = b.keep(b.domain.register(b.memory, AccessFlag.LOCAL_WRITE, AccessFlag.FLUSH_GLOBAL));
        flush(region, FlushPlacement.GLOBAL, scope).post();
        a.next().orThrow();
    }

    @Test
    void ofAWholeRegionAddressAndLengthMeanNothing() throws InterruptedException {
        MemoryRegion region = b.keep(b.domain.register(b.memory, AccessFlag.LOCAL_WRITE, AccessFlag.FLUSH_GLOBAL));
        a.qp.sendRequest()
                .flush(-1, region.rkey(), Long.MAX_VALUE, FlushPlacement.GLOBAL, FlushScope.REGION)
                .signaled()
                .post();
        a.next().orThrow();
    }

    @ParameterizedTest
    @CsvSource({"GLOBAL, RANGE", "GLOBAL, REGION", "PERSISTENT, RANGE", "PERSISTENT, REGION"})
    void aPlacementThatTheRegionDoesNotHaveIsDenied(FlushPlacement placement, FlushScope scope)
            throws IOException, InterruptedException {
        AccessFlag opposite =
                placement == FlushPlacement.GLOBAL ? AccessFlag.FLUSH_PERSISTENT : AccessFlag.FLUSH_GLOBAL;
        try (FileChannel file = file();
                Arena arena = Arena.ofShared();
                MemoryRegion region = b.domain.register(map(file, arena), AccessFlag.LOCAL_WRITE, opposite)) {
            flush(region, placement, scope).post();
            assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        }
    }

    @Test
    void onlyAMappedFileCanBeRegisteredForPersistence() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> b.domain.register(b.memory, AccessFlag.LOCAL_WRITE, AccessFlag.FLUSH_PERSISTENT))
                .withMessageContaining("mapped")
                .withMessageContaining("FileChannel.map");
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, (1L << 31) + 1})
    void aLengthOutOfRangeIsNotPosted(long length) {
        SendRequest request = a.qp.sendRequest().flush(0, 0, length, FlushPlacement.GLOBAL, FlushScope.RANGE);
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(request::post)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT));
    }

    @Test
    void aFlushTakesNoEntries() {
        SendRequest request =
                flush(b.region, FlushPlacement.GLOBAL, FlushScope.RANGE).sge(a.region, 0, 8);
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(request::post)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT));
    }

    @Test
    void eightBytesAreWrittenAtOnceInHostOrder() throws InterruptedException {
        a.qp.sendRequest()
                .atomicWrite(b.region.address() + 64, b.region.rkey(), 0x1122_3344_5566_7788L)
                .id(3)
                .signaled()
                .post();
        assertThat(a.next().orThrow().opcode()).isEqualTo(WorkCompletionOpcode.ATOMIC_WRITE);
        assertThat(a.completion.wrId()).isEqualTo(3);
        assertThat(a.completion.byteLength()).isEqualTo(8);
        assertThat(b.memory.get(JAVA_LONG, 64)).isEqualTo(0x1122_3344_5566_7788L);
        assertThat(b.memory.get(JAVA_LONG, 56)).isZero();
        assertThat(b.memory.get(JAVA_LONG, 72)).isZero();
    }

    @Test
    void anUnalignedAtomicWriteIsAnInvalidRequest() throws InterruptedException {
        a.qp.sendRequest()
                .atomicWrite(b.region.address() + 4, b.region.rkey(), -1)
                .signaled()
                .post();
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        assertThat(b.memory.get(JAVA_LONG, 0)).isZero();
        assertThat(b.memory.get(JAVA_LONG, 8)).isZero();
    }

    @Test
    void anAtomicWriteNeedsTheRightToWrite() throws InterruptedException {
        MemoryRegion region = b.keep(b.domain.register(b.memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC));
        a.qp.sendRequest()
                .atomicWrite(region.address(), region.rkey(), -1)
                .signaled()
                .post();
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(b.memory.get(JAVA_LONG, 0)).isZero();
    }
}
