// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.PortAttributes;
import java.net.SocketException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The state of a port is that of its network interface. */
class PortWatchTest {
    private static final Duration NEVER = Duration.ofDays(1);

    private SoftContext one;
    private SoftContext two;
    private volatile boolean up = true;
    private volatile boolean unknown;
    private final AtomicInteger looks = new AtomicInteger();

    @BeforeEach
    void open() {
        one = (SoftContext) TwoDevices.openFree();
        two = (SoftContext) TwoDevices.openFree();
        // The tests say what their interface is like.
        PortWatch.SHARED.remove(one);
        PortWatch.SHARED.remove(two);
    }

    @AfterEach
    void close() {
        one.close();
        two.close();
    }

    private boolean check(String interfaceName) throws SocketException {
        assertThat(interfaceName).isEqualTo("lo");
        looks.incrementAndGet();
        if (unknown) {
            throw new SocketException("no answer");
        }
        return up;
    }

    private static PortAttributes.State state(SoftContext device) {
        return device.queryPort(1).state();
    }

    @Test
    void everyChangeIsOneEventAndTheStateFollows() {
        PortWatch watch = new PortWatch(this::check, NEVER);
        watch.add(one);
        watch.add(two);
        watch.look();
        assertThat(one.pollAsyncEvent()).isNull();
        assertThat(looks).as("devices of one interface are one look").hasValue(1);
        up = false;
        watch.look();
        watch.look();
        for (SoftContext device : new SoftContext[] {one, two}) {
            assertThat(state(device)).isEqualTo(PortAttributes.State.DOWN);
            assertThat(device.pollAsyncEvent()).isEqualTo(new AsyncEvent.PortDown(device, 1));
            assertThat(device.pollAsyncEvent()).isNull();
        }
        up = true;
        watch.remove(two);
        watch.look();
        assertThat(state(one)).isEqualTo(PortAttributes.State.ACTIVE);
        assertThat(one.pollAsyncEvent()).isEqualTo(new AsyncEvent.PortActive(one, 1));
        assertThat(state(two)).isEqualTo(PortAttributes.State.DOWN);
        watch.remove(one);
    }

    @Test
    void aLookThatFailsChangesNothing() {
        PortWatch watch = new PortWatch(this::check, NEVER);
        watch.add(one);
        unknown = true;
        watch.look();
        assertThat(looks).hasValue(1);
        assertThat(state(one)).isEqualTo(PortAttributes.State.ACTIVE);
        assertThat(one.pollAsyncEvent()).isNull();
        watch.remove(one);
    }

    @Test
    void oneThreadLooksWhileDevicesAreOpenAndNoLonger() throws InterruptedException {
        PortWatch watch = new PortWatch(this::check, Duration.ofMillis(1));
        assertThat(watch.thread()).isNull();
        watch.add(one);
        Thread thread = watch.thread();
        watch.add(two);
        assertThat(watch.thread()).isSameAs(thread);
        up = false;
        assertThat(one.awaitAsyncEvent(TwoDevices.TIMEOUT)).isEqualTo(new AsyncEvent.PortDown(one, 1));
        assertThat(two.awaitAsyncEvent(TwoDevices.TIMEOUT)).isEqualTo(new AsyncEvent.PortDown(two, 1));
        watch.remove(one);
        watch.remove(two);
        thread.join(TwoDevices.TIMEOUT);
        assertThat(thread.isAlive()).isFalse();
        assertThat(watch.thread()).isNull();
        watch.add(one);
        assertThat(watch.thread()).isNotNull().isNotSameAs(thread);
        watch.remove(one);
    }

    @Test
    void openDevicesAreWatchedTillTheyAreClosed() {
        SoftContext device = (SoftContext) TwoDevices.openFree();
        try (device) {
            assertThat(PortWatch.SHARED.thread()).isNotNull();
            device.portState(false);
            PortWatch.SHARED.look();
            assertThat(state(device)).isEqualTo(PortAttributes.State.ACTIVE);
        }
        device.portState(false);
        PortWatch.SHARED.look();
        assertThat(device.pollAsyncEvent()).isEqualTo(new AsyncEvent.PortDown(device, 1));
        assertThat(device.pollAsyncEvent()).isEqualTo(new AsyncEvent.PortActive(device, 1));
        assertThat(device.pollAsyncEvent()).isEqualTo(new AsyncEvent.PortDown(device, 1));
        assertThat(device.pollAsyncEvent()).isNull();
    }
}
