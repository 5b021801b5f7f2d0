// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.WorkCompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceCapability;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException.Reason;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** CQ: completion queues and channels. */
class CompletionQueueConformanceTest extends ConformanceSuite {
    private static final Duration NOW = Duration.ofMillis(1);

    private void write(Pair pair, long id, int flags) {
        pair.a().postWrite(id, a.region, 0, 8, b.region.address(), b.region.rkey(), flags);
    }

    /** A queue of b with a channel, and a queue pair whose receives report to it. */
    private Pair notified(CompletionQueue queue) {
        Pair pair = new Pair(
                a.queuePair(a.rcOptions()),
                b.queuePair(QueuePairOptions.rc(b.cq).withReceiveCompletionQueue(queue)));
        pair.connect(usual());
        return pair;
    }

    private void message(Pair pair, int flags) throws InterruptedException {
        pair.b().postReceive(1, b.region, 0, 64);
        pair.a().postSend(1, a.region, 0, 8, SIGNALED | flags);
        a.expect(SUCCESS);
    }

    @Test
    @Conforms("CQ-1")
    void everySizeUpToTheLimitIsGranted() {
        int max = a.context.queryDevice().maxCqe();
        for (int entries : new int[] {1, 100, max / 2, max}) {
            try (CompletionQueue queue = a.context.createCompletionQueue(entries)) {
                assertThat(queue.capacity()).isGreaterThanOrEqualTo(entries);
                assertThat(queue.channel()).isNull();
            }
        }
    }

    @Test
    @Conforms("CQ-2")
    void sizesOutsideTheLimitsAreRefused() {
        int max = a.context.queryDevice().maxCqe();
        for (int entries : new int[] {0, -1, max + 1, Integer.MAX_VALUE}) {
            assertRefused(Reason.INVALID_ARGUMENT, () -> a.context.createCompletionQueue(entries));
        }
    }

