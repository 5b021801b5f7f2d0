// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.transport.ib.AddressHandles;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SharedReceiveQueueOptions;
import io.verbena.verbs.XrcDomain;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every limit of a device is kept, and its message names it as the device's attributes do. */
class LimitsTest {
    private TwoDevices devices;
    private TwoDevices.Side a;
    private SoftContext context;

    @BeforeEach
    void open() {
        devices = new TwoDevices();
        a = devices.a;
        context = (SoftContext) a.context;
    }

    @AfterEach
    void close() {
        devices.close();
    }

    /** Uses up a quota, expects the call to be refused by name, and gives everything back. */
    private void expectLimit(Quota quota, String name, int limit, ThrowingCallable call) {
        int[] taken = {0};
        context.agent().run(() -> {
            while (catchThrowableOfType(RdmaException.class, quota::take) == null) {
                taken[0]++;
            }
        });
        assertThat(taken[0]).isBetween(1, limit);
        for (int attempt = 0; attempt < 2; attempt++) {
            expectExhausted(call, name, limit);
        }
        context.agent().run(() -> {
            for (int i = 0; i < taken[0]; i++) {
                quota.giveBack();
            }
        });
    }

    private static void expectExhausted(ThrowingCallable call, String name, int limit) {
        RdmaException e = catchThrowableOfType(RdmaException.class, call);
        assertThat(e).as(name).isNotNull();
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.RESOURCE_EXHAUSTED);
        assertThat(e).hasMessageContaining(name).hasMessageContaining("" + limit);
    }

    @Test
    void numbersOfObjectsAreLimitedByName() {
        DeviceAttributes limits = context.queryDevice();
        expectLimit(context.protectionDomains(), "maxPd", limits.maxPd(), context::allocateProtectionDomain);
        expectLimit(context.completionQueues(), "maxCq", limits.maxCq(), () -> context.createCompletionQueue(1));
        expectLimit(
                context.queuePairs(),
                "maxQp",
                limits.maxQp(),
                () -> a.domain.createQueuePair(QueuePairOptions.ud(a.cq)));
        expectLimit(
                context.sharedReceiveQueues(),
                "maxSrq",
                limits.maxSrq(),
                () -> a.domain.createSharedReceiveQueue(SharedReceiveQueueOptions.of(1)));
        expectLimit(context.xrcDomains(), "maxXrcDomains", limits.maxXrcDomains(), context::openXrcDomain);
        // Nothing is left behind by the calls that were refused: all can be made, and the device closes.
        a.keep(context.openXrcDomain());
        a.keep(context.createCompletionQueue(1));
        a.keep(a.domain.createSharedReceiveQueue(SharedReceiveQueueOptions.of(1)));
    }

    @Test
    void closedObjectsCountNoMore() {
        int limit = context.queryDevice().maxXrcDomains();
        List<XrcDomain> domains = new ArrayList<>();
        for (int i = 0; i < limit; i++) {
            domains.add(context.openXrcDomain());
        }
        expectExhausted(context::openXrcDomain, "maxXrcDomains", limit);
        domains.removeFirst().close();
        domains.add(context.openXrcDomain());
        expectExhausted(context::openXrcDomain, "maxXrcDomains", limit);
        domains.forEach(XrcDomain::close);
    }

    @Test
    void addressHandlesAreLimited() {
        AddressVector vector = AddressVector.to(devices.b.qp.endpoint().gid());
        List<AddressHandle> handles = new ArrayList<>();
        assertThat(context.queryDevice().maxAh()).isEqualTo(AddressHandles.MAX);
        for (int i = 0; i < AddressHandles.MAX; i++) {
            handles.add(a.domain.createAddressHandle(vector));
        }
        expectExhausted(() -> a.domain.createAddressHandle(vector), "maxAh", AddressHandles.MAX);
        handles.removeLast().close();
        handles.add(a.domain.createAddressHandle(vector));
        RdmaException busy = catchThrowableOfType(RdmaException.class, a.domain::close);
        assertThat(busy.reason()).isEqualTo(RdmaException.Reason.BUSY);
        assertThat(busy).hasMessageContaining("address handles");
        handles.forEach(AddressHandle::close);
    }

    /** A call that is refused half-way gives back what it had taken. */
    @Test
    void aRefusedQueueOnAClosedChannelTakesNothing() {
        CompletionChannel channel = context.createCompletionChannel();
        channel.close();
        Quota quota = context.completionQueues();
        for (int i = 0; i < 3; i++) {
            RdmaException e =
                    catchThrowableOfType(RdmaException.class, () -> context.createCompletionQueue(1, channel));
            assertThat(e.reason()).isEqualTo(RdmaException.Reason.CLOSED);
        }
        int[] free = {0};
        context.agent().run(() -> {
            while (catchThrowableOfType(RdmaException.class, quota::take) == null) {
                free[0]++;
            }
            for (int i = 0; i < free[0]; i++) {
                quota.giveBack();
            }
        });
        assertThat(free[0])
                .as("one completion queue is open")
                .isEqualTo(context.queryDevice().maxCq() - 1);
        CompletionQueue last = context.createCompletionQueue(1);
        last.close();
    }
}
