// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.DeviceCapability.UNRELIABLE_CONNECTION;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException.Reason;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** UC: what moves over an unreliable connection. */
class UnreliableConnectionConformanceTest extends ConformanceSuite {
    private static final int IMMEDIATE = 0x80000001;
    private static final int AT = 8192;

    private Pair pair;

    @BeforeEach
    void connectPair() {
        require(UNRELIABLE_CONNECTION);
        pair = connected(QueuePairOptions.uc(a.cq), QueuePairOptions.uc(b.cq), new QueuePairAttributes());
    }

    @Test
    @Conforms({"QP-1", "QP-2", "QP-4"})
    void itIsCreatedInResetAndReadsBack() {
        QueuePair qp = a.queuePair(QueuePairOptions.uc(a.cq));
        assertThat(qp.state()).isEqualTo(QueuePairState.RESET);
        qp.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .port(1)
                .pkeyIndex(0)
                .accessFlags(0));
        assertThat(qp.state()).isEqualTo(QueuePairState.INIT);
        QueuePairAttributes now = pair.a().query();
        assertThat(now.state()).isEqualTo(QueuePairState.RTS);
        assertThat(now.pathMtu()).isEqualTo(Mtu.MTU_1024);
        assertThat(now.destinationQpNumber()).isEqualTo(pair.b().qpNumber());
        assertThat(now.sqPsn()).isEqualTo(pair.a().endpoint().psn());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1024, 1025, 10_000})
    @Conforms("UC-1")
    void sendsArriveInReceives(int size) throws InterruptedException {
        a.fill(0, size, 1);
        for (boolean immediate : new boolean[] {false, true}) {
            b.memory.fill((byte) 0);
            pair.b().postReceive(5, b.region, AT, 10_000);
            if (immediate) {
                pair.a().postSendWithImmediate(1, a.region.address(), size, a.region.lkey(), IMMEDIATE, SIGNALED);
            } else {
                pair.a().postSend(1, a.region, 0, size, SIGNALED);
            }
            assertThat(a.expect(SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.SEND);
            WorkCompletion received = b.expect(SUCCESS);
            assertThat(received.byteLength()).isEqualTo(size);
            assertThat(received.hasImmediate()).isEqualTo(immediate);
            if (immediate) {
                assertThat(received.immediate()).isEqualTo(IMMEDIATE);
            }
            b.assertHolds(AT, size, 1);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1024, 1025, 10_000})
    @Conforms("UC-1")
    void writesReachThePeersMemory(int size) throws InterruptedException {
        a.fill(0, size, 2);
        pair.b().postReceive(5, b.region, 60_000, 16);
        pair.a().postWrite(1, a.region, 0, size, b.region.address() + 30_000, b.region.rkey(), SIGNALED);
        long remote = b.region.address() + AT;
        pair.a()
                .postWriteWithImmediate(
                        2, a.region.address(), size, a.region.lkey(), remote, b.region.rkey(), IMMEDIATE, SIGNALED);
        assertThat(a.expect(SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
        a.expect(SUCCESS);
        WorkCompletion received = b.expect(SUCCESS);
        assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECV_RDMA_WITH_IMM);
        assertThat(received.byteLength()).isEqualTo(size);
        assertThat(received.immediate()).isEqualTo(IMMEDIATE);
        b.assertHolds(30_000, size, 2);
        b.assertHolds(AT, size, 2);
        b.assertZero(60_000, 16);
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 5000})
    @Conforms("UC-1")
    void aLossLosesItsMessageOnly(int size) throws InterruptedException {
        for (int round = 0; round < 3; round++) {
            pair.a().postSend(1, a.region, 0, size, SIGNALED);
            a.expect(SUCCESS);
            pair.a().postWrite(2, a.region, 0, size, b.region.address(), 0, SIGNALED);
            a.expect(SUCCESS);
            // A WRITE that arrives after them tells that the others have been dropped.
            pair.b().postReceive(3, b.region, AT, size);
            pair.a()
                    .postWriteWithImmediate(
                            4, a.region.address(), 0, a.region.lkey(), 0, 0, IMMEDIATE + round, SIGNALED);
            a.expect(SUCCESS);
            b.expect(SUCCESS);
        }
        a.fill(0, size, 9);
        pair.b().postReceive(6, b.region, AT, size);
        pair.a().postSend(5, a.region, 0, size, SIGNALED);
        a.expect(SUCCESS);
        assertThat(b.expect(SUCCESS).wrId()).isEqualTo(6);
        b.assertHolds(AT, size, 9);
    }

    @Test
    @Conforms("UC-1")
    void whatNeedsAnAnswerIsRefused() {
        assertRefused(
                Reason.INVALID_ARGUMENT,
                () -> pair.a().postRead(1, a.region, 0, 8, b.region.address(), b.region.rkey(), SIGNALED));
        long local = a.region.address();
        assertRefused(
                Reason.INVALID_ARGUMENT,
                () -> pair.a()
                        .postFetchAndAdd(1, local, a.region.lkey(), b.region.address(), b.region.rkey(), 1, SIGNALED));
    }
}
