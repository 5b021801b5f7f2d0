// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.DeviceCapability.SHARED_RECEIVE_QUEUE;
import static io.verbena.verbs.DeviceCapability.SHARED_RECEIVE_QUEUE_RESIZE;
import static io.verbena.verbs.DeviceCapability.XRC;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException.Reason;
import io.verbena.verbs.ReceiveRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.SharedReceiveQueueOptions;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.XrcDomain;
import org.junit.jupiter.api.Test;

/** SRQ and XRC: receives that queue pairs of b share. */
class SharedReceiveQueueConformanceTest extends ConformanceSuite {
    private SharedReceiveQueue shared(int receives) {
        require(SHARED_RECEIVE_QUEUE);
        return b.keep(b.domain.createSharedReceiveQueue(SharedReceiveQueueOptions.of(receives)));
    }

    private Pair over(SharedReceiveQueue queue) {
        return connected(
                a.rcOptions(), QueuePairOptions.rc(b.cq).withSharedReceiveQueue(queue), new QueuePairAttributes());
    }

    /** Posts receives of 1000 bytes each, with their number as id and 1000 times that as offset. */
    private void post(SharedReceiveQueue queue, int first, int count) {
        for (int i = first; i < first + count; i++) {
            queue.postReceive(i, b.region, 1000L * i, 1000);
        }
    }

    private void message(Pair pair, int size) throws InterruptedException {
        pair.a().postSend(1, a.region, 0, size, SIGNALED);
        a.expect(SUCCESS);
    }

    @Test
    @Conforms({"SRQ-1", "QP-1"})
    void queuePairsShareOneQueueAndEachMessageTakesOneReceive() throws InterruptedException {
        SharedReceiveQueue queue = shared(20);
        assertThat(queue.maxWr()).isGreaterThanOrEqualTo(20);
        Pair[] pairs = {over(queue), over(queue), over(queue)};
        assertThat(pairs[0].b().sharedReceiveQueue()).isSameAs(queue);
        post(queue, 0, 12);
        for (int i = 0; i < 12; i++) {
            Pair pair = pairs[i % 3];
            a.fill(0, 50 + i, i);
            message(pair, 50 + i);
            WorkCompletion received = b.expect(SUCCESS);
            assertThat(received.wrId()).isEqualTo(i);
            assertThat(received.qpNumber()).isEqualTo(pair.b().qpNumber());
            assertThat(received.byteLength()).isEqualTo(50 + i);
            b.assertHolds(1000L * i, 50 + i, i);
        }
        b.assertNoCompletion();
        assertRefused(Reason.BUSY, queue::close);
    }

    @Test
    @Conforms({"SRQ-1", "QP-9"})
    void aFullQueueAndTooManyEntriesAreRefused() {
        SharedReceiveQueue queue = shared(4);
        post(queue, 0, queue.maxWr());
        assertRefused(Reason.QUEUE_FULL, () -> post(queue, 49, 1));
        ReceiveRequest request = new ReceiveRequest().id(1);
        for (int i = 0; i <= queue.maxSge(); i++) {
            request.sge(b.region, 0, 1);
        }
        assertRefused(Reason.INVALID_ARGUMENT, () -> queue.post(request));
    }

    @Test
    @Conforms("SRQ-2")
    void resizingKeepsWhatIsPosted() throws InterruptedException {
        require(SHARED_RECEIVE_QUEUE_RESIZE);
        SharedReceiveQueue queue = shared(8);
        Pair pair = over(queue);
        post(queue, 0, 8);
        message(pair, 10);
        assertThat(b.expect(SUCCESS).wrId()).isZero();
        queue.resize(30);
        assertThat(queue.maxWr()).isGreaterThanOrEqualTo(30);
        post(queue, 8, 20);
        assertRefused(Reason.INVALID_ARGUMENT, () -> queue.resize(5));
        for (int i = 1; i < 28; i++) {
            message(pair, 10);
            assertThat(b.expect(SUCCESS).wrId()).isEqualTo(i);
        }
    }

