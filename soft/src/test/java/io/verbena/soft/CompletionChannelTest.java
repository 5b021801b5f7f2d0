// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Waiting for events: none is lost, none is invented, and every wait ends. */
class CompletionChannelTest {
    private static final Duration SHORT = Duration.ofMillis(50);

    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;
    private CompletionChannel channel;
    private CompletionQueue queue;
    private QueuePair receiver;
    private QueuePair sender;
    private final WorkCompletion completion = new WorkCompletion();

    @BeforeEach
    void open() {
        devices = new TwoDevices();
        a = devices.a;
        b = devices.b;
        channel = b.keep(b.context.createCompletionChannel());
        queue = b.keep(b.context.createCompletionQueue(512, channel));
        receiver = b.keep(b.domain.createQueuePair(b.options().withReceiveCompletionQueue(queue)));
        sender = a.keep(a.domain.createQueuePair(a.options()));
        TwoDevices.connect(sender, receiver, new QueuePairAttributes());
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private void message(int flags) throws InterruptedException {
        receiver.postReceive(1, b.region, 0, 8);
        sender.postSend(2, a.region, 0, 8, SendFlags.SIGNALED | flags);
        a.next().orThrow();
    }

    @Test
    void anUnarmedQueueMakesNoEvent() throws InterruptedException {
        message(SendFlags.NONE);
        assertThat(channel.await(SHORT)).isNull();
        assertThat(channel.poll()).isNull();
    }

    @Test
    void armingMakesOneEvent() throws InterruptedException {
        queue.requestNotify();
        message(SendFlags.NONE);
        message(SendFlags.NONE);
        assertThat(channel.await(TwoDevices.TIMEOUT)).isSameAs(queue);
        message(SendFlags.NONE);
        assertThat(channel.await(SHORT)).isNull();
    }

    @Test
    void armingWithCompletionsInTheQueueMakesTheEventAtOnce() throws InterruptedException {
        message(SendFlags.NONE);
        queue.requestNotify();
        assertThat(channel.poll()).isSameAs(queue);
        assertThat(queue.poll(completion)).isTrue();
        queue.requestNotify();
        assertThat(channel.poll()).isNull();
    }

    @Test
    void batchPollingWithCompletionsLeftDoesNotSleep() throws InterruptedException {
        for (int i = 0; i < 40; i++) {
            message(SendFlags.NONE);
        }
        int seen = 0;
        while (seen < 40) {
            queue.requestNotify();
            assertThat(channel.await(TwoDevices.TIMEOUT)).isSameAs(queue);
            for (int i = 0; i < 16 && queue.poll(completion); i++) {
                seen++;
            }
        }
    }

    @Test
    void solicitedOnlyLetsOthersPass() throws InterruptedException {
        queue.requestNotify(true);
        message(SendFlags.NONE);
        message(SendFlags.NONE);
        assertThat(channel.await(SHORT)).isNull();
        message(SendFlags.SOLICITED);
        assertThat(channel.await(TwoDevices.TIMEOUT)).isSameAs(queue);
        for (int i = 0; i < 3; i++) {
            assertThat(queue.poll(completion)).isTrue();
        }
    }

    @Test
    void solicitedOnlyFiresForErrors() throws InterruptedException {
        receiver.postReceive(1, b.region, 0, 8);
        queue.requestNotify(true);
        receiver.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        assertThat(channel.await(TwoDevices.TIMEOUT)).isSameAs(queue);
    }

    @Test
    void aNarrowerRequestDoesNotWeakenAWiderOne() throws InterruptedException {
        queue.requestNotify(false);
        queue.requestNotify(true);
        message(SendFlags.NONE);
        assertThat(channel.await(TwoDevices.TIMEOUT)).isSameAs(queue);
    }

    @Test
    void aWriteWithImmediateCanBeSolicited() throws InterruptedException {
        queue.requestNotify(true);
        receiver.postReceive(1, b.region, 0, 0);
        sender.postWriteWithImmediate(
                1,
                a.region.address(),
                8,
                a.region.lkey(),
                b.region.address(),
                b.region.rkey(),
                1,
                SendFlags.SIGNALED | SendFlags.SOLICITED);
        assertThat(channel.await(TwoDevices.TIMEOUT)).isSameAs(queue);
        a.next().orThrow();
    }

    @Test
    void fortyQueuesShareAChannel() throws InterruptedException {
        List<CompletionQueue> queues = new ArrayList<>();
        List<QueuePair> senders = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            CompletionQueue one = b.keep(b.context.createCompletionQueue(8, channel));
            QueuePair end = b.keep(b.domain.createQueuePair(QueuePairOptions.rc(one)));
            QueuePair start = a.keep(a.domain.createQueuePair(QueuePairOptions.rc(a.cq)));
            TwoDevices.connect(start, end, new QueuePairAttributes());
            end.postReceive(i, b.region, 0, 8);
            one.requestNotify();
            queues.add(one);
            senders.add(start);
        }
        for (QueuePair start : senders.reversed()) {
            start.postSend(1, a.region, 0, 8, SendFlags.NONE);
        }
        Set<CompletionQueue> fired = new HashSet<>();
        for (int i = 0; i < 40; i++) {
            CompletionQueue ready = channel.await(TwoDevices.TIMEOUT);
            assertThat(ready).isNotNull();
            assertThat(ready.poll(completion)).isTrue();
            assertThat(completion.orThrow().wrId()).isEqualTo(queues.indexOf(ready));
            fired.add(ready);
        }
        assertThat(fired).hasSize(40);
        assertThat(channel.poll()).isNull();
    }

