// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReliableConnectionTest {
    private static final int HALF = 1 << 19;

    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;

    @BeforeEach
    void open() {
        devices = new TwoDevices();
        a = devices.a;
        b = devices.b;
        Random random = new Random(1);
        for (long i = 0; i < a.memory.byteSize(); i += 8) {
            a.memory.set(JAVA_LONG, i, random.nextLong());
        }
    }

    @AfterEach
    void close() {
        devices.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 8, 4095, 4096, 4097, 8192, 100_001, HALF})
    void writesAndReadsBack(int size) throws InterruptedException {
        a.qp.postWrite(1, a.region, 0, size, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
        WorkCompletion written = a.next().orThrow();
        assertThat(written.wrId()).isEqualTo(1);
        assertThat(written.opcode()).isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
        assertThat(b.memory.asSlice(0, size).mismatch(a.memory.asSlice(0, size)))
                .isEqualTo(-1);

        a.qp.postRead(2, a.region, HALF, size, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
        WorkCompletion read = a.next().orThrow();
        assertThat(read.opcode()).isEqualTo(WorkCompletionOpcode.RDMA_READ);
        assertThat(read.byteLength()).isEqualTo(size);
        MemorySegment back = a.memory.asSlice(HALF, size);
        assertThat(back.mismatch(a.memory.asSlice(0, size))).isEqualTo(-1);
    }

    @Test
    void sendsWithImmediate() throws InterruptedException {
        b.qp.postReceive(7, b.region, 100, 9000);
        a.qp.postSendWithImmediate(8, a.region.address(), 9000, a.region.lkey(), 0xCAFEBABE, SendFlags.SIGNALED);
        WorkCompletion received = b.next().orThrow();
        assertThat(received.wrId()).isEqualTo(7);
        assertThat(received.byteLength()).isEqualTo(9000);
        assertThat(received.immediate()).isEqualTo(0xCAFEBABE);
        assertThat(b.memory.asSlice(100, 9000).mismatch(a.memory.asSlice(0, 9000)))
                .isEqualTo(-1);
        assertThat(a.next().orThrow().wrId()).isEqualTo(8);
    }

    @Test
    void waitsForAReceiverThatPostsLate() throws InterruptedException {
        a.qp.postSend(1, a.region, 0, 64, SendFlags.SIGNALED);
        Thread.sleep(30);
        b.qp.postReceive(2, b.region, 0, 64);
        assertThat(b.next().orThrow().byteLength()).isEqualTo(64);
        assertThat(a.next().orThrow().wrId()).isEqualTo(1);
    }

    @Test
    void countsAndSwapsAtomically() throws InterruptedException {
        b.memory.set(JAVA_LONG, 0, 40);
        a.qp.postFetchAndAdd(
                1, a.region.address(), a.region.lkey(), b.region.address(), b.region.rkey(), 2, SendFlags.SIGNALED);
        assertThat(a.next().orThrow().opcode()).isEqualTo(WorkCompletionOpcode.FETCH_ADD);
        assertThat(a.memory.get(JAVA_LONG, 0)).isEqualTo(40);
        assertThat(b.memory.get(JAVA_LONG, 0)).isEqualTo(42);

        a.qp.postCompareAndSwap(
                2, a.region.address(), a.region.lkey(), b.region.address(), b.region.rkey(), 42, 7, SendFlags.SIGNALED);
        a.next().orThrow();
        assertThat(a.memory.get(JAVA_LONG, 0)).isEqualTo(42);
        assertThat(b.memory.get(JAVA_LONG, 0)).isEqualTo(7);
    }

    @Test
    void deniesAWritePastTheEnd() throws InterruptedException {
        a.qp.postWrite(
                1, a.region, 0, 64, b.region.address() + b.region.length() - 32, b.region.rkey(), SendFlags.NONE);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }
}
