// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Completion queues that change their size, and the times in their completions. */
class CompletionQueueResizeTest {
    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;
    private CompletionQueue cq;

    @BeforeEach
    void open() {
        devices = new TwoDevices();
        a = devices.a;
        b = devices.b;
        cq = a.keep(a.context.createCompletionQueue(8));
        a.qp.close();
        a.qp = a.keep(a.domain.createQueuePair(QueuePairOptions.rc(cq)));
        b.replaceQueuePair(b.options());
        devices.connect();
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private void write(long id) {
        a.qp.postWrite(id, a.region, 0, 8, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
    }

    /** {@code count} completions are in the queue, unpolled. */
    private void fill(int from, int count) throws InterruptedException {
        for (int i = from; i < from + count; i++) {
            write(i);
        }
        SoftCompletionQueue soft = (SoftCompletionQueue) cq;
        long deadline = System.nanoTime() + TwoDevices.TIMEOUT.toNanos();
        while (soft.ring().size() < count && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        assertThat(soft.ring().size()).isEqualTo(count);
    }

    private void expect(int from, int count) throws InterruptedException {
        for (int i = from; i < from + count; i++) {
            assertThat(cq.await(a.completion, TwoDevices.TIMEOUT)).isTrue();
            assertThat(a.completion.orThrow().wrId()).isEqualTo(i);
        }
        assertThat(cq.poll(a.completion)).isFalse();
    }

    private static RdmaException resizeRefused(CompletionQueue queue, int entries) {
        RdmaException e = catchThrowableOfType(RdmaException.class, () -> queue.resize(entries));
        assertThat(e).isNotNull();
        return e;
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 6, 8, 9, 1000})
    void whatIsInTheQueueStaysInOrder(int entries) throws InterruptedException {
        fill(100, 6);
        expect(100, 6);
        fill(0, 5);
        cq.resize(entries);
        assertThat(cq.capacity()).isEqualTo(entries);
        expect(0, 5);
        fill(5, Math.min(entries, 100));
        expect(5, Math.min(entries, 100));
    }

    @Test
    void belowWhatIsInItOrOutsideTheLimitsIsRefused() throws InterruptedException {
        fill(0, 5);
        RdmaException e = resizeRefused(cq, 4);
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        assertThat(e).hasMessageContaining("5 completions").hasMessageContaining("4");
        assertThat(resizeRefused(cq, 0)).hasMessageContaining("maxCqe");
        assertThat(resizeRefused(cq, Integer.MAX_VALUE)).hasMessageContaining("maxCqe");
        assertThat(cq.capacity()).isEqualTo(8);
        expect(0, 5);
        CompletionQueue closed = a.context.createCompletionQueue(2);
        closed.close();
        assertThat(resizeRefused(closed, 4).reason()).isEqualTo(RdmaException.Reason.CLOSED);
    }

    @Test
    void completionsOfAQueuePairThatIsGoneTakeNoRoom() throws InterruptedException {
        fill(0, 8);
        QueuePair other = a.keep(a.domain.createQueuePair(QueuePairOptions.rc(cq)));
        QueuePair peer = b.keep(b.domain.createQueuePair(b.options()));
        TwoDevices.connect(other, peer, new QueuePairAttributes());
        a.qp.close();
        cq.resize(4);
        for (int i = 0; i < 4; i++) {
            other.postWrite(i, a.region, 0, 8, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
        }
        expect(0, 4);
    }

    @Test
    void anArmedQueueStaysArmed() throws InterruptedException {
        CompletionChannel channel = a.keep(a.context.createCompletionChannel());
        CompletionQueue queue = a.keep(a.context.createCompletionQueue(2, channel));
        QueuePair sender = a.keep(a.domain.createQueuePair(QueuePairOptions.rc(queue)));
        QueuePair peer = b.keep(b.domain.createQueuePair(b.options()));
        TwoDevices.connect(sender, peer, new QueuePairAttributes());
        queue.requestNotify();
        queue.resize(16);
        assertThat(channel.poll()).isNull();
        sender.postWrite(1, a.region, 0, 8, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
        assertThat(channel.await(TwoDevices.TIMEOUT)).isSameAs(queue);
    }

    @Test
    void resizesUnderTraffic() throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger resized = new AtomicInteger();
        cq.resize(64);
        Thread resizer = Thread.ofPlatform().start(() -> {
            for (int i = 0; !done.get(); i++) {
                cq.resize(64 + i % 1000);
                resized.incrementAndGet();
            }
        });
        for (int round = 0; round < 300; round++) {
            for (int i = 0; i < 10; i++) {
                write(round * 10L + i);
            }
            expect(round * 10, 10);
        }
        done.set(true);
        resizer.join();
        assertThat(resized).hasPositiveValue();
    }

    @Test
    void timesOfCompletionsGrowAndAreNotInTheFuture() throws InterruptedException {
        long last = a.context.clockNanos();
        for (int i = 0; i < 200; i++) {
            write(i);
            assertThat(cq.await(a.completion, TwoDevices.TIMEOUT)).isTrue();
            assertThat(a.completion.timestamp()).isBetween(last, a.context.clockNanos());
            last = a.completion.timestamp();
        }
        a.qp.postReceive(7, a.region, 0, 8);
        a.qp.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        assertThat(cq.await(a.completion, TwoDevices.TIMEOUT)).isTrue();
        assertThat(a.completion.isSuccess()).isFalse();
        assertThat(a.completion.timestamp()).isBetween(last, a.context.clockNanos());
    }
}
