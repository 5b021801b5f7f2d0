// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Closing: idempotent, refused while others depend on it, safe from any thread in any state. */
class LifecycleTest {
    private static RdmaException fails(RdmaException.Reason reason, ThrowingCallable call) {
        RdmaException e = catchThrowableOfType(RdmaException.class, call);
        assertThat(e).isNotNull();
        assertThat(e.reason()).as(e.toString()).isEqualTo(reason);
        return e;
    }

    @Test
    void everythingClosesTwice() {
        TwoDevices devices = new TwoDevices();
        CompletionChannel channel = devices.a.context.createCompletionChannel();
        CompletionQueue queue = devices.a.context.createCompletionQueue(1, channel);
        for (int i = 0; i < 2; i++) {
            queue.close();
            channel.close();
            devices.close();
        }
        assertThat(devices.a.context.isOpen()).isFalse();
    }

    @Test
    @SuppressWarnings("try")
    void tryWithResourcesClosesInTheRightOrder() {
        DeviceContext kept;
        try (DeviceContext context = TwoDevices.openFree();
                ProtectionDomain domain = context.allocateProtectionDomain();
                MemoryRegion region = domain.register(Arena.ofAuto().allocate(64), TwoDevices.ALL);
                CompletionChannel channel = context.createCompletionChannel();
                CompletionQueue queue = context.createCompletionQueue(16, channel);
                QueuePair qp = domain.createQueuePair(QueuePairOptions.rc(queue))) {
            kept = context;
            assertThat(qp.state()).isEqualTo(QueuePairState.RESET);
        }
        assertThat(kept.isOpen()).isFalse();
    }

    @Test
    void anAddressIsFreeAgainAfterItsDeviceClosed() {
        DeviceContext context = TwoDevices.openFree();
        String name = context.device().name();
        for (int i = 0; i < 5; i++) {
            context.close();
            context = Devices.open(name);
        }
        context.close();
    }

    @Test
    void parentsAreBusyWhileChildrenLiveAndSayHowMany() {
        DeviceContext context = TwoDevices.openFree();
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue one = context.createCompletionQueue(16, channel);
        CompletionQueue two = context.createCompletionQueue(16, channel);
        MemoryRegion region = domain.register(Arena.ofAuto().allocate(64), TwoDevices.ALL);
        QueuePair qp = domain.createQueuePair(QueuePairOptions.rc(one));
        QueuePair split = domain.createQueuePair(QueuePairOptions.rc(one).withReceiveCompletionQueue(two));

        assertThat(fails(RdmaException.Reason.BUSY, context::close)).hasMessageContaining("4");
        assertThat(fails(RdmaException.Reason.BUSY, domain::close)).hasMessageContaining("3");
        assertThat(fails(RdmaException.Reason.BUSY, channel::close)).hasMessageContaining("2");
        assertThat(fails(RdmaException.Reason.BUSY, one::close)).hasMessageContaining("2");
        assertThat(fails(RdmaException.Reason.BUSY, two::close)).hasMessageContaining("1");
        // What refused to close works on.
        assertThat(context.isOpen()).isTrue();
        assertThat(one.poll(new WorkCompletion())).isFalse();

        split.close();
        two.close();
        assertThat(fails(RdmaException.Reason.BUSY, one::close)).hasMessageContaining("1");
        qp.close();
        one.close();
        assertThat(fails(RdmaException.Reason.BUSY, domain::close)).hasMessageContaining("1");
        region.close();
        domain.close();
        assertThat(fails(RdmaException.Reason.BUSY, context::close)).hasMessageContaining("1");
        channel.close();
        context.close();
    }

    @Test
    void aQueuePairThatCouldNotBeMadeKeepsNothingBusy() {
        DeviceContext context = TwoDevices.openFree();
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue open = context.createCompletionQueue(16);
        CompletionQueue closed = context.createCompletionQueue(16);
        closed.close();
        fails(
                RdmaException.Reason.CLOSED,
                () -> domain.createQueuePair(QueuePairOptions.rc(open).withReceiveCompletionQueue(closed)));
        open.close();
        domain.close();
        context.close();
    }

