// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a peer may not do: every refusal is one error completion, an event at the target, and memory as it was. */
class RemoteAccessTest {
    private static final long SENTINEL = 0x5a5a_1234_5a5a_1234L;
    private static final int LENGTH = 4096;

    enum Operation {
        WRITE,
        READ,
        FETCH_ADD,
        COMPARE_SWAP
    }

    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;
    /** 4 KiB in the middle of b's memory: what lies around it is b's too, but not the peer's. */
    private MemoryRegion middle;

    @BeforeEach
    void open() {
        devices = new TwoDevices(1 << 16);
        a = devices.a;
        b = devices.b;
        for (long i = 0; i < b.memory.byteSize(); i += 8) {
            b.memory.set(JAVA_LONG, i, SENTINEL);
        }
        middle = b.keep(b.domain.register(b.memory.asSlice(16384, LENGTH), TwoDevices.ALL));
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private void post(Operation operation, int length, long remoteAddress, int rkey) {
        switch (operation) {
            case WRITE -> a.qp.postWrite(1, a.region, 0, length, remoteAddress, rkey, SendFlags.SIGNALED);
            case READ -> a.qp.postRead(1, a.region, 0, length, remoteAddress, rkey, SendFlags.SIGNALED);
            case FETCH_ADD ->
                a.qp.postFetchAndAdd(
                        1, a.region.address(), a.region.lkey(), remoteAddress, rkey, 1, SendFlags.SIGNALED);
            case COMPARE_SWAP ->
                a.qp.postCompareAndSwap(
                        1, a.region.address(), a.region.lkey(), remoteAddress, rkey, SENTINEL, 1, SendFlags.SIGNALED);
        }
    }

    private void assertRefused(WorkCompletionStatus status) throws InterruptedException {
        WorkCompletion completion = a.next();
        assertThat(completion.status()).isEqualTo(status);
        assertThat(completion.wrId()).isEqualTo(1);
        assertThat(a.qp.state()).isEqualTo(QueuePairState.ERR);
        AsyncEvent event = b.context.awaitAsyncEvent(TwoDevices.TIMEOUT);
        while (event instanceof AsyncEvent.CommunicationEstablished) {
            event = b.context.awaitAsyncEvent(TwoDevices.TIMEOUT);
        }
        assertThat(event).isInstanceOf(AsyncEvent.QueuePairAccessError.class);
        assertThat(b.qp.state()).isEqualTo(QueuePairState.ERR);
        assertThat(a.cq.poll(completion)).as("a second completion").isFalse();
        for (long i = 0; i < b.memory.byteSize(); i += 8) {
            assertThat(b.memory.get(JAVA_LONG, i)).isEqualTo(SENTINEL);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aKeyThatNamesNothingIsRefused(Operation operation) throws InterruptedException {
        post(operation, 8, middle.address(), middle.rkey() ^ 0x100);
        assertRefused(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @EnumSource
    void aKeyWithAnotherTagIsRefused(Operation operation) throws InterruptedException {
        post(operation, 8, middle.address(), middle.rkey() ^ 1);
        assertRefused(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @EnumSource
    void theLocalKeyIsNoRemoteKey(Operation operation) throws InterruptedException {
        assertThat(middle.lkey()).isNotEqualTo(middle.rkey());
        post(operation, 8, middle.address(), middle.lkey());
        assertRefused(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @EnumSource
    void aRegionOfAnotherProtectionDomainIsRefused(Operation operation) throws InterruptedException {
        ProtectionDomain other = b.keep(b.context.allocateProtectionDomain());
        MemoryRegion region = b.keep(other.register(b.memory, TwoDevices.ALL));
        post(operation, 8, region.address(), region.rkey());
        assertRefused(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @EnumSource
    void aClosedRegionIsRefused(Operation operation) throws InterruptedException {
        long address = middle.address();
        middle.close();
        post(operation, 8, address, middle.rkey());
        assertRefused(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @CsvSource({"WRITE, REMOTE_WRITE", "READ, REMOTE_READ", "FETCH_ADD, REMOTE_ATOMIC", "COMPARE_SWAP, REMOTE_ATOMIC"})
    void aRegionWithoutTheRightIsRefused(Operation operation, AccessFlag missing) throws InterruptedException {
        Set<AccessFlag> flags = EnumSet.of(
                AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC);
        flags.remove(missing);
        MemoryRegion region = b.keep(b.domain.register(b.memory, flags.toArray(new AccessFlag[0])));
        post(operation, 8, region.address(), region.rkey());
        assertRefused(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @CsvSource({"WRITE, REMOTE_WRITE", "READ, REMOTE_READ", "FETCH_ADD, REMOTE_ATOMIC", "COMPARE_SWAP, REMOTE_ATOMIC"})
    void aQueuePairWithoutTheRightFindsTheRequestInvalid(Operation operation, AccessFlag missing)
            throws InterruptedException {
        Set<AccessFlag> flags = EnumSet.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC);
        flags.remove(missing);
        b.qp.modify(new QueuePairAttributes().accessFlags(flags.toArray(new AccessFlag[0])));
        post(operation, 8, middle.address(), middle.rkey());
        assertRefused(WorkCompletionStatus.REM_INV_REQ_ERR);
    }

    @ParameterizedTest
    @CsvSource({
        "WRITE, -8, 8",
        "WRITE, -4, 8",
        "WRITE, 4096, 1",
        "WRITE, 4095, 2",
        "WRITE, 0, 4097",
        "WRITE, 4000, 20000",
        "READ, -8, 8",
        "READ, -1, 2",
        "READ, 4096, 1",
        "READ, 4092, 8",
        "READ, 0, 4097",
        "READ, 1, 20000",
        "FETCH_ADD, -8, 8",
        "FETCH_ADD, 4096, 8",
        "COMPARE_SWAP, -8, 8",
        "COMPARE_SWAP, 4096, 8"
    })
    void whatLiesOutsideOrStraddlesTheEdgeIsRefused(Operation operation, long offset, int length)
            throws InterruptedException {
        post(operation, length, middle.address() + offset, middle.rkey());
        assertRefused(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @CsvSource({
        "WRITE, -1",
        "WRITE, -8",
        "WRITE, 0x7ffffffffffffff8",
        "WRITE, 0",
        "READ, -1",
        "READ, -4096",
        "READ, 0",
        "FETCH_ADD, -8",
        "COMPARE_SWAP, -8"
    })
    void anAddressThatOverflowsIsRefused(Operation operation, String address) throws InterruptedException {
        post(operation, LENGTH, Long.decode(address), middle.rkey());
        assertRefused(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 7, 4089})
    void anUnalignedAtomicIsAnInvalidRequest(int offset) throws InterruptedException {
        post(Operation.FETCH_ADD, 8, middle.address() + offset, middle.rkey());
        assertRefused(WorkCompletionStatus.REM_INV_REQ_ERR);
    }

    @ParameterizedTest
    @EnumSource
    void theLastBytesOfARegionAreReachable(Operation operation) throws InterruptedException {
        a.memory.set(JAVA_LONG, 0, 99);
        post(operation, 8, middle.address() + LENGTH - 8, middle.rkey());
        a.next().orThrow();
        long expected = switch (operation) {
            case WRITE -> 99;
            case READ -> SENTINEL;
            case FETCH_ADD -> SENTINEL + 1;
            case COMPARE_SWAP -> 1;
        };
        assertThat(b.memory.get(JAVA_LONG, 16384 + LENGTH - 8)).isEqualTo(expected);
        if (operation != Operation.WRITE) {
            assertThat(a.memory.get(JAVA_LONG, 0)).as("in host order").isEqualTo(SENTINEL);
        }
    }

    @Test
    void nothingIsReadOrWrittenWithAnyKeyWhenTheLengthIsZero() throws InterruptedException {
        post(Operation.WRITE, 0, 0, 0);
        a.next().orThrow();
        post(Operation.READ, 0, 0, 0);
        a.next().orThrow();
    }

    /** What the requester's own side may not do. */
    @ParameterizedTest
    @EnumSource
    void aLocalKeyOfAnotherDomainIsAProtectionError(Operation operation) throws InterruptedException {
        ProtectionDomain other = a.keep(a.context.allocateProtectionDomain());
        MemoryRegion foreign = a.keep(other.register(a.memory, TwoDevices.ALL));
        a.region.close();
        a.region = foreign;
        post(operation, 8, middle.address(), middle.rkey());
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
        assertThat(b.memory.get(JAVA_LONG, 16384)).isEqualTo(SENTINEL);
    }

    @Test
    void aReadIntoMemoryWithoutLocalWriteIsAProtectionError() throws InterruptedException {
        MemorySegment memory = Arena.ofAuto().allocate(64, 8);
        MemoryRegion constant = a.keep(a.domain.register(memory, AccessFlag.REMOTE_READ));
        a.qp.postRead(1, constant, 0, 64, middle.address(), middle.rkey(), SendFlags.SIGNALED);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
        assertThat(memory.get(JAVA_LONG, 0)).isZero();
    }

    @Test
    void theRemoteKeyIsNoLocalKey() throws InterruptedException {
        a.qp.postWrite(1, a.region.address(), 8, a.region.rkey(), middle.address(), middle.rkey(), SendFlags.SIGNALED);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
    }

    @Test
    void aReceiveThatIsTooShortFailsOnBothSides() throws InterruptedException {
        b.qp.postReceive(5, b.region, 0, 63);
        a.qp.postSend(1, a.region, 0, 64, SendFlags.SIGNALED);
        assertThat(b.next().status()).isEqualTo(WorkCompletionStatus.LOC_LEN_ERR);
        assertThat(b.completion.wrId()).isEqualTo(5);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
    }

    @Test
    void aReceiveThatMayNotBeWrittenFailsOnBothSides() throws InterruptedException {
        MemoryRegion constant = b.keep(b.domain.register(Arena.ofAuto().allocate(64), AccessFlag.REMOTE_READ));
        b.qp.postReceive(5, constant, 0, 64);
        a.qp.postSend(1, a.region, 0, 64, SendFlags.SIGNALED);
        assertThat(b.next().status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_OP_ERR);
    }
}
