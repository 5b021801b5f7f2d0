// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.verbs.DeviceCapability;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletionStatus;
import java.time.Duration;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;

/** What all tests of the suite begin with: two devices of the provider, a domain, a queue and memory on each. */
@OnEveryProvider
abstract class ConformanceSuite {
    static final int SIGNALED = SendFlags.SIGNALED;

    @Parameter
    ProviderUnderTest provider;

    ProviderUnderTest.Devices devices;
    Side a;
    Side b;

    @BeforeEach
    void openBothSides() {
        devices = provider.open();
        a = new Side(devices, devices.a());
        b = new Side(devices, devices.b());
    }

    @AfterEach
    void closeBothSides() {
        a.close();
        b.close();
        devices.close();
    }

    /** Two connected queue pairs, one on each side. */
    record Pair(QueuePair a, QueuePair b) {
        /** Moves both from any state through RESET to RTS. */
        void reconnect() {
            for (QueuePair qp : new QueuePair[] {a, b}) {
                qp.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            }
            connect(new QueuePairAttributes());
        }

        void connect(QueuePairAttributes changes) {
            QueuePairAttributes attributes = usual().putAll(changes);
            a.connect(b.endpoint(), attributes);
            b.connect(a.endpoint(), attributes);
        }
    }

    /** The values that the suite connects with. */
    static QueuePairAttributes usual() {
        return new QueuePairAttributes()
                .pathMtu(Mtu.MTU_1024)
                .maxRdAtomic(1)
                .maxDestRdAtomic(1)
                .minRnrTimer(12)
                .retryCount(7)
                .rnrRetry(7)
                .timeout(14);
    }

    Pair rc() {
        return rc(options -> options);
    }

    Pair rc(UnaryOperator<QueuePairOptions> options) {
        return rc(options, new QueuePairAttributes());
    }

    Pair rc(UnaryOperator<QueuePairOptions> options, QueuePairAttributes changes) {
        return connected(options.apply(a.rcOptions()), options.apply(b.rcOptions()), changes);
    }

    Pair connected(QueuePairOptions ofA, QueuePairOptions ofB, QueuePairAttributes changes) {
        Pair pair = new Pair(a.queuePair(ofA), b.queuePair(ofB));
        pair.connect(changes);
        return pair;
    }

    /** Skips the test, visibly, where the devices do not have something. */
    void require(DeviceCapability capability) {
        String name = capability.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        assumeTrue(
                a.context.queryDevice().can(capability)
                        && b.context.queryDevice().can(capability),
                name);
    }

    /** A signalled WRITE from a's first bytes to b's passes, so that the connection still works. */
    void assertCarriesTraffic(Pair pair) throws InterruptedException {
        a.fill(0, 100, 77);
        b.fill(0, 100, 78);
        pair.a.postWrite(4711, a.region, 0, 100, b.region.address(), b.region.rkey(), SIGNALED);
        assertThat(a.expect(WorkCompletionStatus.SUCCESS).wrId()).isEqualTo(4711);
        b.assertHolds(0, 100, 77);
    }

    static void assertRefused(RdmaException.Reason reason, ThrowingCallable call) {
        assertThat(refusal(call).reason()).isEqualTo(reason);
    }

    static RdmaException refusal(ThrowingCallable call) {
        return org.assertj.core.api.Assertions.catchThrowableOfType(RdmaException.class, call);
    }

    /** Lets the devices work until the condition holds, for the usual limit by their clock. */
    void eventually(String what, BooleanSupplier condition) {
        long deadline = a.context.clockNanos() + Side.LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(a.context.clockNanos() - deadline).as("%s in time", what).isNegative();
            assertThat(a.cq.poll(a.completion))
                    .as("a completion nobody waits for")
                    .isFalse();
            assertThat(b.cq.poll(b.completion))
                    .as("a completion nobody waits for")
                    .isFalse();
            Thread.yield();
        }
    }

    static Duration limit() {
        return Side.LIMIT;
    }
}
