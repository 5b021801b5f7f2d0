// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.WorkCompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.RdmaException.Reason;
import io.verbena.verbs.ReceiveRequest;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendRequest;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RC: what moves over a reliable connection. */
class ReliableConnectionConformanceTest extends ConformanceSuite {
    private static final int IMMEDIATE = 0xfedcba98;

    /** Where the peer's part begins, apart from where this side's does. */
    private static final int AT = 4096;

    private long remote() {
        return b.region.address() + AT;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1023, 1024, 1025, 2048, 10_000})
    @Conforms("RC-1")
    void sendsArriveInReceives(int size) throws InterruptedException {
        Pair pair = rc();
        a.fill(0, size, size);
        for (boolean immediate : new boolean[] {false, true}) {
            b.memory.fill((byte) 0);
            pair.b().postReceive(7, b.region, AT, size + 1);
            if (immediate) {
                pair.a().postSendWithImmediate(8, a.region.address(), size, a.region.lkey(), IMMEDIATE, SIGNALED);
            } else {
                pair.a().postSend(8, a.region, 0, size, SIGNALED);
            }
            assertThat(a.expect(SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.SEND);
            WorkCompletion received = b.expect(SUCCESS);
            assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECV);
            assertThat(received.byteLength()).isEqualTo(size);
            assertThat(received.hasImmediate()).isEqualTo(immediate);
            if (immediate) {
                assertThat(received.immediate()).isEqualTo(IMMEDIATE);
            }
            b.assertHolds(AT, size, size);
            b.assertZero(AT + size, 100);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1023, 1024, 1025, 2048, 10_000})
    @Conforms("RC-1")
    void writesAndReadsReachThePeersMemory(int size) throws InterruptedException {
        Pair pair = rc();
        a.fill(0, size, 1);
        pair.a().postWrite(1, a.region, 0, size, remote(), b.region.rkey(), SIGNALED);
        assertThat(a.expect(SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
        b.assertHolds(AT, size, 1);
        b.assertZero(AT + size, 100);
        b.fill(AT, size, 2);
        pair.a().postRead(2, a.region, 20_000, size, remote(), b.region.rkey(), SIGNALED);
        assertThat(a.expect(SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.RDMA_READ);
        assertThat(a.completion.byteLength()).isEqualTo(size);
        a.assertHolds(20_000, size, 2);
        a.assertZero(20_000 + size, 100);
        b.assertNoCompletion();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1024, 5000})
    @Conforms({"RC-1", "RC-2"})
    void aWriteWithImmediateTakesAReceiveAndLeavesItsMemoryAlone(int size) throws InterruptedException {
        Pair pair = rc();
        a.fill(0, Math.max(1, size), 4);
        pair.b().postReceive(5, b.region, 30_000, 64);
        pair.b().postReceive(6, b.region, 30_000, 64);
        pair.a()
                .postWriteWithImmediate(
                        1, a.region.address(), size, a.region.lkey(), remote(), b.region.rkey(), IMMEDIATE, SIGNALED);
        a.expect(SUCCESS);
        WorkCompletion received = b.expect(SUCCESS);
        assertThat(received.wrId()).isEqualTo(5);
        assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECV_RDMA_WITH_IMM);
        assertThat(received.byteLength()).isEqualTo(size);
        assertThat(received.immediate()).isEqualTo(IMMEDIATE);
        b.assertHolds(AT, size, 4);
        b.assertZero(30_000, 64);
        b.assertNoCompletion();
    }

    @Test
    @Conforms("RC-3")
    void emptyWritesAndReadsSucceedWhateverTheyName() throws InterruptedException {
        Pair pair = rc();
        for (long address : new long[] {0, 1, remote(), -1}) {
            for (int rkey : new int[] {0, -1, b.region.lkey(), b.region.rkey()}) {
                pair.a().post(pair.a().sendRequest().write(address, rkey).id(1).signaled());
                assertThat(a.expect(SUCCESS).byteLength()).isZero();
                pair.a().postRead(2, 0, 0, 0, address, rkey, SIGNALED);
                assertThat(a.expect(SUCCESS).byteLength()).isZero();
            }
        }
        assertCarriesTraffic(pair);
    }

    @Test
    @Conforms("RC-5")
    void gathersAndScattersToTheGrantedNumberOfEntries() throws InterruptedException {
        int most = Math.min(a.context.queryDevice().maxSge(), 30);
        Pair pair = rc(options -> options.withMaxSge(most, most));
        int size = 0;
        SendRequest send = pair.a().sendRequest().send().signaled();
        for (int i = 0; i < most; i++) {
            int length = i % 5 == 0 ? 0 : i * 7;
            send.sge(a.region, size, length);
            size += length;
        }
        a.fill(0, size, 6);
        ReceiveRequest receive = new ReceiveRequest().id(1);
        int left = size;
        for (int i = 0; i < most; i++) {
            int length = i == most - 1 ? left : Math.min(left, i % 4 == 1 ? 0 : size / most);
            receive.sge(b.region, AT + (size - left), length);
            left -= length;
        }
        pair.b().post(receive);
        send.post();
        a.expect(SUCCESS);
        assertThat(b.expect(SUCCESS).byteLength()).isEqualTo(size);
        b.assertHolds(AT, size, 6);
    }

    @Test
    @Conforms("RC-5")
    void writesGatherAndReadsScatter() throws InterruptedException {
        Pair pair = rc();
        a.fill(0, 3000, 1);
        SendRequest request = pair.a().sendRequest();
        request.write(remote(), b.region.rkey())
                .sge(a.region, 0, 1500)
                .sge(0, 0, 0)
                .sge(a.region, 1500, 1)
                .sge(a.region, 1501, 1499)
                .signaled()
                .post();
        a.expect(SUCCESS);
        b.assertHolds(AT, 3000, 1);
        request.read(remote(), b.region.rkey())
                .sge(a.region, 10_000, 1)
                .sge(0, 0, 0)
                .sge(a.region, 20_000, 2998)
                .sge(a.region, 30_000, 1)
                .signaled()
                .post();
        a.expect(SUCCESS);
        a.assertHolds(10_000, 1, 1);
        a.assertHolds(20_000, 2998, 1, 1);
        a.assertHolds(30_000, 1, 1, 2999);
    }

    @Test
    @Conforms("RC-6")
    void inlineDataIsCapturedWhenPosted() throws InterruptedException {
        Pair pair = rc();
        byte[] payload = new byte[pair.a().capabilities().maxInlineData()];
        SendRequest request = pair.a().sendRequest();
        int times = 10;
        for (int i = 0; i < times; i++) {
            Arrays.fill(payload, (byte) (i + 1));
            request.write(remote() + (long) i * payload.length, b.region.rkey())
                    .inline(MemorySegment.ofArray(payload))
                    .signaled()
                    .post();
        }
        Arrays.fill(payload, (byte) 99);
        for (int i = 0; i < times; i++) {
            a.expect(SUCCESS);
            Arrays.fill(payload, (byte) (i + 1));
            assertThat(b.memory
                            .asSlice(AT + (long) i * payload.length, payload.length)
                            .mismatch(MemorySegment.ofArray(payload)))
                    .isEqualTo(-1);
        }
    }

    @Test
    @Conforms("RC-7")
    void unsignalledWorkCompletesOnErrorOnly() throws InterruptedException {
        Pair pair = rc();
        for (int i = 0; i < 5; i++) {
            pair.a().postWrite(i, a.region, 0, 8, remote(), b.region.rkey(), SendFlags.NONE);
        }
        assertCarriesTraffic(pair);
        a.assertNoCompletion();
        pair.a().postWrite(9, a.region, 0, 8, remote(), b.region.lkey(), SendFlags.NONE);
        assertThat(a.expect(REM_ACCESS_ERR).wrId()).isEqualTo(9);
    }

    @Test
    @Conforms("RC-7")
    void oneSignalledCompletionFreesAllBeforeIt() throws InterruptedException {
        Pair pair = rc(options -> options.withQueueDepth(8, 8));
        int depth = pair.a().capabilities().maxSendWr();
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < depth; i++) {
                int flags = i == depth - 1 ? SIGNALED : SendFlags.NONE;
                pair.a().postWrite(i, a.region, 0, 8, remote(), b.region.rkey(), flags);
            }
            assertRefused(
                    Reason.QUEUE_FULL,
                    () -> pair.a().postWrite(99, a.region, 0, 8, remote(), b.region.rkey(), SIGNALED));
            assertThat(a.expect(SUCCESS).wrId()).isEqualTo(depth - 1);
            a.assertNoCompletion();
        }
    }

    @Test
    @Conforms("RC-8")
    void aFencedRequestWaitsForTheReadBeforeIt() throws InterruptedException {
        Pair pair = rc();
        int size = 8000;
        for (int round = 1; round <= 20; round++) {
            b.fill(AT, size, round);
            pair.b().postReceive(1, b.region, 30_000, size);
            pair.a().postRead(1, a.region, 0, size, remote(), b.region.rkey(), SendFlags.NONE);
            pair.a().postSend(2, a.region, 0, size, SIGNALED | SendFlags.FENCE);
            a.expect(SUCCESS);
            b.expect(SUCCESS);
            b.assertHolds(30_000, size, round);
        }
    }
}
