// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** An ordinary verbs program on a fabric that loses the first two of its packets. */
class FirstMessageTest {
    @Test
    void aLostSendArrivesAfterTheTimeout() throws InterruptedException {
        // example
        FaultPlan faults = FaultPlan.builder()
                .script(ScriptedFault.parse("drop:1:RC_SEND_ONLY:a>b"))
                .script(ScriptedFault.parse("drop:1:ack:b>a"))
                .build();
        try (World world = World.builder().seed(7).faults(faults).build();
                DeviceContext a = world.openDevice("10.0.0.1");
                DeviceContext b = world.openDevice("10.0.0.2");
                ProtectionDomain domainA = a.allocateProtectionDomain();
                ProtectionDomain domainB = b.allocateProtectionDomain();
                CompletionQueue completionsA = a.createCompletionQueue(16);
                CompletionQueue completionsB = b.createCompletionQueue(16);
                Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(64, 8);
            memory.set(JAVA_LONG, 0, 4711);
            try (MemoryRegion source = domainA.register(memory.asSlice(0, 8), AccessFlag.LOCAL_WRITE);
                    MemoryRegion target = domainB.register(memory.asSlice(32, 8), AccessFlag.LOCAL_WRITE);
                    QueuePair one = domainA.createQueuePair(QueuePairOptions.rc(completionsA));
                    QueuePair other = domainB.createQueuePair(QueuePairOptions.rc(completionsB))) {
                one.connect(other.endpoint());
                other.connect(one.endpoint());
                other.postReceive(1, target, 0, 8);
                one.postSend(2, source, 0, 8, SendFlags.SIGNALED);
                WorkCompletion completion = new WorkCompletion();
                assertThat(completionsB.await(completion, Duration.ofSeconds(10)))
                        .isTrue();
                assertThat(completionsA.await(completion, Duration.ofSeconds(10)))
                        .isTrue();
                assertThat(completion.orThrow().wrId()).isEqualTo(2);
            }
            assertThat(memory.get(JAVA_LONG, 32)).isEqualTo(4711);
            assertThat(world.counters().get(FabricCounters.Kind.SCRIPTED)).isEqualTo(2);
            assertThat(Duration.ofNanos(world.now()))
                    .as("two timeouts of 67 ms or more passed, in virtual time")
                    .isBetween(Duration.ofMillis(134), Duration.ofSeconds(2));
        }
        // end
    }
}
