// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which work makes a completion, when, and what it says. */
class CompletionTest {
    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;

    @BeforeEach
    void open() {
        devices = new TwoDevices(8 << 20);
        a = devices.a;
        b = devices.b;
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private void write(QueuePair qp, long id, int flags) {
        qp.postWrite(id, a.region, 0, 64, b.region.address(), b.region.rkey(), flags);
    }

    @Test
    void onlySignalledWorkMakesACompletion() throws InterruptedException {
        for (int i = 0; i < 50; i++) {
            write(a.qp, i, i % 7 == 0 ? SendFlags.SIGNALED : SendFlags.NONE);
        }
        for (int i = 0; i < 50; i += 7) {
            assertThat(a.next().orThrow().wrId()).isEqualTo(i);
        }
        assertThat(a.cq.poll(a.completion)).isFalse();
    }

    @Test
    void aQueuePairThatSignalsAllReportsEverything() throws InterruptedException {
        devices.replaceQueuePairs(QueuePairOptions::withSignalAll);
        devices.connect();
        for (int i = 0; i < 50; i++) {
            write(a.qp, i, SendFlags.NONE);
        }
        for (int i = 0; i < 50; i++) {
            assertThat(a.next().orThrow().wrId()).isEqualTo(i);
        }
    }

    @Test
    void failedWorkReportsEvenWhenUnsignalled() throws InterruptedException {
        a.qp.postWrite(1, a.region, 0, 8, b.region.address(), b.region.rkey() ^ 0x100, SendFlags.NONE);
        write(a.qp, 2, SendFlags.NONE);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(a.completion.wrId()).isEqualTo(2);
    }

    @Test
    void aFailedCompletionTellsOnlyWhatIsDefined() throws InterruptedException {
        b.qp.postReceive(7, b.region, 0, 8);
        b.qp.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        WorkCompletion failed = b.next();
        assertThat(failed.status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(failed.wrId()).isEqualTo(7);
        assertThat(failed.qpNumber()).isEqualTo(b.qp.qpNumber());
        assertThatIllegalStateException().isThrownBy(failed::opcode).withMessageContaining("WR_FLUSH_ERR");
        assertThatIllegalStateException().isThrownBy(failed::byteLength);
        assertThatIllegalStateException().isThrownBy(failed::flags);
        assertThatIllegalStateException().isThrownBy(failed::immediate);
        assertThatIllegalStateException().isThrownBy(failed::hasImmediate);
        assertThatIllegalStateException().isThrownBy(failed::sourceQp);
        assertThat(catchThrowableOfType(RdmaException.class, failed::orThrow).reason())
                .isEqualTo(RdmaException.Reason.WORK_FAILED);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4096, 100_001})
    void aWriteWithImmediateTakesOneReceiveAndTellsWhatWasWritten(int size) throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            b.qp.postReceive(i, b.region, 1 << 20, 8);
        }
        b.memory.set(JAVA_LONG, 1 << 20, 77);
        a.memory.asSlice(0, 200_000).fill((byte) 0x3c);
        for (int i = 0; i < 2; i++) {
            a.qp.postWriteWithImmediate(
                    5,
                    a.region.address(),
                    size,
                    a.region.lkey(),
                    b.region.address(),
                    b.region.rkey(),
                    0xfeedface,
                    SendFlags.SIGNALED);
            assertThat(a.next().orThrow().opcode()).isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
            WorkCompletion received = b.next().orThrow();
            assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECV_RDMA_WITH_IMM);
            assertThat(received.wrId()).isEqualTo(i);
            assertThat(received.byteLength()).isEqualTo(size);
            assertThat(received.immediate()).isEqualTo(0xfeedface);
            assertThat(b.memory.asSlice(0, size).mismatch(a.memory.asSlice(0, size)))
                    .isEqualTo(-1);
        }
        assertThat(b.memory.get(JAVA_LONG, 1 << 20)).as("the receive's buffer").isEqualTo(77);
        assertThat(b.cq.poll(b.completion)).isFalse();
    }

    @Test
    void aWriteWithImmediateWithoutAReceiveIsNotReady() throws InterruptedException {
        devices.reconnect(new QueuePairAttributes().rnrRetry(2).minRnrTimer(1));
        a.qp.postWriteWithImmediate(
                5, a.region.address(), 10_000, a.region.lkey(), b.region.address(), b.region.rkey(), 1, SendFlags.NONE);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.RNR_RETRY_EXC_ERR);
        assertThat(a.context.counters().get("rnr_naks_received")).isEqualTo(3);
        assertThat(b.qp.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void noRnrRetriesMeansNone() throws InterruptedException {
        devices.reconnect(new QueuePairAttributes().rnrRetry(0));
        a.qp.postSend(5, a.region, 0, 8, SendFlags.NONE);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.RNR_RETRY_EXC_ERR);
        assertThat(a.context.counters().get("rnr_naks_received")).isEqualTo(1);
    }

    @Test
    void endlessRnrRetriesEndWithTheQueuePair() throws InterruptedException {
        a.qp.postSend(5, a.region, 0, 8, SendFlags.NONE);
        assertThat(a.cq.await(a.completion, Duration.ofMillis(300))).isFalse();
        assertThat(a.context.counters().get("rnr_naks_received")).isGreaterThan(3);
        a.qp.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
    }

    @Test
    void aFencedWriteCarriesWhatTheReadBeforeItBrought() throws InterruptedException {
        int size = 1 << 20;
        for (int round = 1; round <= 20; round++) {
            b.memory.asSlice(0, size).fill((byte) round);
            a.memory.asSlice(0, size).fill((byte) 0);
            a.qp.postRead(1, a.region, 0, size, b.region.address(), b.region.rkey(), SendFlags.NONE);
            a.qp.postWrite(
                    2,
                    a.region,
                    size - 64,
                    64,
                    b.region.address() + 2L * size,
                    b.region.rkey(),
                    SendFlags.SIGNALED | SendFlags.FENCE);
            a.next().orThrow();
            assertThat(b.memory.asSlice(2L * size, 64).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE))
                    .containsOnly(round);
        }
    }

    @Test
    void mixedWorkCompletesInTheOrderPosted() throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            long remote = b.region.address() + 64L * i;
            switch (i % 4) {
                case 0 -> a.qp.postRead(i, a.region, 1 << 20, 20_000, remote, b.region.rkey(), SendFlags.SIGNALED);
                case 1 -> a.qp.postWrite(i, a.region, 0, 9_000, remote, b.region.rkey(), SendFlags.SIGNALED);
                case 2 ->
                    a.qp.postFetchAndAdd(
                            i,
                            a.region.address() + (2 << 20),
                            a.region.lkey(),
                            b.region.address() + (4 << 20),
                            b.region.rkey(),
                            1,
                            SendFlags.SIGNALED);
                default -> {
                    b.qp.postReceive(i, b.region, 5 << 20, 100);
                    a.qp.postSend(i, a.region, 0, 100, SendFlags.SIGNALED);
                }
            }
        }
        for (int i = 0; i < 100; i++) {
            assertThat(a.next().orThrow().wrId()).isEqualTo(i);
        }
        for (int i = 3; i < 100; i += 4) {
            assertThat(b.next().orThrow().wrId()).isEqualTo(i);
        }
        assertThat(b.memory.get(JAVA_LONG, 4 << 20)).isEqualTo(25);
    }

    @Test
    void aQueueThatIsTooSmallTellsByEventAndByPoll() throws InterruptedException {
        CompletionQueue small = a.keep(a.context.createCompletionQueue(4));
        QueuePair overrunning = a.keep(a.domain.createQueuePair(QueuePairOptions.rc(small)));
        QueuePair peer = b.keep(b.domain.createQueuePair(b.options()));
        TwoDevices.connect(overrunning, peer, new QueuePairAttributes());
        assertThat(small.capacity()).isGreaterThanOrEqualTo(4);
        for (int i = 0; i < 2 * small.capacity(); i++) {
            write(overrunning, i, SendFlags.SIGNALED);
        }
        assertThat(a.context.awaitAsyncEvent(TwoDevices.TIMEOUT)).isEqualTo(new AsyncEvent.CompletionQueueError(small));
        assertThat(overrunning.state()).isEqualTo(QueuePairState.ERR);
        WorkCompletion completion = new WorkCompletion();
        for (int i = 0; i < small.capacity(); i++) {
            assertThat(small.poll(completion)).isTrue();
            assertThat(completion.orThrow().wrId()).isEqualTo(i);
        }
        RdmaException lost = catchThrowableOfType(RdmaException.class, () -> small.poll(completion));
        assertThat(lost.reason()).isEqualTo(RdmaException.Reason.RESOURCE_EXHAUSTED);
        assertThat(lost).hasMessageContaining("overrun").hasMessageContaining("" + small.capacity());
        assertThat(catchThrowableOfType(RdmaException.class, () -> small.await(completion, Duration.ofSeconds(5))))
                .hasMessageContaining("overrun");
        assertThat(a.context.pollAsyncEvent()).as("told once").isNull();
        // Another queue pair of the device is not concerned.
        write(a.qp, 1, SendFlags.SIGNALED);
        a.next().orThrow();
    }

    @Test
    void aReceiveQueueThatOverrunsTellsToo() throws InterruptedException {
        CompletionQueue small = b.keep(b.context.createCompletionQueue(1));
        QueuePair receiver = b.keep(b.domain.createQueuePair(b.options().withReceiveCompletionQueue(small)));
        QueuePair sender = a.keep(a.domain.createQueuePair(a.options()));
        TwoDevices.connect(sender, receiver, new QueuePairAttributes());
        for (int i = 0; i <= small.capacity(); i++) {
            receiver.postReceive(i, b.region, 0, 8);
            sender.postSend(i, a.region, 0, 8, SendFlags.NONE);
        }
        AsyncEvent event = b.context.awaitAsyncEvent(TwoDevices.TIMEOUT);
        while (event instanceof AsyncEvent.CommunicationEstablished) {
            event = b.context.awaitAsyncEvent(TwoDevices.TIMEOUT);
        }
        assertThat(event).isEqualTo(new AsyncEvent.CompletionQueueError(small));
        assertThat(receiver.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void twoPollingThreadsSeeEachCompletionOnce() throws InterruptedException {
        int count = 5_000;
        AtomicIntegerArray seen = new AtomicIntegerArray(count);
        java.util.concurrent.atomic.AtomicInteger polled = new java.util.concurrent.atomic.AtomicInteger();
        Runnable poller = () -> {
            WorkCompletion completion = new WorkCompletion();
            long end = System.nanoTime() + TwoDevices.TIMEOUT.toNanos();
            while (polled.get() < count && System.nanoTime() < end) {
                if (a.cq.poll(completion)) {
                    seen.incrementAndGet((int) completion.orThrow().wrId());
                    polled.incrementAndGet();
                }
            }
        };
        Thread one = Thread.ofPlatform().start(poller);
        Thread two = Thread.ofPlatform().start(poller);
        for (int i = 0; i < count; ) {
            try {
                write(a.qp, i, SendFlags.SIGNALED);
                i++;
            } catch (RdmaException full) {
                assertThat(full.reason()).isEqualTo(RdmaException.Reason.QUEUE_FULL);
                Thread.yield();
            }
        }
        one.join();
        two.join();
        for (int i = 0; i < count; i++) {
            assertThat(seen.get(i)).as("completion %d", i).isEqualTo(1);
        }
    }

    @Test
    void sleepingWaitersOfOneQueueEachGetACompletion() throws InterruptedException {
        AtomicIntegerArray seen = new AtomicIntegerArray(4);
        Thread[] waiters = new Thread[4];
        for (int i = 0; i < waiters.length; i++) {
            waiters[i] = Thread.ofPlatform().start(() -> {
                WorkCompletion completion = new WorkCompletion();
                try {
                    if (a.cq.await(completion, TwoDevices.TIMEOUT)) {
                        seen.incrementAndGet((int) completion.orThrow().wrId());
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
        }
        Thread.sleep(50);
        for (int i = 0; i < waiters.length; i++) {
            write(a.qp, i, SendFlags.SIGNALED);
        }
        for (Thread waiter : waiters) {
            waiter.join();
        }
        for (int i = 0; i < waiters.length; i++) {
            assertThat(seen.get(i)).isEqualTo(1);
        }
    }

    @Test
    void aWaitEndsAtItsTime() throws InterruptedException {
        long start = System.nanoTime();
        assertThat(a.cq.await(a.completion, Duration.ofMillis(50))).isFalse();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(50_000_000);
        for (Duration none :
                new Duration[] {Duration.ZERO, Duration.ofSeconds(-1), Duration.ofSeconds(Long.MIN_VALUE)}) {
            assertThat(a.cq.await(a.completion, none)).isFalse();
        }
    }

    @Test
    void aWaitForEverIsPossible() throws InterruptedException {
        write(a.qp, 1, SendFlags.SIGNALED);
        assertThat(a.cq.await(a.completion, Duration.ofSeconds(Long.MAX_VALUE))).isTrue();
    }

    @Test
    void anInterruptEndsAWaitAtOnce() throws InterruptedException {
        Thread waiter = Thread.currentThread();
        Thread.ofVirtual().start(() -> {
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            waiter.interrupt();
        });
        assertThat(catchThrowableOfType(InterruptedException.class, () -> a.cq.await(a.completion, TwoDevices.TIMEOUT)))
                .isNotNull();
        assertThat(waiter.isInterrupted()).isFalse();
    }

    @Test
    void anInterruptBeforeAWaitEndsItToo() {
        Thread.currentThread().interrupt();
        assertThat(catchThrowableOfType(InterruptedException.class, () -> a.cq.await(a.completion, TwoDevices.TIMEOUT)))
                .isNotNull();
        assertThat(Thread.interrupted()).isFalse();
    }
}
