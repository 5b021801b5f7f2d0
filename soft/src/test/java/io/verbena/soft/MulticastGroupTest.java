// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.transport.ib.MulticastGroups;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import java.net.InetAddress;
import java.util.concurrent.ThreadLocalRandom;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Multicast among devices of one host. */
class MulticastGroupTest {
    private static final int QKEY = 0x11;
    private static final int GROUP_QP = 0xffffff;
    private static final int GRH = GlobalRouteHeader.BYTES;

    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;
    private Gid group;
    private AddressHandle toGroup;

    @BeforeEach
    void open() {
        devices = new TwoDevices();
        a = devices.a;
        b = devices.b;
        a.replaceQueuePair(QueuePairOptions.ud(a.cq)).activate(QKEY);
        b.replaceQueuePair(QueuePairOptions.ud(b.cq)).activate(QKEY);
        ThreadLocalRandom random = ThreadLocalRandom.current();
        group = Gid.of(InetAddress.ofLiteral("239." + random.nextInt(1, 255) + "." + random.nextInt(1, 255) + ".7"));
        toGroup = a.keep(a.domain.createAddressHandle(AddressVector.to(group)));
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private static RdmaException.Reason reason(ThrowingCallable call) {
        RdmaException e = catchThrowableOfType(RdmaException.class, call);
        assertThat(e).isNotNull();
        return e.reason();
    }

    private void sendToGroup(int value) throws InterruptedException {
        a.memory.set(JAVA_INT, 0, value);
        a.qp.postSendTo(1, a.region.address(), 4, a.region.lkey(), toGroup, GROUP_QP, QKEY, SendFlags.NONE);
    }

    private static void expect(TwoDevices.Side side, long id, long at, int value) throws InterruptedException {
        assertThat(side.next().orThrow().wrId()).isEqualTo(id);
        assertThat(side.memory.get(JAVA_INT, at + GRH)).isEqualTo(value);
    }

    private static MulticastGroups groups(TwoDevices.Side side) {
        return ((SoftContext) side.context).agent().port().multicastGroups();
    }

    @Test
    void allThatAreAttachedHearTheGroupTheSenderToo() throws InterruptedException {
        QueuePair second = b.keep(b.domain.createQueuePair(QueuePairOptions.ud(b.cq)));
        second.activate(QKEY);
        a.qp.attachMulticast(group);
        b.qp.attachMulticast(group);
        b.qp.attachMulticast(group);
        second.attachMulticast(group);
        for (int round = 0; round < 5; round++) {
            a.qp.postReceive(10, a.region, 1024, 64);
            b.qp.postReceive(20, b.region, 1024, 64);
            second.postReceive(30, b.region, 2048, 64);
            sendToGroup(round);
            expect(a, 10, 1024, round);
            assertThat(a.completion.sourceQp()).isEqualTo(a.qp.qpNumber());
            expect(b, 20, 1024, round);
            expect(b, 30, 2048, round);
            assertThat(b.completion.sourceQp()).isEqualTo(a.qp.qpNumber());
            GlobalRouteHeader header = GlobalRouteHeader.read(b.memory, 2048);
            assertThat(header.destinationGid()).isEqualTo(group);
            assertThat(header.sourceGid()).isEqualTo(a.qp.endpoint().gid());
        }
    }

    @Test
    void whoIsDetachedHearsNothingMore() throws InterruptedException {
        a.qp.attachMulticast(group);
        b.qp.attachMulticast(group);
        b.qp.detachMulticast(group);
        assertThat(reason(() -> b.qp.detachMulticast(group))).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        a.qp.postReceive(1, a.region, 1024, 64);
        b.qp.postReceive(2, b.region, 1024, 64);
        sendToGroup(5);
        expect(a, 1, 1024, 5);
        try (AddressHandle toB =
                a.domain.createAddressHandle(AddressVector.to(b.qp.endpoint().gid()))) {
            a.memory.set(JAVA_INT, 0, 6);
            a.qp.postSendTo(1, a.region.address(), 4, a.region.lkey(), toB, b.qp.qpNumber(), QKEY, SendFlags.NONE);
            expect(b, 2, 1024, 6);
        }
        b.qp.attachMulticast(group);
        a.qp.postReceive(3, a.region, 1024, 64);
        b.qp.postReceive(4, b.region, 1024, 64);
        sendToGroup(7);
        expect(b, 4, 1024, 7);
        expect(a, 3, 1024, 7);
    }

    @Test
    void aClosedQueuePairLeavesItsGroups() throws InterruptedException {
        QueuePair first = b.domain.createQueuePair(QueuePairOptions.ud(b.cq));
        first.activate(QKEY);
        first.attachMulticast(group);
        Gid other = Gid.of(InetAddress.ofLiteral("239.255.1.2"));
        first.attachMulticast(other);
        b.qp.attachMulticast(other);
        assertThat(groups(b).groups()).isEqualTo(2);
        first.close();
        assertThat(groups(b).groups()).isEqualTo(1);
        // The device itself left the group: else it could not join again.
        b.qp.attachMulticast(group);
        b.qp.postReceive(2, b.region, 0, 64);
        sendToGroup(9);
        expect(b, 2, 0, 9);
    }

    @Test
    void whatIsNoGroupOfTheDeviceOrNoDatagramQueuePairIsRefused() {
        assertThat(reason(() -> a.qp.attachMulticast(b.qp.endpoint().gid())))
                .isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        assertThat(reason(() -> a.qp.attachMulticast(Gid.ofHex("ff020000000000000000000000000005"))))
                .isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        QueuePair rc = a.keep(a.domain.createQueuePair(a.options()));
        assertThat(reason(() -> rc.attachMulticast(group))).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        a.qp.close();
        assertThat(reason(() -> a.qp.attachMulticast(group))).isEqualTo(RdmaException.Reason.CLOSED);
    }

    @Test
    void theNumberOfQueuePairsInAGroupHasALimit() {
        QueuePairOptions small = QueuePairOptions.ud(a.cq).withQueueDepth(1, 1).withMaxSge(1, 1);
        for (int i = 0; i < MulticastGroups.QUEUE_PAIRS_MAX; i++) {
            a.keep(a.domain.createQueuePair(small)).attachMulticast(group);
        }
        RdmaException e = catchThrowableOfType(RdmaException.class, () -> a.qp.attachMulticast(group));
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.RESOURCE_EXHAUSTED);
        assertThat(e).hasMessageContaining("maxMulticastQps").hasMessageContaining("1024");
    }
}
