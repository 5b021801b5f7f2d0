// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.SharedReceiveQueueOptions;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.verbs.XrcDomain;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** XRC-1 between two devices: one connection delivers to two shared receive queues of the target. */
class ExtendedConnectionTest {
    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;
    private XrcDomain domain;
    private CompletionQueue firstQueue;
    private CompletionQueue secondQueue;
    private SharedReceiveQueue first;
    private SharedReceiveQueue second;

    @BeforeEach
    void open() {
        devices = new TwoDevices();
        a = devices.a;
        b = devices.b;
        domain = b.keep(b.context.openXrcDomain());
        firstQueue = b.keep(b.context.createCompletionQueue(16));
        secondQueue = b.keep(b.context.createCompletionQueue(16));
        first = b.keep(b.domain.createSharedReceiveQueue(
                SharedReceiveQueueOptions.of(8).withXrc(domain, firstQueue)));
        second = b.keep(b.domain.createSharedReceiveQueue(
                SharedReceiveQueueOptions.of(8).withXrc(domain, secondQueue)));
        b.qp.close();
        b.qp = b.keep(b.domain.createQueuePair(QueuePairOptions.xrcTarget(domain)));
        a.replaceQueuePair(QueuePairOptions.xrcInitiator(a.cq));
        devices.connect();
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private static RdmaException refused(ThrowingCallable call) {
        RdmaException e = catchThrowableOfType(RdmaException.class, call);
        assertThat(e).isNotNull();
        return e;
    }

    private WorkCompletion received(CompletionQueue queue) throws InterruptedException {
        assertThat(queue.await(b.completion, TwoDevices.TIMEOUT)).isTrue();
        assertThat(b.completion.orThrow().qpNumber()).isEqualTo(b.qp.qpNumber());
        return b.completion;
    }

    private void send(SharedReceiveQueue to, int length) {
        a.qp.post(a.qp.sendRequest()
                .send()
                .sharedReceiveQueue(to.number())
                .sge(a.region, 0, length)
                .signaled());
    }

    @Test
    void sendsReachTheQueueThatTheyName() throws InterruptedException {
        assertThat(first.number()).isBetween(1, 0xffffff).isNotEqualTo(second.number());
        first.postReceive(1, b.region, 0, 20_000);
        second.postReceive(2, b.region, 0, 20_000);
        a.memory.set(JAVA_LONG, 0, 0x5566);
        send(second, 10_000);
        a.next().orThrow();
        assertThat(received(secondQueue).wrId()).isEqualTo(2);
        assertThat(b.completion.byteLength()).isEqualTo(10_000);
        assertThat(b.memory.get(JAVA_LONG, 0)).isEqualTo(0x5566);
        send(first, 8);
        a.next().orThrow();
        assertThat(received(firstQueue).wrId()).isEqualTo(1);
        assertThat(secondQueue.poll(b.completion)).isFalse();
    }

    @Test
    void immediatesReadsWritesAndAtomics() throws InterruptedException {
        first.postReceive(1, b.region, 0, 0);
        a.memory.set(JAVA_LONG, 0, 40);
        a.qp.post(a.qp.sendRequest()
                .writeWithImmediate(b.region.address(), b.region.rkey(), 0x77)
                .sharedReceiveQueue(first.number())
                .sge(a.region, 0, 8)
                .signaled());
        assertThat(a.next().orThrow().opcode()).isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
        assertThat(received(firstQueue).immediate()).isEqualTo(0x77);
        assertThat(b.completion.opcode()).isEqualTo(WorkCompletionOpcode.RECV_RDMA_WITH_IMM);
        a.qp.postFetchAndAdd(
                2, a.region.address() + 8, a.region.lkey(), b.region.address(), b.region.rkey(), 2, SendFlags.SIGNALED);
        a.next().orThrow();
        assertThat(a.memory.get(JAVA_LONG, 8)).isEqualTo(40);
        a.qp.postCompareAndSwap(
                3,
                a.region.address() + 8,
                a.region.lkey(),
                b.region.address(),
                b.region.rkey(),
                42,
                7,
                SendFlags.SIGNALED);
        a.next().orThrow();
        assertThat(a.memory.get(JAVA_LONG, 8)).isEqualTo(42);
        a.qp.postRead(4, a.region, 4096, 30_000, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
        assertThat(a.next().orThrow().opcode()).isEqualTo(WorkCompletionOpcode.RDMA_READ);
        assertThat(a.memory.get(JAVA_LONG, 4096)).isEqualTo(7);
        a.qp.postWrite(5, a.region, 4096, 30_000, b.region.address() + 40_000, b.region.rkey(), SendFlags.SIGNALED);
        a.next().orThrow();
        assertThat(b.memory.get(JAVA_LONG, 40_000)).isEqualTo(7);
    }

    /** Targets of one domain share its queues: that is what XRC is for. */
    @Test
    void severalTargetsDeliverToOneQueue() throws InterruptedException {
        QueuePair otherTarget = b.keep(b.domain.createQueuePair(QueuePairOptions.xrcTarget(domain)));
        QueuePair otherInitiator = a.keep(a.domain.createQueuePair(QueuePairOptions.xrcInitiator(a.cq)));
        TwoDevices.connect(otherInitiator, otherTarget, new QueuePairAttributes());
        first.postReceive(1, b.region, 0, 64);
        first.postReceive(2, b.region, 0, 64);
        send(first, 8);
        received(firstQueue);
        otherInitiator.post(otherInitiator
                .sendRequest()
                .send()
                .sharedReceiveQueue(first.number())
                .sge(a.region, 0, 8)
                .signaled());
        assertThat(firstQueue.await(b.completion, TwoDevices.TIMEOUT)).isTrue();
        assertThat(b.completion.orThrow().qpNumber()).isEqualTo(otherTarget.qpNumber());
    }

    @Test
    void aQueueOfAnotherDomainIsRefused() throws InterruptedException {
        XrcDomain other = b.keep(b.context.openXrcDomain());
        SharedReceiveQueue foreign = b.keep(b.domain.createSharedReceiveQueue(
                SharedReceiveQueueOptions.of(8).withXrc(other, firstQueue)));
        foreign.postReceive(1, b.region, 0, 64);
        send(foreign, 8);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        assertThat(firstQueue.poll(b.completion)).isFalse();
    }

    @Test
    void aQueueThatIsGoneIsRefused() throws InterruptedException {
        second.close();
        send(second, 8);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        assertThat(b.qp.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void aHalfOfTheConnectionHasWhatItNeeds() {
        assertThat(a.qp.sendCompletionQueue()).isSameAs(a.cq);
        assertThatIllegalStateException().isThrownBy(a.qp::receiveCompletionQueue);
        assertThatIllegalStateException().isThrownBy(b.qp::sendCompletionQueue);
        assertThatIllegalStateException().isThrownBy(b.qp::receiveCompletionQueue);
        assertThat(refused(() -> a.qp.postReceive(1, a.region, 0, 8))).hasMessageContaining("XRC_INI");
        assertThat(refused(() -> b.qp.postReceive(1, b.region, 0, 8))).hasMessageContaining("XRC_TGT");
        assertThat(refused(() -> b.qp.postSend(1, b.region, 0, 8, 0))).hasMessageContaining("XRC_TGT");
    }

    @Test
    void parentsAreBusyWhileTheyAreUsed() {
        RdmaException e = refused(domain::close);
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.BUSY);
        assertThat(e).hasMessageContaining("3 queue pairs and shared receive queues");
        assertThat(refused(firstQueue::close)).hasMessageContaining("1 queue pairs and shared receive queues");
        first.close();
        firstQueue.close();
        second.close();
        b.qp.close();
        domain.close();
        domain.close();
        assertThat(refused(() -> b.domain.createQueuePair(QueuePairOptions.xrcTarget(domain)))
                        .reason())
                .isEqualTo(RdmaException.Reason.CLOSED);
        // A refused call leaves nothing in use.
        assertThat(refused(() -> b.domain.createSharedReceiveQueue(
                                SharedReceiveQueueOptions.of(1).withXrc(domain, secondQueue)))
                        .reason())
                .isEqualTo(RdmaException.Reason.CLOSED);
        secondQueue.close();
    }

    @Test
    void objectsOfAnotherDeviceAreMisuse() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> a.domain.createQueuePair(QueuePairOptions.xrcTarget(domain)))
                .withMessageContaining("another device");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> a.domain.createSharedReceiveQueue(
                        SharedReceiveQueueOptions.of(1).withXrc(domain, a.cq)))
                .withMessageContaining("another device");
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> b.domain.createQueuePair(QueuePairOptions.rc(b.cq).withSharedReceiveQueue(first)))
                .withMessageContaining("XRC");
    }
}
