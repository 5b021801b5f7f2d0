// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a program can do with a world, on two connected queue pairs. */
class WorldTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final World world = World.builder().seed(1).build();
    private final DeviceContext a = world.openDevice("10.0.0.1");
    private final DeviceContext b = world.openDevice("10.0.0.2");
    private final ProtectionDomain domainA = a.allocateProtectionDomain();
    private final ProtectionDomain domainB = b.allocateProtectionDomain();
    private final CompletionQueue queueA = a.createCompletionQueue(16);
    private final CompletionQueue queueB = b.createCompletionQueue(16);
    private final QueuePair one = domainA.createQueuePair(QueuePairOptions.rc(queueA));
    private final QueuePair other = domainB.createQueuePair(QueuePairOptions.rc(queueB));
    private final MemoryRegion source = domainA.register(Arena.ofAuto().allocate(64, 8), AccessFlag.LOCAL_WRITE);
    private final MemoryRegion target =
            domainB.register(Arena.ofAuto().allocate(64, 8), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    private final WorkCompletion completion = new WorkCompletion();

    WorldTest() {
        one.connect(other.endpoint());
        other.connect(one.endpoint());
    }

    private void write() {
        one.postWrite(1, source, 0, 64, target.address(), target.rkey(), SendFlags.SIGNALED);
    }

    private WorkCompletionStatus outcome() throws InterruptedException {
        assertThat(queueA.await(completion, LONG)).isTrue();
        return completion.status();
    }

    @Test
    void noTimePassesWhileAProgramComputes() {
        write();
        assertThat(world.now()).isZero();
        assertThat(queueA.poll(completion)).isFalse();
        assertThat(world.now()).isPositive();
    }

    @Test
    void pollingIsEnoughToGetThere() {
        write();
        int polls = 0;
        while (!queueA.poll(completion)) {
            assertThat(++polls).isLessThan(100);
        }
        assertThat(completion.isSuccess()).isTrue();
        assertThat(world.now()).as("there and back").isEqualTo(10_000);
    }

    @Test
    void aWaitInVainEndsInVirtualTime() throws InterruptedException {
        assertThat(queueA.await(completion, Duration.ofDays(1))).isFalse();
        long day = Duration.ofDays(1).toNanos();
        assertThat(world.now()).isBetween(day, day + 1_000);
    }

    @Test
    void aPartitionThatStaysEndsTheConnection() throws InterruptedException {
        world.partition(a, b);
        write();
        assertThat(outcome()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThat(world.counters().get(FabricCounters.Kind.PARTITIONED)).isGreaterThan(7);
    }

    @Test
    void aPartitionThatHealsInTimeCostsTimeOnly() throws InterruptedException {
        world.cut(b, a);
        world.at(100_000_000, world::heal);
        write();
        assertThat(outcome()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(world.now()).isGreaterThan(100_000_000);
    }

    @Test
    void aLinkThatGoesDownIsAnEvent() throws InterruptedException {
        world.linkDown(b);
        assertThat(b.queryPort(1).state()).isEqualTo(PortAttributes.State.DOWN);
        assertThat(b.pollAsyncEvent()).isInstanceOf(AsyncEvent.PortDown.class);
        write();
        world.run(Duration.ofMillis(50));
        assertThat(world.counters().get(FabricCounters.Kind.LINK_DOWN)).isPositive();
        world.linkUp(b);
        assertThat(outcome()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void aLinkIsDownUntilTheLastOfTheWindowsEnds() {
        FaultPlan faults = FaultPlan.builder()
                .window(FaultWindow.parse(FaultWindow.Kind.LINK_DOWN, "1ms-3ms:a"))
                .window(FaultWindow.parse(FaultWindow.Kind.LINK_DOWN, "2ms-5ms"))
                .build();
        World faulty = World.builder().faults(faults).build();
        DeviceContext device = faulty.openDevice("10.0.0.1");
        boolean[] up = new boolean[7];
        for (int ms = 0; ms < up.length; ms++) {
            up[ms] = device.queryPort(1).state() == PortAttributes.State.ACTIVE;
            faulty.run(Duration.ofMillis(1));
        }
        assertThat(up).containsExactly(true, false, false, false, false, true, true);
    }

    @Test
    void timePassesUntilSomethingIsSo() {
        world.at(5_000, () -> one.postSend(1, source, 0, 8, SendFlags.SIGNALED));
        assertThat(world.until(() -> world.now() >= 5_000, LONG)).isTrue();
        assertThat(world.counters().get(FabricCounters.Kind.SENT)).isPositive();
        assertThat(world.until(() -> false, Duration.ofMillis(1))).isFalse();
        assertThat(world.now()).isEqualTo(1_005_000);
    }

    @Test
    void whatGoesOnForEverAtOneTimeIsFound() {
        world.at(1_000, this::again);
        assertThatThrownBy(() -> world.run(Duration.ofMillis(1)))
                .hasMessageStartingWith("time stands still at 1000 ns");
    }

    private void again() {
        world.at(world.now(), this::again);
    }

    @Test
    void aDeviceThatStoppedOnACallOfTheProgramIsFound() {
        world.intercept(frame -> {
            throw new IllegalArgumentException("a planted defect");
        });
        write();
        assertThatThrownBy(world::step)
                .hasMessageContaining("host a: the device failed")
                .hasMessageContaining("planted");
    }

    @Test
    void aCaptureThatCannotBeWrittenDoesNotStopADevice() throws InterruptedException {
        World captured = World.builder().capture(new FullDisk()).build();
        DeviceContext device = captured.openDevice("10.0.0.1");
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion zeros = domain.register(Arena.ofAuto().allocate(64, 8), AccessFlag.LOCAL_WRITE);
        CompletionQueue completions = device.createCompletionQueue(128);
        QueuePair sender = domain.createQueuePair(QueuePairOptions.rc(completions));
        sender.connect(other.endpoint());
        for (int i = 0; i < 100; i++) {
            sender.postSend(i, zeros, 0, 64, SendFlags.SIGNALED);
        }
        assertThat(completions.await(completion, LONG)).isTrue();
        assertThat(completion.status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
        assertThatThrownBy(captured::close).hasMessageContaining("the disk is full");
    }

    private static final class FullDisk extends OutputStream {
        private int room = 1_000;

        @Override
        public void write(int b) throws IOException {
            if (--room < 0) {
                throw new IOException("the disk is full");
            }
        }
    }

    @Test
    void addressesAreTakenOnce() {
        assertThatThrownBy(() -> world.openDevice("10.0.0.1")).hasMessage("10.0.0.1 is taken");
        assertThatThrownBy(() -> world.openDevice("here")).isInstanceOf(IllegalArgumentException.class);
    }
}
