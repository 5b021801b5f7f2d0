// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.transport.ib.AddressHandles;
import io.verbena.transport.ib.MulticastGroups;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryRegionChange;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SharedReceiveQueueOptions;
import io.verbena.verbs.XrcDomain;
import java.lang.foreign.MemorySegment;
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
        expectLimit(
                context.memoryWindows(),
                "maxMw",
                limits.maxMw(),
                () -> a.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1));
        expectLimit(context.memoryRegions(), "maxMr", limits.maxMr(), () -> a.domain.register(a.memory));
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

    private static void expectInvalid(String name, long limit, ThrowingCallable call) {
        RdmaException e = catchThrowableOfType(RdmaException.class, call);
        assertThat(e).as(name).isNotNull();
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        assertThat(e).hasMessageContaining(name).hasMessageContaining("" + limit);
    }

    private void expectInvalidQueuePair(String name, int limit, QueuePairOptions options) {
        expectInvalid(name, limit, () -> a.domain.createQueuePair(options));
    }

    @Test
    void sizesOfQueuesAreLimitedByName() {
        DeviceAttributes limits = context.queryDevice();
        QueuePairOptions rc = QueuePairOptions.rc(a.cq);
        int wr = limits.maxQpWr();
        expectInvalidQueuePair("maxQpWr", wr, rc.withQueueDepth(wr + 1, 1));
        expectInvalidQueuePair("maxQpWr", wr, rc.withQueueDepth(1, wr + 1));
        expectInvalidQueuePair("maxSge", limits.maxSge(), rc.withMaxSge(limits.maxSge() + 1, 1));
        expectInvalidQueuePair("maxSge", limits.maxSge(), rc.withMaxSge(1, limits.maxSge() + 1));
        int inline = limits.maxInlineData();
        expectInvalidQueuePair("maxInlineData", inline, rc.withMaxInlineData(inline + 1));
        int cqe = limits.maxCqe();
        expectInvalid("maxCqe", cqe, () -> context.createCompletionQueue(cqe + 1));
        expectInvalid("maxCqe", cqe, () -> a.cq.resize(cqe + 1));
        int srqWr = limits.maxSrqWr();
        expectInvalid(
                "maxSrqWr", srqWr, () -> a.domain.createSharedReceiveQueue(SharedReceiveQueueOptions.of(srqWr + 1)));
        int srqSge = limits.maxSrqSge();
        expectInvalid(
                "maxSrqSge",
                srqSge,
                () -> a.domain.createSharedReceiveQueue(
                        SharedReceiveQueueOptions.of(1).withMaxSge(srqSge + 1)));
        // What is at the limit is possible.
        a.keep(a.domain.createQueuePair(
                rc.withQueueDepth(wr, 1).withMaxSge(1, limits.maxSge()).withMaxInlineData(inline)));
    }

    @Test
    void readsAndAtomicsOfAQueuePairAreLimitedByName() {
        DeviceAttributes limits = context.queryDevice();
        a.replaceQueuePair(a.options());
        int asResponder = limits.maxQpRdAtomic();
        int asRequester = limits.maxQpInitRdAtomic();
        expectInvalid("maxQpRdAtomic", asResponder, () -> connect(new QueuePairAttributes().maxDestRdAtomic(129)));
        a.replaceQueuePair(a.options());
        expectInvalid("maxQpInitRdAtomic", asRequester, () -> connect(new QueuePairAttributes().maxRdAtomic(129)));
        a.replaceQueuePair(a.options());
        connect(new QueuePairAttributes().maxDestRdAtomic(asResponder).maxRdAtomic(asRequester));
    }

    private void connect(QueuePairAttributes overrides) {
        a.qp.connect(devices.b.qp.endpoint(), overrides);
    }

    /** The address space is larger than the largest region, so a segment of nothing but addresses does. */
    @Test
    @SuppressWarnings("restricted")
    void theSizeOfARegionIsLimitedByName() {
        long limit = context.queryDevice().maxMrSize();
        MemorySegment tooLarge = MemorySegment.ofAddress(4096).reinterpret(limit + 1);
        expectInvalid("maxMrSize", limit, () -> a.domain.register(tooLarge));
        expectInvalid("maxMrSize", limit, () -> a.region.reregister(MemoryRegionChange.to(tooLarge)));
    }

    @Test
    void multicastGroupsAndTheirMembersAreLimitedByName() {
        DeviceAttributes limits = context.queryDevice();
        MulticastGroups groups = context.agent().port().multicastGroups();
        SoftQueuePair qp = (SoftQueuePair) a.keep(a.domain.createQueuePair(QueuePairOptions.ud(a.cq)));
        Gid group = new Gid(0, 0xffffL << 32 | 0xef010101L);
        for (int i = 0; i < limits.maxMulticastGroups(); i++) {
            groups.attach(new MulticastGroups.Group(-1, i), qp.engine());
        }
        expectExhausted(() -> qp.attachMulticast(group), "maxMulticastGroups", limits.maxMulticastGroups());
        for (int i = 0; i < limits.maxMulticastGroups(); i++) {
            groups.detach(new MulticastGroups.Group(-1, i), qp.engine());
        }
        MulticastGroups.Group crowded = new MulticastGroups.Group(group.high(), group.low());
        for (int i = 0; i < limits.maxMulticastQps(); i++) {
            SoftQueuePair member = (SoftQueuePair)
                    a.keep(a.domain.createQueuePair(QueuePairOptions.ud(a.cq).withQueueDepth(1, 1)));
            groups.attach(crowded, member.engine());
        }
        expectExhausted(() -> qp.attachMulticast(group), "maxMulticastQps", limits.maxMulticastQps());
    }
}
