// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.ReceiveRequest;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.SharedReceiveQueueOptions;
import io.verbena.verbs.WorkCompletionStatus;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Receives that two reliable connections share. */
class SharedReceiveQueueTest {
    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;
    private SharedReceiveQueue shared;
    private QueuePair secondOfA;
    private QueuePair secondOfB;

    @BeforeEach
    void open() {
        devices = new TwoDevices();
        a = devices.a;
        b = devices.b;
        shared = b.keep(b.domain.createSharedReceiveQueue(SharedReceiveQueueOptions.of(10)));
        b.qp.close();
        b.qp = b.keep(b.domain.createQueuePair(sharing()));
        a.replaceQueuePair(a.options());
        devices.connect();
        secondOfA = a.keep(a.domain.createQueuePair(a.options()));
        secondOfB = b.keep(b.domain.createQueuePair(sharing()));
        TwoDevices.connect(secondOfA, secondOfB, new QueuePairAttributes());
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private QueuePairOptions sharing() {
        return QueuePairOptions.rc(b.cq).withSharedReceiveQueue(shared);
    }

    private void post(int from, int count) {
        for (int i = from; i < from + count; i++) {
            shared.postReceive(i, b.region, i * 64L, 64);
        }
    }

    private static RdmaException refused(ThrowingCallable call) {
        RdmaException e = catchThrowableOfType(RdmaException.class, call);
        assertThat(e).isNotNull();
        return e;
    }

    /** SRQ-1. */
    @Test
    void eachMessageTakesOneReceiveAndNamesItsQueuePair() throws InterruptedException {
        post(0, 6);
        for (int i = 0; i < 6; i++) {
            QueuePair from = i % 2 == 0 ? a.qp : secondOfA;
            QueuePair to = i % 2 == 0 ? b.qp : secondOfB;
            from.postSend(100 + i, a.region, 0, i, SendFlags.SIGNALED);
            a.next().orThrow();
            assertThat(b.next().orThrow().wrId()).isEqualTo(i);
            assertThat(b.completion.byteLength()).isEqualTo(i);
            assertThat(b.completion.qpNumber()).isEqualTo(to.qpNumber());
        }
        assertThat(b.qp.sharedReceiveQueue()).isSameAs(shared);
        assertThat(a.qp.sharedReceiveQueue()).isNull();
    }

    @Test
    void senderWaitsForALateReceive() throws InterruptedException {
        a.qp.postSend(1, a.region, 0, 8, SendFlags.SIGNALED);
        secondOfA.postSend(2, a.region, 0, 8, SendFlags.SIGNALED);
        post(0, 2);
        b.next().orThrow();
        b.next().orThrow();
        a.next().orThrow();
        a.next().orThrow();
    }

    @Test
    void itsOwnReceiveQueueIsNone() {
        RdmaException e = refused(() -> b.qp.postReceive(1, b.region, 0, 64));
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        assertThat(e).hasMessageContaining("post to the shared receive queue");
        assertThat(refused(() -> b.qp.post(new ReceiveRequest()))).hasMessageContaining("shared receive queue");
        assertThat(b.qp.capabilities().maxReceiveWr()).isZero();
        assertThat(b.qp.capabilities().maxReceiveSge()).isZero();
    }

    /** What is asked for a receive queue that is not there does not matter. */
    @Test
    void absurdSizesOfTheOwnReceiveQueueDoNotMatter() {
        QueuePairOptions absurd = sharing().withQueueDepth(4, Integer.MAX_VALUE).withMaxSge(1, 100_000);
        QueuePair made = b.keep(b.domain.createQueuePair(absurd));
        assertThat(made.capabilities().maxReceiveWr()).isZero();
    }

    /** SRQ-3. */
    @Test
    void theLimitIsOneEvent() throws InterruptedException {
        post(0, 10);
        shared.armLimit(7);
        assertThat(shared.limit()).isEqualTo(7);
        for (int i = 0; i < 5; i++) {
            a.qp.postSend(i, a.region, 0, 8, SendFlags.SIGNALED);
            a.next().orThrow();
        }
        assertThat(b.context.awaitAsyncEvent(TwoDevices.TIMEOUT))
                .isEqualTo(new AsyncEvent.SharedReceiveQueueLimit(shared));
        assertThat(b.context.pollAsyncEvent()).isNull();
        assertThat(shared.limit()).isZero();
        shared.armLimit(6);
        assertThat(b.context.pollAsyncEvent()).isEqualTo(new AsyncEvent.SharedReceiveQueueLimit(shared));
        assertThat(refused(() -> shared.armLimit(11))).hasMessageContaining("0 to 10");
        assertThat(refused(() -> shared.armLimit(-1))).hasMessageContaining("-1");
    }

    /** SRQ-2. */
    @Test
    void resizingKeepsWhatIsPosted() throws InterruptedException {
        post(0, 10);
        assertThat(refused(() -> post(10, 1)).reason()).isEqualTo(RdmaException.Reason.QUEUE_FULL);
        shared.resize(12);
        assertThat(shared.maxWr()).isEqualTo(12);
        post(10, 2);
        assertThat(refused(() -> post(12, 1)).reason()).isEqualTo(RdmaException.Reason.QUEUE_FULL);
        assertThat(refused(() -> shared.resize(11)))
                .hasMessageContaining("12 receives")
                .hasMessageContaining("11");
        for (int i = 0; i < 9; i++) {
            secondOfA.postSend(i, a.region, 0, 8, SendFlags.SIGNALED);
            a.next().orThrow();
            assertThat(b.next().orThrow().wrId()).isEqualTo(i);
        }
        shared.armLimit(3);
        assertThat(refused(() -> shared.resize(0))).hasMessageContaining("maxSrqWr");
        assertThat(refused(() -> shared.resize(2))).hasMessageContaining("3 receives");
        shared.resize(3);
        assertThat(shared.limit()).isEqualTo(3);
        for (int i = 9; i < 12; i++) {
            a.qp.postSend(i, a.region, 0, 8, SendFlags.SIGNALED);
            a.next().orThrow();
            assertThat(b.next().orThrow().wrId()).isEqualTo(i);
        }
    }

    @Test
    void anArmedLimitKeepsTheQueueFromShrinkingBelowIt() {
        post(0, 6);
        shared.armLimit(6);
        shared.resize(6);
        shared.armLimit(0);
        shared.resize(7);
        shared.armLimit(3);
        assertThat(shared.limit()).isEqualTo(3);
    }

    /** Posting, taking and resizing at the same time lose and double nothing. */
    @Test
    void resizesUnderTraffic() throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        Thread resizer = Thread.ofPlatform().start(() -> {
            for (int i = 0; !done.get(); i++) {
                shared.resize(10 + i % 50);
            }
        });
        int messages = 2000;
        for (int i = 0; i < messages; i++) {
            shared.postReceive(i, b.region, 0, 64);
            (i % 2 == 0 ? a.qp : secondOfA).postSend(i, a.region, 0, 8, SendFlags.SIGNALED);
            assertThat(b.next().orThrow().wrId()).isEqualTo(i);
            a.next().orThrow();
        }
        done.set(true);
        resizer.join();
        assertThat(shared.maxWr()).isBetween(10, 59);
    }