    @Test
    void useAfterCloseSaysClosed() {
        TwoDevices devices = new TwoDevices();
        TwoDevices.Side a = devices.a;
        CompletionChannel channel = a.context.createCompletionChannel();
        CompletionQueue queue = a.context.createCompletionQueue(1, channel);
        queue.close();
        channel.close();
        long remote = devices.b.region.address();
        devices.close();
        WorkCompletion completion = new WorkCompletion();
        fails(RdmaException.Reason.CLOSED, () -> a.qp.postWrite(1, a.region, 0, 8, remote, 0, SendFlags.NONE));
        fails(RdmaException.Reason.CLOSED, () -> a.qp.sendRequest().send().post());
        fails(RdmaException.Reason.CLOSED, () -> a.qp.postReceive(1, a.region, 0, 8));
        fails(RdmaException.Reason.CLOSED, () -> a.qp.modify(new QueuePairAttributes().state(QueuePairState.ERR)));
        fails(RdmaException.Reason.CLOSED, a.qp::query);
        fails(RdmaException.Reason.CLOSED, a.qp::endpoint);
        fails(RdmaException.Reason.CLOSED, () -> a.cq.poll(completion));
        fails(RdmaException.Reason.CLOSED, () -> a.cq.await(completion, Duration.ofSeconds(60)));
        fails(RdmaException.Reason.CLOSED, queue::requestNotify);
        fails(RdmaException.Reason.CLOSED, channel::poll);
        fails(RdmaException.Reason.CLOSED, () -> channel.await(Duration.ofSeconds(60)));
        fails(RdmaException.Reason.CLOSED, () -> a.domain.register(a.memory, TwoDevices.ALL));
        fails(RdmaException.Reason.CLOSED, () -> a.domain.createQueuePair(a.options()));
        fails(RdmaException.Reason.CLOSED, a.context::allocateProtectionDomain);
        fails(RdmaException.Reason.CLOSED, a.context::createCompletionChannel);
        fails(RdmaException.Reason.CLOSED, () -> a.context.createCompletionQueue(1));
        fails(RdmaException.Reason.CLOSED, a.context::queryDevice);
        fails(RdmaException.Reason.CLOSED, () -> a.context.queryPort(1));
        fails(RdmaException.Reason.CLOSED, () -> a.context.queryGid(1, 0));
        fails(RdmaException.Reason.CLOSED, () -> a.context.gidTable(1));
        assertThat(a.context.pollAsyncEvent()).isNull();
    }

    enum State {
        RESET,
        INIT,
        RTR,
        RTS_SENDING,
        RTS_RECEIVING,
        RTS_RNR_WAIT,
        ERR
    }