    @Test
    @Conforms("SRQ-3")
    void theLimitFiresOnceAndMustBeSetAgain() throws InterruptedException {
        SharedReceiveQueue queue = shared(32);
        Pair pair = over(queue);
        post(queue, 0, 10);
        queue.armLimit(7);
        assertThat(queue.limit()).isEqualTo(7);
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 3; i++) {
                message(pair, 10);
                b.expect(SUCCESS);
            }
            b.assertNoEvent("seven are left");
            message(pair, 10);
            b.expect(SUCCESS);
            assertThat(b.context.awaitAsyncEvent(limit())).isEqualTo(new AsyncEvent.SharedReceiveQueueLimit(queue));
            assertThat(queue.limit()).isZero();
            message(pair, 10);
            b.expect(SUCCESS);
            b.assertNoEvent("it fired already");
            post(queue, 10, 5);
            queue.armLimit(7);
        }
    }

    @Test
    @Conforms("SRQ-4")
    void aQueuePairInErrorTellsWhenItsLastReceiveIsDone() throws InterruptedException {
        SharedReceiveQueue queue = shared(8);
        Pair broken = over(queue);
        Pair other = over(queue);
        post(queue, 0, 3);
        message(broken, 10);
        b.expect(SUCCESS);
        broken.b().modify(new QueuePairAttributes().state(QueuePairState.ERR));
        assertThat(b.context.awaitAsyncEvent(limit())).isEqualTo(new AsyncEvent.LastWqeReached(broken.b()));
        broken.b().close();
        b.assertNoEvent("of a queue pair that is gone");
        message(other, 10);
        assertThat(b.expect(SUCCESS).wrId()).isEqualTo(1);
    }

    /** An initiator of a, connected to a target of b in this domain. */
    private QueuePair initiator(XrcDomain domain) {
        QueuePair initiator = a.queuePair(QueuePairOptions.xrcInitiator(a.cq));
        QueuePair target = b.queuePair(QueuePairOptions.xrcTarget(domain));
        new Pair(initiator, target).connect(new QueuePairAttributes());
        return initiator;
    }

    @Test
    @Conforms("XRC-1")
    void oneInitiatorReachesAnySharedQueueOfTheDomain() throws InterruptedException {
        require(XRC);
        XrcDomain domain = b.keep(b.context.openXrcDomain());
        CompletionQueue[] reports = new CompletionQueue[2];
        SharedReceiveQueue[] queues = new SharedReceiveQueue[2];
        for (int i = 0; i < 2; i++) {
            reports[i] = b.keep(b.context.createCompletionQueue(16));
            queues[i] = b.keep(b.domain.createSharedReceiveQueue(
                    SharedReceiveQueueOptions.of(8).withXrc(domain, reports[i])));
            post(queues[i], 4 * i, 4);
        }
        assertThat(queues[0].number()).isNotEqualTo(queues[1].number());
        QueuePair initiator = initiator(domain);
        for (int i = 0; i < 2; i++) {
            a.fill(0, 100, i);
            initiator.post(initiator
                    .sendRequest()
                    .send()
                    .sharedReceiveQueue(queues[i].number())
                    .sge(a.region, 0, 100)
                    .signaled());
            a.expect(SUCCESS);
            assertThat(b.expect(reports[i], SUCCESS).wrId()).isEqualTo(4L * i);
            b.assertHolds(4000L * i, 100, i);
            initiator.post(initiator
                    .sendRequest()
                    .writeWithImmediate(b.region.address() + 50_000, b.region.rkey(), 77)
                    .sharedReceiveQueue(queues[i].number())
                    .sge(a.region, 0, 100)
                    .signaled());
            a.expect(SUCCESS);
            assertThat(b.expect(reports[i], SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.RECV_RDMA_WITH_IMM);
            assertThat(b.completion.immediate()).isEqualTo(77);
            b.assertHolds(50_000, 100, i);
        }
    }

    @Test
    @Conforms({"XRC-1", "AT-6"})
    void writesReadsAndAtomicsNeedNoSharedQueue() throws InterruptedException {
        require(XRC);
        QueuePair initiator = initiator(b.keep(b.context.openXrcDomain()));
        a.fill(0, 3000, 3);
        initiator.postWrite(1, a.region, 0, 3000, b.region.address(), b.region.rkey(), SIGNALED);
        a.expect(SUCCESS);
        b.assertHolds(0, 3000, 3);
        initiator.postRead(2, a.region, 8000, 3000, b.region.address(), b.region.rkey(), SIGNALED);
        a.expect(SUCCESS);
        a.assertHolds(8000, 3000, 3);
        b.longAt(40_000, 5);
        long remote = b.region.address() + 40_000;
        long local = a.region.address();
        initiator.postFetchAndAdd(3, local, a.region.lkey(), remote, b.region.rkey(), 7, SIGNALED);
        a.expect(SUCCESS);
        assertThat(a.longAt(0)).isEqualTo(5);
        initiator.postCompareAndSwap(4, local, a.region.lkey(), remote, b.region.rkey(), 12, 99, SIGNALED);
        a.expect(SUCCESS);
        assertThat(a.longAt(0)).isEqualTo(12);
        assertThat(b.longAt(40_000)).isEqualTo(99);
    }
}