    @Test
    void severalWaitersShareTheEvents() throws InterruptedException {
        AtomicInteger events = new AtomicInteger();
        List<Thread> waiters = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waiters.add(Thread.ofPlatform().start(() -> {
                try {
                    if (channel.await(Duration.ofSeconds(1)) != null) {
                        events.incrementAndGet();
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }));
        }
        Thread.sleep(30);
        queue.requestNotify();
        message(SendFlags.NONE);
        for (Thread waiter : waiters) {
            waiter.join();
        }
        assertThat(events).hasValue(1);
    }

    /**
     * The loop of {@link CompletionChannel}'s documentation against a peer that sends as fast as it is let: completions
     * fall before, between and after arming and polling. A lost wake-up shows as a wait that ends with its time.
     */
    @Test
    void noWakeUpIsLostInARaceOfArmingAndCompletions() throws InterruptedException {
        long budget = System.nanoTime() + Duration.ofSeconds(3).toNanos();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicInteger credits = new AtomicInteger(64);
        for (int i = 0; i < 128; i++) {
            receiver.postReceive(i, b.region, 0, 8);
        }
        AtomicInteger sent = new AtomicInteger();
        Thread sending = Thread.ofPlatform().start(() -> {
            WorkCompletion own = new WorkCompletion();
            while (System.nanoTime() < budget && failure.get() == null) {
                while (a.cq.poll(own)) {
                    own.orThrow();
                }
                if (credits.get() > 0) {
                    try {
                        sender.postSend(2, a.region, 0, 8, SendFlags.SIGNALED | SendFlags.INLINE);
                        credits.decrementAndGet();
                        sent.incrementAndGet();
                    } catch (RdmaException e) {
                        if (e.reason() != RdmaException.Reason.QUEUE_FULL) {
                            failure.set(e);
                        }
                    }
                }
            }
        });
        int received = 0;
        queue.requestNotify();
        while (sending.isAlive() || received < sent.get()) {
            CompletionQueue ready = nextEvent(sent, received);
            if (ready == null) {
                continue;
            }
            ready.requestNotify();
            while (ready.poll(completion)) {
                receiver.postReceive(completion.orThrow().wrId(), b.region, 0, 8);
                received++;
                credits.incrementAndGet();
            }
        }
        sending.join();
        assertThat(failure.get()).isNull();
        assertThat(received).isEqualTo(sent.get()).isGreaterThan(1000);
    }

    /** The next event, or null when there was nothing to tell for a while; fails when there is and no event comes. */
    private @Nullable CompletionQueue nextEvent(AtomicInteger posted, int received) throws InterruptedException {
        CompletionQueue ready = channel.await(SHORT);
        if (ready == null && received < posted.get()) {
            ready = channel.await(TwoDevices.TIMEOUT);
            assertThat(ready).as("a wake-up after %d completions", received).isNotNull();
        }
        return ready;
    }

    /** The same with completions that need no network: receives posted in ERR, flushed at once. */
    @Test
    void noWakeUpIsLostInARaceOfArmingAndFlushes() throws InterruptedException {
        int messages = 1_000_000;
        receiver.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        AtomicInteger posted = new AtomicInteger();
        AtomicInteger received = new AtomicInteger();
        long budget = System.nanoTime() + Duration.ofSeconds(3).toNanos();
        Thread posting = Thread.ofPlatform().start(() -> {
            while (posted.get() < messages && System.nanoTime() < budget) {
                if (posted.get() - received.get() < 100) {
                    receiver.postReceive(1, b.region, 0, 8);
                    posted.incrementAndGet();
                } else {
                    Thread.onSpinWait();
                }
            }
        });
        queue.requestNotify();
        while (posting.isAlive() || received.get() < posted.get()) {
            CompletionQueue ready = nextEvent(posted, received.get());
            if (ready == null) {
                continue;
            }
            ready.requestNotify();
            while (ready.poll(completion)) {
                received.incrementAndGet();
            }
        }
        posting.join();
        assertThat(received.get()).isEqualTo(posted.get()).isGreaterThan(1000);
    }

    @Test
    void aWaitEndsAtItsTime() throws InterruptedException {
        long start = System.nanoTime();
        assertThat(channel.await(SHORT)).isNull();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT.toNanos());
        assertThat(channel.await(Duration.ZERO)).isNull();
        assertThat(channel.await(Duration.ofSeconds(Long.MIN_VALUE))).isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anInterruptEndsAWait(boolean virtual) throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Runnable wait = () -> thrown.set(
                catchThrowableOfType(InterruptedException.class, () -> channel.await(Duration.ofSeconds(60))));
        Thread waiter =
                virtual ? Thread.ofVirtual().start(wait) : Thread.ofPlatform().start(wait);
        Thread.sleep(30);
        waiter.interrupt();
        assertThat(waiter.join(TwoDevices.TIMEOUT)).isTrue();
        assertThat(thrown.get()).isNotNull();
    }