    @ParameterizedTest
    @EnumSource
    void aQueuePairClosesInAnyStateFromAnyThread(State state) throws InterruptedException {
        for (int round = 0; round < 10; round++) {
            try (TwoDevices devices = new TwoDevices()) {
                TwoDevices.Side a = devices.a;
                TwoDevices.Side b = devices.b;
                QueuePair closing = prepare(devices, state);
                Thread closer = Thread.ofPlatform().start(closing::close);
                assertThat(closer.join(TwoDevices.TIMEOUT)).isTrue();
                fails(RdmaException.Reason.CLOSED, () -> closing.postReceive(1, a.region, 0, 8));
                // Both devices carry traffic with new queue pairs.
                try (QueuePair one = a.domain.createQueuePair(a.options());
                        QueuePair other = b.domain.createQueuePair(b.options())) {
                    TwoDevices.connect(one, other, new QueuePairAttributes());
                    one.postWrite(999, a.region, 0, 4096, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
                    assertThat(a.next().orThrow().wrId()).isEqualTo(999);
                    assertThat(a.completion.qpNumber()).isEqualTo(one.qpNumber());
                }
            }
        }
    }

    private static QueuePair prepare(TwoDevices devices, State state) throws InterruptedException {
        TwoDevices.Side a = devices.a;
        TwoDevices.Side b = devices.b;
        switch (state) {
            case RESET -> a.replaceQueuePair(a.options());
            case INIT, RTR -> {
                a.replaceQueuePair(a.options()).modify(QueuePairStateTest.initialize());
                a.qp.postReceive(1, a.region, 0, 8);
                if (state == State.RTR) {
                    a.qp.modify(QueuePairStateTest.readyToReceive(b.qp.endpoint()));
                }
            }
            case RTS_SENDING, RTS_RECEIVING -> {
                for (int i = 0; i < 20; i++) {
                    a.qp.postWrite(i, a.region, 0, 1 << 20, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
                    a.qp.postRead(i, a.region, 0, 1 << 20, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
                }
                if (state == State.RTS_RECEIVING) {
                    a.next().orThrow();
                    // What the other side still has under way ends when it is closed too; it must not hinder anybody.
                    return closingBoth(devices);
                }
            }
            case RTS_RNR_WAIT -> {
                a.qp.postSend(1, a.region, 0, 8, SendFlags.SIGNALED);
                Thread.sleep(5);
            }
            case ERR -> {
                a.qp.postReceive(1, a.region, 0, 8);
                a.qp.modify(new QueuePairAttributes().state(QueuePairState.ERR));
            }
        }
        return a.qp;
    }

    private static QueuePair closingBoth(TwoDevices devices) {
        QueuePair target = devices.b.qp;
        devices.a.qp.close();
        return target;
    }

    @Test
    void threadsThatPostAndPollSeeAQueuePairClose() throws InterruptedException {
        try (TwoDevices devices = new TwoDevices()) {
            TwoDevices.Side a = devices.a;
            TwoDevices.Side b = devices.b;
            AtomicReference<Throwable> end = new AtomicReference<>();
            Thread poster = Thread.ofPlatform().start(() -> {
                try {
                    while (true) {
                        try {
                            a.qp.postWrite(
                                    1, a.region, 0, 5000, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
                        } catch (RdmaException e) {
                            if (e.reason() != RdmaException.Reason.QUEUE_FULL) {
                                throw e;
                            }
                            a.cq.poll(a.completion);
                        }
                    }
                } catch (RuntimeException e) {
                    end.set(e);
                }
            });
            Thread.sleep(50);
            a.qp.close();
            assertThat(poster.join(TwoDevices.TIMEOUT)).isTrue();
            assertThat(end.get()).isInstanceOf(RdmaException.class);
            assertThat(((RdmaException) end.get()).reason())
                    .isIn(RdmaException.Reason.CLOSED, RdmaException.Reason.INVALID_STATE);
            assertThat(a.cq.poll(a.completion)).isFalse();
        }
    }

    @Test
    void closingAQueueEndsItsWaits() throws InterruptedException {
        try (DeviceContext context = TwoDevices.openFree()) {
            CompletionQueue queue = context.createCompletionQueue(16);
            AtomicReference<RdmaException> thrown = new AtomicReference<>();
            Thread waiter = Thread.ofPlatform()
                    .start(() -> thrown.set(catchThrowableOfType(
                            RdmaException.class, () -> queue.await(new WorkCompletion(), Duration.ofSeconds(60)))));
            Thread.sleep(50);
            queue.close();
            assertThat(waiter.join(TwoDevices.TIMEOUT)).isTrue();
            assertThat(thrown.get().reason()).isEqualTo(RdmaException.Reason.CLOSED);
        }
    }

    @Test
    void closingADeviceEndsAWaitForItsEvents() throws InterruptedException {
        DeviceContext context = TwoDevices.openFree();
        AtomicReference<Object> result = new AtomicReference<>("still waiting");
        Thread waiter = Thread.ofPlatform().start(() -> {
            try {
                result.set(context.awaitAsyncEvent(Duration.ofSeconds(60)));
            } catch (InterruptedException e) {
                result.set(e);
            }
        });
        Thread.sleep(50);
        context.close();
        assertThat(waiter.join(TwoDevices.TIMEOUT)).isTrue();
        assertThat(result.get()).isNull();
        assertThat(Thread.getAllStackTraces().keySet().stream()
                        .map(Thread::getName)
                        .filter(name ->
                                name.equals("verbena-" + context.device().name())))
                .isEmpty();
    }

    @Test
    void anInterruptedThreadCanClose() {
        TwoDevices devices = new TwoDevices();
        Thread.currentThread().interrupt();
        devices.close();
        assertThat(Thread.interrupted()).as("the interrupt is still there").isTrue();
        assertThat(devices.a.context.isOpen()).isFalse();
    }

    @Test
    void manyThreadsCloseTheSameThings() throws InterruptedException {
        for (int round = 0; round < 20; round++) {
            TwoDevices devices = new TwoDevices();
            Thread[] closers = new Thread[4];
            for (int i = 0; i < closers.length; i++) {
                closers[i] = Thread.ofPlatform().start(() -> {
                    devices.a.qp.close();
                    devices.a.region.close();
                    devices.a.cq.close();
                    devices.a.domain.close();
                    devices.a.context.close();
                });
            }
            for (Thread closer : closers) {
                closer.join();
            }
            assertThat(devices.a.context.isOpen()).isFalse();
            devices.close();
        }
    }
}