    @Test
    @Conforms("CQ-3")
    void severalQueuesShareAChannelAndTheEventTellsWhich() throws InterruptedException {
        CompletionChannel channel = b.keep(b.context.createCompletionChannel());
        List<CompletionQueue> queues = new ArrayList<>();
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            CompletionQueue queue = b.keep(b.context.createCompletionQueue(8, channel));
            assertThat(queue.channel()).isSameAs(channel);
            queue.requestNotify();
            queues.add(queue);
            pairs.add(notified(queue));
        }
        for (int i : new int[] {2, 0, 1}) {
            message(pairs.get(i), SendFlags.NONE);
            assertThat(channel.await(limit())).isSameAs(queues.get(i));
            assertThat(channel.poll()).isNull();
            b.expect(queues.get(i), SUCCESS);
        }
    }

    @Test
    @Conforms({"CQ-5", "CQ-8"})
    void anEmptyQueueAnswersAtOnceAndChangesNothing() throws InterruptedException {
        WorkCompletion completion = new WorkCompletion();
        completion.set(7, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECV, 0, 5, 0, 6, 0, 0, 0);
        String before = completion.toString();
        assertThat(a.cq.poll(completion)).isFalse();
        assertThat(a.cq.await(completion, NOW)).isFalse();
        assertThat(completion).hasToString(before);
        write(rc(), 1, SIGNALED);
        a.expect(SUCCESS);
        a.assertNoCompletion();
    }

    @Test
    @Conforms("CQ-5")
    void completionsComeInTheOrderOfTheWork() throws InterruptedException {
        Pair one = rc();
        Pair other = rc();
        int each = 30;
        for (int i = 0; i < each; i++) {
            write(one, i, SIGNALED);
            other.a().postRead(i, a.region, 64, 1000, b.region.address(), b.region.rkey(), SIGNALED);
        }
        List<Long> ofOne = new ArrayList<>();
        List<Long> ofOther = new ArrayList<>();
        for (int i = 0; i < 2 * each; i++) {
            WorkCompletion completion = a.expect(SUCCESS);
            (completion.qpNumber() == one.a().qpNumber() ? ofOne : ofOther).add(completion.wrId());
        }
        assertThat(ofOne)
                .isEqualTo(ofOther)
                .isEqualTo(LongStream.range(0, each).boxed().toList());
    }

    @Test
    @Conforms("CQ-6")
    void oneEventForEachArmingOneHundredTimes() throws InterruptedException {
        CompletionChannel channel = b.keep(b.context.createCompletionChannel());
        CompletionQueue queue = b.keep(b.context.createCompletionQueue(8, channel));
        Pair pair = notified(queue);
        for (int i = 0; i < 100; i++) {
            queue.requestNotify();
            message(pair, SendFlags.NONE);
            message(pair, SendFlags.NONE);
            assertThat(channel.await(limit())).isSameAs(queue);
            assertThat(channel.await(NOW)).as("a second event").isNull();
            b.expect(queue, SUCCESS);
            b.expect(queue, SUCCESS);
        }
        message(pair, SendFlags.NONE);
        assertThat(channel.await(NOW)).as("an event that nobody asked for").isNull();
        b.expect(queue, SUCCESS);
    }

    @Test
    @Conforms("CQ-6")
    void armingAfterACompletionCameLosesNothing() throws InterruptedException {
        CompletionChannel channel = b.keep(b.context.createCompletionChannel());
        CompletionQueue queue = b.keep(b.context.createCompletionQueue(8, channel));
        message(notified(queue), SendFlags.NONE);
        queue.requestNotify();
        WorkCompletion completion = new WorkCompletion();
        if (!queue.poll(completion)) {
            assertThat(channel.await(limit())).isSameAs(queue);
            b.expect(queue, SUCCESS);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Conforms("CQ-7")
    void armedForSolicitedItFiresForThoseAndForErrors(boolean error) throws InterruptedException {
        CompletionChannel channel = b.keep(b.context.createCompletionChannel());
        CompletionQueue queue = b.keep(b.context.createCompletionQueue(8, channel));
        Pair pair = notified(queue);
        queue.requestNotify(true);
        message(pair, SendFlags.NONE);
        assertThat(channel.await(NOW)).as("an event for what is not solicited").isNull();
        b.expect(queue, SUCCESS);
        if (error) {
            pair.b().postReceive(2, b.region, 0, 8);
            pair.a().postWrite(3, a.region, 0, 8, b.region.address(), b.region.lkey(), SendFlags.NONE);
            a.expect(REM_ACCESS_ERR);
        } else {
            message(pair, SendFlags.SOLICITED);
        }
        assertThat(channel.await(limit())).isSameAs(queue);
        b.expect(queue, error ? WorkCompletionStatus.WR_FLUSH_ERR : SUCCESS);
    }

    @Test
    @Conforms("CQ-9")
    void everyFieldOfACompletionIsTold() throws InterruptedException {
        Pair pair = rc();
        pair.b().postReceive(11, b.region, 0, 64);
        pair.a().postSendWithImmediate(12, a.region.address(), 33, a.region.lkey(), 0x01020304, SIGNALED);
        WorkCompletion sent = a.expect(SUCCESS);
        assertThat(sent.wrId()).isEqualTo(12);
        assertThat(sent.opcode()).isEqualTo(WorkCompletionOpcode.SEND);
        assertThat(sent.qpNumber()).isEqualTo(pair.a().qpNumber());
        WorkCompletion received = b.expect(SUCCESS);
        assertThat(received.wrId()).isEqualTo(11);
        assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECV);
        assertThat(received.qpNumber()).isEqualTo(pair.b().qpNumber());
        assertThat(received.byteLength()).isEqualTo(33);
        assertThat(received.immediate()).isEqualTo(0x01020304);
        assertThat(received.flags()).isEqualTo(WorkCompletion.WITH_IMMEDIATE);
    }

    @Test
    @Conforms("CQ-4")
    void resizingKeepsWhatIsInTheQueue() throws InterruptedException {
        require(DeviceCapability.COMPLETION_QUEUE_RESIZE);
        CompletionQueue queue = b.keep(b.context.createCompletionQueue(8));
        Pair pair = notified(queue);
        for (int i = 0; i < 6; i++) {
            message(pair, SendFlags.NONE);
        }
        // The answer to a later READ tells that the receives before it have been reported.
        pair.a().postRead(1, a.region, 64, 8, b.region.address(), b.region.rkey(), SIGNALED);
        a.expect(SUCCESS);
        assertRefused(Reason.INVALID_ARGUMENT, () -> queue.resize(5));
        for (int entries : new int[] {100, 6, 7}) {
            queue.resize(entries);
            assertThat(queue.capacity()).isGreaterThanOrEqualTo(entries);
        }
        int max = b.context.queryDevice().maxCqe();
        assertRefused(Reason.INVALID_ARGUMENT, () -> queue.resize(0));
        assertRefused(Reason.INVALID_ARGUMENT, () -> queue.resize(max + 1));
        message(pair, SendFlags.NONE);
        for (int i = 0; i < 7; i++) {
            b.expect(queue, SUCCESS);
        }
    }

    @Test
    @Conforms("CQ-10")
    void timestampsGoForwardAndAreOfNow() throws InterruptedException {
        require(DeviceCapability.COMPLETION_TIMESTAMP);
        Pair pair = rc();
        long last = a.context.clockNanos();
        for (int i = 0; i < 20; i++) {
            write(pair, i, SIGNALED);
            long timestamp = a.expect(SUCCESS).timestamp();
            assertThat(timestamp).isBetween(last, a.context.clockNanos());
            last = timestamp;
        }
    }

    @Test
    @Conforms("CQ-11")
    void anOverrunIsAnEventAndReportedSuccessesStay() throws InterruptedException {
        CompletionQueue small = a.keep(a.context.createCompletionQueue(4));
        int sends = small.capacity() + 4;
        Pair pair =
                new Pair(a.queuePair(QueuePairOptions.rc(small).withQueueDepth(sends, 1)), b.queuePair(b.rcOptions()));
        pair.connect(usual());
        for (int i = 0; i < sends; i++) {
            write(pair, i, SIGNALED);
        }
        assertThat(a.context.awaitAsyncEvent(limit())).isEqualTo(new AsyncEvent.CompletionQueueError(small));
        eventually("its queue pair in ERR", () -> pair.a().state() == QueuePairState.ERR);
        for (int i = 0; i < small.capacity(); i++) {
            assertThat(a.expect(small, SUCCESS).wrId()).isEqualTo(i);
        }
    }
}