    @Test
    void anInterruptBeforeAWaitEndsItToo() {
        Thread.currentThread().interrupt();
        assertThat(catchThrowableOfType(InterruptedException.class, () -> channel.await(TwoDevices.TIMEOUT)))
                .isNotNull();
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void virtualThreadsWaitWithoutHoldingCarriers() throws InterruptedException {
        AtomicInteger woken = new AtomicInteger();
        List<Thread> waiters = new ArrayList<>();
        List<QueuePair> ends = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            CompletionChannel own = b.keep(b.context.createCompletionChannel());
            CompletionQueue one = b.keep(b.context.createCompletionQueue(8, own));
            QueuePair end = b.keep(b.domain.createQueuePair(QueuePairOptions.rc(one)));
            end.modify(QueuePairStateTest.initialize());
            end.postReceive(1, b.region, 0, 8);
            one.requestNotify();
            waiters.add(Thread.ofVirtual().start(() -> {
                try {
                    CompletionQueue ready = own.await(TwoDevices.TIMEOUT);
                    if (ready != null && ready.equals(one) && one.poll(new WorkCompletion())) {
                        woken.incrementAndGet();
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }));
            if (i == 49) {
                Thread.sleep(50);
            }
            ends.add(end);
        }
        for (QueuePair end : ends) {
            end.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        }
        for (Thread waiter : waiters) {
            waiter.join();
        }
        assertThat(woken).hasValue(50);
    }

    @Test
    void armingAQueueWithoutAChannelIsMisuse() {
        assertThatIllegalStateException().isThrownBy(a.cq::requestNotify).withMessageContaining("channel");
    }

    @Test
    void closingAChannelEndsItsWaits() throws InterruptedException {
        CompletionChannel own = b.context.createCompletionChannel();
        AtomicReference<RdmaException> thrown = new AtomicReference<>();
        Thread waiter = Thread.ofPlatform()
                .start(() ->
                        thrown.set(catchThrowableOfType(RdmaException.class, () -> own.await(Duration.ofSeconds(60)))));
        Thread.sleep(50);
        own.close();
        assertThat(waiter.join(TwoDevices.TIMEOUT)).isTrue();
        assertThat(thrown.get().reason()).isEqualTo(RdmaException.Reason.CLOSED);
        assertThat(catchThrowableOfType(RdmaException.class, own::poll).reason())
                .isEqualTo(RdmaException.Reason.CLOSED);
    }
}
