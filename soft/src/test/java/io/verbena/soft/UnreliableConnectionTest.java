// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** UC between two devices. */
class UnreliableConnectionTest {
    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;

    @BeforeEach
    void open() {
        devices = new TwoDevices();
        a = devices.a;
        b = devices.b;
        a.replaceQueuePair(QueuePairOptions.uc(a.cq));
        b.replaceQueuePair(QueuePairOptions.uc(b.cq));
        devices.connect();
        Random random = new Random(5);
        for (long i = 0; i < a.memory.byteSize(); i += 8) {
            a.memory.set(JAVA_LONG, i, random.nextLong());
        }
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private void expectArrived(int bytes) {
        assertThat(b.memory.asSlice(0, bytes).mismatch(a.memory.asSlice(0, bytes)))
                .isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4096, 4097, 50_000})
    void carriesSendsAndWritesWithAndWithoutImmediate(int bytes) throws InterruptedException {
        b.qp.postReceive(1, b.region, 0, 65536);
        a.qp.postSendWithImmediate(2, a.region.address(), bytes, a.region.lkey(), 0x1234, SendFlags.SIGNALED);
        assertThat(a.next().orThrow().opcode()).isEqualTo(WorkCompletionOpcode.SEND);
        assertThat(b.next().orThrow().byteLength()).isEqualTo(bytes);
        assertThat(b.completion.immediate()).isEqualTo(0x1234);
        expectArrived(bytes);

        b.memory.fill((byte) 0);
        b.qp.postReceive(3, b.region, 0, 0);
        a.qp.postWriteWithImmediate(
                4,
                a.region.address(),
                bytes,
                a.region.lkey(),
                b.region.address(),
                b.region.rkey(),
                5,
                SendFlags.SIGNALED);
        assertThat(a.next().orThrow().opcode()).isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
        assertThat(b.next().orThrow().opcode()).isEqualTo(WorkCompletionOpcode.RECV_RDMA_WITH_IMM);
        assertThat(b.completion.byteLength()).isEqualTo(bytes);
        expectArrived(bytes);
    }

    /** The sender is not told, and the receiver goes on. */
    @Test
    void whatTheReceiverCannotTakeIsLost() throws InterruptedException {
        a.qp.postSend(1, a.region, 0, 64, SendFlags.SIGNALED);
        a.next().orThrow();
        a.qp.postWrite(2, a.region, 0, 64, b.region.address(), b.region.rkey() ^ 1, SendFlags.SIGNALED);
        a.next().orThrow();
        awaitDropped("drop.no_receive", "drop.incomplete_message");
        b.qp.postReceive(3, b.region, 0, 64);
        a.qp.postSend(4, a.region, 0, 8, SendFlags.SIGNALED);
        assertThat(b.next().orThrow().wrId()).isEqualTo(3);
        assertThat(b.completion.byteLength()).isEqualTo(8);
        assertThat(b.qp.state()).isEqualTo(QueuePairState.RTS);
    }

    private void awaitDropped(String... counters) {
        for (String counter : counters) {
            long deadline = System.nanoTime() + TwoDevices.TIMEOUT.toNanos();
            while (b.context.counters().get(counter) == 0 && System.nanoTime() < deadline) {
                b.cq.poll(b.completion);
            }
            assertThat(b.context.counters()).containsEntry(counter, 1L);
        }
    }

    @Test
    void readsAndAtomicsAreRefused() {
        RdmaException read = catchThrowableOfType(
                RdmaException.class,
                () -> a.qp.postRead(1, a.region, 0, 8, b.region.address(), b.region.rkey(), SendFlags.SIGNALED));
        assertThat(read.reason()).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        assertThat(read).hasMessageContaining("UC").hasMessageContaining("RDMA_READ");
        RdmaException atomic = catchThrowableOfType(
                RdmaException.class,
                () -> a.qp.postFetchAndAdd(
                        1, a.region.address(), a.region.lkey(), b.region.address(), b.region.rkey(), 1, 0));
        assertThat(atomic).hasMessageContaining("UC").hasMessageContaining("FETCH_AND_ADD");
    }

    @Test
    void aFailedSendStopsSendingTillTheProgramSaysGoOn() throws InterruptedException {
        a.qp.postSend(1, a.region.address(), 8, a.region.lkey() ^ 1, SendFlags.NONE);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
        assertThat(a.qp.state()).isEqualTo(QueuePairState.SQE);
        a.qp.postSend(2, a.region, 0, 8, SendFlags.NONE);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        a.qp.postReceive(3, a.region, 0, 64);
        b.qp.postSend(4, b.region, 0, 8, SendFlags.SIGNALED);
        assertThat(a.next().orThrow().wrId()).isEqualTo(3);
        a.qp.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        b.qp.postReceive(5, b.region, 0, 64);
        b.next().orThrow();
        a.qp.postSend(6, a.region, 0, 8, SendFlags.SIGNALED);
        assertThat(a.next().orThrow().wrId()).isEqualTo(6);
        assertThat(b.next().orThrow().wrId()).isEqualTo(5);
    }

    @Test
    void aDrainedSendQueueIsAnEvent() throws InterruptedException {
        a.qp.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        assertThat(a.context.awaitAsyncEvent(TwoDevices.TIMEOUT)).isEqualTo(new AsyncEvent.SendQueueDrained(a.qp));
        a.qp.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        assertThat(a.context.pollAsyncEvent()).isNull();
    }

    @Test
    void sequenceNumbersMoveWithTraffic() throws InterruptedException {
        int before = a.qp.query().sqPsn();
        b.qp.postReceive(1, b.region, 0, 65536);
        int mtu = a.qp.query().pathMtu().bytes();
        a.qp.postSend(2, a.region, 0, 3 * mtu, SendFlags.SIGNALED);
        b.next().orThrow();
        assertThat(a.qp.query().sqPsn()).isEqualTo((before + 3) & 0xffffff);
        assertThat(b.qp.query().rqPsn()).isEqualTo((before + 3) & 0xffffff);
    }
}