    /** SRQ-4: the event says that the queue pair can be destroyed without losing a receive. */
    @Test
    void aBrokenQueuePairTellsThatItTookItsLastReceive() throws InterruptedException {
        post(0, 3);
        b.qp.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        assertThat(b.context.awaitAsyncEvent(TwoDevices.TIMEOUT)).isEqualTo(new AsyncEvent.LastWqeReached(b.qp));
        assertThat(b.context.pollAsyncEvent()).isNull();
        assertThat(b.cq.poll(b.completion))
                .as("the receives stay in the shared queue")
                .isFalse();
        b.qp.close();
        for (int i = 0; i < 3; i++) {
            secondOfA.postSend(i, a.region, 0, 8, SendFlags.SIGNALED);
            assertThat(b.next().orThrow().wrId()).isEqualTo(i);
        }
    }

    @Test
    void aReceiveThatIsTooShortBreaksOneQueuePair() throws InterruptedException {
        shared.postReceive(1, b.region, 0, 4);
        shared.postReceive(2, b.region, 0, 64);
        a.qp.postSend(1, a.region, 0, 8, SendFlags.SIGNALED);
        assertThat(b.next().status()).isEqualTo(WorkCompletionStatus.LOC_LEN_ERR);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        secondOfA.postSend(2, a.region, 0, 8, SendFlags.SIGNALED);
        assertThat(b.next().orThrow().wrId()).isEqualTo(2);
    }

    @Test
    void parentsAreBusyWhileItIsUsed() {
        RdmaException e = refused(shared::close);
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.BUSY);
        assertThat(e).hasMessageContaining("2 queue pairs");
        assertThat(refused(b.domain::close).reason()).isEqualTo(RdmaException.Reason.BUSY);
        secondOfB.close();
        b.qp.close();
        shared.close();
        shared.close();
        assertThat(refused(() -> post(0, 1)).reason()).isEqualTo(RdmaException.Reason.CLOSED);
        assertThat(refused(() -> shared.resize(4)).reason()).isEqualTo(RdmaException.Reason.CLOSED);
        assertThat(refused(() -> shared.armLimit(1)).reason()).isEqualTo(RdmaException.Reason.CLOSED);
        assertThat(refused(shared::limit).reason()).isEqualTo(RdmaException.Reason.CLOSED);
        assertThat(refused(() -> b.domain.createQueuePair(sharing())).reason()).isEqualTo(RdmaException.Reason.CLOSED);
    }

    @Test
    void misuseIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> a.domain.createQueuePair(QueuePairOptions.rc(a.cq).withSharedReceiveQueue(shared)))
                .withMessageContaining("another device");
        assertThatIllegalStateException().isThrownBy(shared::number).withMessageContaining("XRC");
        assertThat(refused(() -> b.domain.createSharedReceiveQueue(SharedReceiveQueueOptions.of(0))))
                .hasMessageContaining("maxSrqWr");
        assertThat(refused(() -> b.domain.createSharedReceiveQueue(
                        SharedReceiveQueueOptions.of(1).withMaxSge(33))))
                .hasMessageContaining("maxSrqSge");
        ReceiveRequest five = new ReceiveRequest();
        for (int i = 0; i < 5; i++) {
            five.sge(b.region, 0, 8);
        }
        assertThat(refused(() -> shared.post(five))).hasMessageContaining("created for 4");
    }
}
