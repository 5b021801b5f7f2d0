// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.WorkCompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static io.verbena.verbs.WorkCompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException.Reason;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What users of RDMA software reported of completion queues (C36 to C44), beyond the lines of the catalogue. */
class CompletionReportsTest extends ConformanceSuite {
    private void write(Pair pair, long id, int rkey, int flags) {
        pair.a().postWrite(id, a.region, 0, 8, b.region.address(), rkey, flags);
    }

    @Test
    @DisplayName("C37: a program that polls batches of 16 while 40 came does not sleep with some left")
    void aWaitWithCompletionsLeftEndsAtOnce() throws InterruptedException {
        CompletionChannel channel = a.keep(a.context.createCompletionChannel());
        CompletionQueue queue = a.keep(a.context.createCompletionQueue(64, channel));
        Pair pair =
                connected(QueuePairOptions.rc(queue).withQueueDepth(64, 1), b.rcOptions(), new QueuePairAttributes());
        queue.requestNotify();
        for (int i = 0; i < 40; i++) {
            write(pair, i, b.region.rkey(), SIGNALED);
        }
        WorkCompletion completion = new WorkCompletion();
        int seen = 0;
        while (seen < 40) {
            assertThat(channel.await(limit())).as("woken after %d", seen).isSameAs(queue);
            for (int batch = 0; batch < 16 && queue.poll(completion); batch++) {
                assertThat(completion.wrId()).isEqualTo(seen++);
            }
            queue.requestNotify();
        }
    }

    @Test
    @DisplayName("C40: on an error, what is undefined cannot be read")
    void aFailedCompletionTellsOnlyWhatIsDefined() throws InterruptedException {
        Pair pair = rc();
        write(pair, 5, 0, 0);
        pair.a().postSend(6, a.region, 0, 8, 0);
        for (int id = 5; id <= 6; id++) {
            WorkCompletion failed = a.expect(id == 5 ? REM_ACCESS_ERR : WR_FLUSH_ERR);
            assertThat(failed.wrId()).isEqualTo(id);
            assertThat(failed.qpNumber()).isEqualTo(pair.a().qpNumber());
            assertThat(failed.isSuccess()).isFalse();
            for (ThrowingCallable reading : new ThrowingCallable[] {
                failed::opcode, failed::byteLength, failed::flags, failed::immediate, failed::sourceQp
            }) {
                assertThatIllegalStateException().isThrownBy(reading);
            }
        }
    }

    @Test
    @DisplayName("C42: depth 16: the 17th unsignalled send is refused, and what was polled before frees nothing")
    void slotsOfUnsignalledWorkStayTaken() throws InterruptedException {
        Pair pair = rc(options -> options.withQueueDepth(16, 16));
        int depth = pair.a().capabilities().maxSendWr();
        for (int i = 0; i < depth; i++) {
            write(pair, i, b.region.rkey(), i == 3 ? SIGNALED : SendFlags.NONE);
        }
        assertThat(a.expect(SUCCESS).wrId()).isEqualTo(3);
        for (int i = 0; i < 4; i++) {
            write(pair, depth + i, b.region.rkey(), SendFlags.NONE);
        }
        assertRefused(Reason.QUEUE_FULL, () -> write(pair, 99, b.region.rkey(), SIGNALED));
        a.assertNoCompletion();
    }

    @Test
    @DisplayName("C43: 100 receives posted before a disconnect come back once each, in order")
    void aHundredReceivesComeBackOnceAndInOrder() throws InterruptedException {
        Pair pair = rc(options -> options.withQueueDepth(8, 100));
        for (int i = 0; i < 100; i++) {
            pair.b().postReceive(i, b.region, 0, 8);
        }
        pair.b().modify(new QueuePairAttributes().state(QueuePairState.ERR));
        for (int i = 0; i < 100; i++) {
            assertThat(b.expect(WR_FLUSH_ERR).wrId()).isEqualTo(i);
        }
        b.assertNoCompletion();
    }
}
