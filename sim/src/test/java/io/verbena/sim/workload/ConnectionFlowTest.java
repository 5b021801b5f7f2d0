// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.sim.FabricCounters;
import io.verbena.sim.FaultPlan;
import io.verbena.sim.FaultWindow;
import io.verbena.sim.World;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Connections on a fabric that is far worse than any, and the checker of their events. */
class ConnectionFlowTest {
    private static final int SEEDS = 200;
    private static final int ATTEMPTS = 20;

    /** Up to nearly half of all frames are lost, others are doubled, late, or damaged, and one way is cut for long. */
    private static FaultPlan terrible(long seed) {
        Random random = new Random(seed);
        long start = random.nextInt(1_500) * 1_000_000L;
        return FaultPlan.builder()
                .loss(0.05 + 0.4 * random.nextDouble())
                .duplicate(0.2)
                .reorder(0.3, 300_000)
                .corrupt(0.05)
                .truncate(0.02)
                .window(new FaultWindow(
                        FaultWindow.Kind.PARTITION,
                        start,
                        start + 400_000_000,
                        random.nextBoolean() ? "a" : "b",
                        "*",
                        random.nextBoolean(),
                        0))
                .build();
    }

    @Test
    void everyAttemptEndsInTimeAndEveryConnectionOnBothSides() {
        long arrived = 0;
        long broken = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            Verdict verdict = new Simulation(seed, Workload.CM, terrible(seed), ATTEMPTS).run();
            assertThat(verdict.failure()).as("seed %s", seed).isNull();
            assertThat(verdict.counters().get(FabricCounters.Kind.LOST)).isPositive();
            arrived += verdict.arrived();
            broken += verdict.broken();
        }
        assertThat(arrived).isGreaterThan(SEEDS * (long) ATTEMPTS);
        assertThat(broken).as("flows with an attempt that failed").isPositive();
    }

    @Test
    void anAttemptThroughACutWayEndsAtItsDeadline() throws InterruptedException {
        try (World world = World.builder().seed(3).build();
                DeviceContext a = world.openDevice("10.0.0.1");
                DeviceContext b = world.openDevice("10.0.0.2");
                EventChannel channel = EventChannel.over(a)) {
            world.partition(a, b);
            ConnectionId id = channel.createId(PortSpace.TCP);
            id.resolveAddress(null, new java.net.InetSocketAddress("10.0.0.2", 1), Duration.ofSeconds(1));
            assertThat(channel.poll()).isInstanceOf(ConnectionEvent.AddressResolved.class);
            id.resolveRoute(Duration.ofSeconds(1));
            assertThat(channel.poll()).isInstanceOf(ConnectionEvent.RouteResolved.class);
            id.connect(ConnectionParameters.defaults().withTimeout(Duration.ofMillis(1234)), 5, 1);
            assertThat(channel.await(Duration.ofDays(1))).isInstanceOf(ConnectionEvent.Unreachable.class);
            assertThat(Duration.ofNanos(world.now())).isEqualTo(Duration.ofMillis(1234));
        }
    }

    @Test
    void eventsThatCannotFollowEachOtherAreCaught() {
        try (World world = World.builder().build();
                DeviceContext device = world.openDevice("10.0.0.1");
                EventChannel channel = EventChannel.over(device)) {
            ConnectionId id = channel.createId(PortSpace.TCP);
            ConnectionEvent established = new ConnectionEvent.Established(id, ConnectionParameters.defaults());
            ConnectionEvent unreachable = new ConnectionEvent.Unreachable(id);
            ConnectionEvent disconnected = new ConnectionEvent.Disconnected(id, "test");
            ConnectionEvent timewaitExit = new ConnectionEvent.TimewaitExit(id);
            for (List<ConnectionEvent> wrong : List.of(
                    List.of(timewaitExit),
                    List.of(established, established),
                    List.of(established, unreachable),
                    List.of(disconnected, established),
                    List.of(unreachable, disconnected),
                    List.of(established, disconnected, disconnected),
                    List.of(disconnected, timewaitExit, timewaitExit))) {
                ConnectionEnd end = new ConnectionEnd("end", id);
                wrong.subList(0, wrong.size() - 1).forEach(end::on);
                assertThatThrownBy(() -> end.on(wrong.getLast()))
                        .as("%s", wrong)
                        .isInstanceOf(Violation.class)
                        .hasMessageContaining("cannot come now");
            }
        }
    }
}
