// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.AccessFlag.LOCAL_WRITE;
import static io.verbena.verbs.AccessFlag.REMOTE_READ;
import static io.verbena.verbs.AccessFlag.REMOTE_WRITE;
import static io.verbena.verbs.WorkCompletionStatus.LOC_PROT_ERR;
import static io.verbena.verbs.WorkCompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.WorkCompletionStatus.REM_INV_REQ_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.verbs.DeviceAttributes.AtomicCapability;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.RdmaException.Reason;
import io.verbena.verbs.SendRequest;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** AT: FETCH_ADD and CMP_SWAP. The result arrives at a's offset 0, the target is b's offset 64. */
class AtomicConformanceTest extends ConformanceSuite {
    private static final VarHandle LONGS = ValueLayout.JAVA_LONG.varHandle();
    private static final long TARGET = 64;

    @BeforeEach
    void requireAtomics() {
        assumeTrue(a.context.queryDevice().atomicCapability() != AtomicCapability.NONE, "atomics");
    }

    private void fetchAndAdd(Pair pair, long add) {
        pair.a()
                .postFetchAndAdd(
                        1,
                        a.region.address(),
                        a.region.lkey(),
                        b.region.address() + TARGET,
                        b.region.rkey(),
                        add,
                        SIGNALED);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "40, 2", "-1, 1", "9223372036854775807, 9223372036854775807", "5, -6"})
    @Conforms({"AT-1", "AT-7"})
    void fetchAndAddReturnsTheOldValueAndLeavesTheSum(long old, long add) throws InterruptedException {
        b.longAt(TARGET, old);
        b.longAt(TARGET + 8, 99);
        fetchAndAdd(rc(), add);
        assertThat(a.expect(SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.FETCH_ADD);
        assertThat(a.longAt(0)).isEqualTo(old);
        assertThat(b.longAt(TARGET)).isEqualTo(old + add);
        assertThat(b.longAt(TARGET + 8)).isEqualTo(99);
    }

    @ParameterizedTest
    @CsvSource({"10, 10", "10, 11", "0x0102030405060708, 0x0102030405060708", "0x0102030405060708, 0x0807060504030201"})
    @Conforms({"AT-2", "AT-7"})
    void compareAndSwapSwapsWhereEqual(String old, String compare) throws InterruptedException {
        long value = Long.decode(old);
        long swap = 0x1122334455667788L;
        b.longAt(TARGET, value);
        rc().a()
                .postCompareAndSwap(
                        1,
                        a.region.address(),
                        a.region.lkey(),
                        b.region.address() + TARGET,
                        b.region.rkey(),
                        Long.decode(compare),
                        swap,
                        SIGNALED);
        assertThat(a.expect(SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.COMP_SWAP);
        assertThat(a.longAt(0)).isEqualTo(value);
        assertThat(b.longAt(TARGET)).isEqualTo(old.equals(compare) ? swap : value);
    }

    @Test
    @Conforms("AT-3")
    void aQueuePairWithoutTheRightFindsTheRequestInvalid() throws InterruptedException {
        Pair pair = rc(options -> options, new QueuePairAttributes().accessFlags(REMOTE_READ, REMOTE_WRITE));
        fetchAndAdd(pair, 1);
        a.expect(REM_INV_REQ_ERR);
        assertThat(b.longAt(TARGET)).isZero();
    }

    @Test
    @Conforms("AT-3")
    void aRegionWithoutTheRightDeniesAccess() throws InterruptedException {
        MemoryRegion closed = b.register(b.memory, LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE);
        rc().a().postFetchAndAdd(1, a.region.address(), a.region.lkey(), closed.address(), closed.rkey(), 1, SIGNALED);
        a.expect(REM_ACCESS_ERR);
        assertThat(b.longAt(0)).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 7})
    @Conforms("AT-4")
    void anUnalignedAddressIsAnInvalidRequest(int offset) throws InterruptedException {
        Pair pair = rc();
        pair.a()
                .postFetchAndAdd(
                        1,
                        a.region.address(),
                        a.region.lkey(),
                        b.region.address() + offset,
                        b.region.rkey(),
                        1,
                        SIGNALED);
        a.expect(REM_INV_REQ_ERR);
        b.assertZero(0, 64);
        pair.reconnect();
        assertCarriesTraffic(pair);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 7, 9, 16})
    @Conforms("AT-4")
    void aResultOfOtherThanEightBytesIsRefused(int length) throws InterruptedException {
        Pair pair = rc();
        SendRequest request = pair.a().sendRequest();
        request.fetchAndAdd(b.region.address(), b.region.rkey(), 1)
                .sge(a.region, 0, length)
                .signaled();
        assertRefused(Reason.INVALID_ARGUMENT, request::post);
        assertCarriesTraffic(pair);
    }

    @Test
    @Conforms("AT-5")
    void badKeysAreProtectionAndAccessErrors() throws InterruptedException {
        Pair pair = rc();
        for (WorkCompletionStatus expected : new WorkCompletionStatus[] {LOC_PROT_ERR, REM_ACCESS_ERR}) {
            int lkey = expected == LOC_PROT_ERR ? a.region.rkey() : a.region.lkey();
            int rkey = expected == LOC_PROT_ERR ? b.region.rkey() : b.region.lkey();
            pair.a().postCompareAndSwap(1, a.region.address(), lkey, b.region.address(), rkey, 0, 1, SIGNALED);
            a.expect(expected);
            assertThat(b.longAt(0)).isZero();
            pair.reconnect();
        }
    }

    @Test
    @Conforms("AT-7")
    void atomicsAndTheProcessorAddUpWhereClaimed() throws InterruptedException {
        assumeTrue(b.context.queryDevice().atomicCapability() == AtomicCapability.GLOBAL, "atomicity against the CPU");
        assumeTrue(provider.worksBesideTheProgram(), "a device that works while the program does");
        Pair pair = rc();
        int operations = 200;
        for (int i = 0; i < operations; i++) {
            fetchAndAdd(pair, 1);
            do {
                long unused = (long) LONGS.getAndAdd(b.memory, TARGET, 1000L);
            } while (!a.cq.poll(a.completion));
            assertThat(a.completion.status()).isEqualTo(SUCCESS);
        }
        assertThat(b.longAt(TARGET) % 1000).isEqualTo(operations);
    }
}
