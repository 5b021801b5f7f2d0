// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.DeviceCapability.MULTICAST;
import static io.verbena.verbs.DeviceCapability.UNRELIABLE_DATAGRAM;
import static io.verbena.verbs.WorkCompletionStatus.LOC_LEN_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttribute;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.RdmaException.Reason;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** UD, AH and MC: datagrams from a to b. */
class DatagramConformanceTest extends ConformanceSuite {
    private static final int QKEY = 0x11111111;
    private static final int GRH = GlobalRouteHeader.BYTES;
    private static final int AT = 4096;
    private static final int GROUP_QP = 0xffffff;

    private AddressHandle handle;
    private QueuePair from;
    private QueuePair to;

    @BeforeEach
    void activate() {
        require(UNRELIABLE_DATAGRAM);
        handle = a.handleTo(b);
        from = datagrams(a, QKEY);
        to = datagrams(b, QKEY);
    }

    private static QueuePair datagrams(Side side, int qkey) {
        QueuePair qp = side.queuePair(QueuePairOptions.ud(side.cq));
        qp.activate(qkey);
        return qp;
    }

    private void send(int length, QueuePair target, int qkey) throws InterruptedException {
        from.postSendTo(1, a.region.address(), length, a.region.lkey(), handle, target.qpNumber(), qkey, SIGNALED);
        assertThat(a.expect(SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.SEND);
    }

    @Test
    @Conforms({"QP-1", "QP-2"})
    void aDatagramQueuePairIsCreatedInResetAndNeedsAKey() {
        QueuePair qp = a.queuePair(QueuePairOptions.ud(a.cq));
        assertThat(qp.state()).isEqualTo(QueuePairState.RESET);
        QueuePairAttributes init =
                new QueuePairAttributes().state(QueuePairState.INIT).port(1).pkeyIndex(0);
        assertRefused(Reason.INVALID_ARGUMENT, () -> qp.modify(init));
        qp.modify(init.qkey(QKEY));
        assertThat(qp.state()).isEqualTo(QueuePairState.INIT);
    }

    @Test
    @Conforms("QP-4")
    void theKeyAndTheSequenceNumberReadBack() {
        QueuePairAttributes now = to.query();
        assertThat(now.mask()).contains(QueuePairAttribute.QKEY, QueuePairAttribute.SQ_PSN);
        assertThat(now.qkey()).isEqualTo(QKEY);
        assertThat(now.sqPsn()).isEqualTo(to.endpoint().psn());
        assertThat(now.state()).isEqualTo(QueuePairState.RTS);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 100, 1024})
    @Conforms("UD-1")
    void sendsArriveBehindFortyBytes(int size) throws InterruptedException {
        a.fill(0, size, 5);
        to.postReceive(7, b.region, AT, size + GRH);
        send(size, to, QKEY);
        WorkCompletion received = b.expect(SUCCESS);
        assertThat(received.wrId()).isEqualTo(7);
        assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECV);
        assertThat(received.byteLength()).isEqualTo(size + GRH);
        assertThat(received.hasImmediate()).isFalse();
        b.assertHolds(AT + GRH, size, 5);
        b.assertZero(AT + GRH + size, 64);
    }

    @Test
    @Conforms("UD-1")
    void immediateDataArrivesToo() throws InterruptedException {
        to.postReceive(7, b.region, AT, 200);
        from.post(from.sendRequest()
                .sendWithImmediate(0xfedcba98)
                .to(handle, to.qpNumber(), QKEY)
                .sge(a.region, 0, 10)
                .signaled());
        a.expect(SUCCESS);
        assertThat(b.expect(SUCCESS).immediate()).isEqualTo(0xfedcba98);
        assertThat(b.completion.byteLength()).isEqualTo(10 + GRH);
    }

    @Test
    @Conforms("UD-2")
    void anEmptySendIsFortyBytes() throws InterruptedException {
        to.postReceive(7, b.region, AT, GRH);
        from.post(from.sendRequest().send().to(handle, to.qpNumber(), QKEY).signaled());
        a.expect(SUCCESS);
        assertThat(b.expect(SUCCESS).byteLength()).isEqualTo(GRH);
    }

    @Test
    @Conforms("UD-3")
    void aWrongKeyIsDroppedSilently() throws InterruptedException {
        to.postReceive(1, b.region, AT, 200);
        send(10, to, QKEY + 1);
        send(20, to, QKEY);
        assertThat(b.expect(SUCCESS).byteLength()).isEqualTo(20 + GRH);
        b.assertNoCompletion();
    }

    @Test
    @Conforms("UD-3")
    void aBufferThatIsTooSmallHurtsNobodyElse() throws InterruptedException {
        QueuePair other = datagrams(b, QKEY);
        to.postReceive(1, b.region, AT, GRH + 10);
        other.postReceive(2, b.region, AT, GRH + 100);
        b.fill(AT + GRH + 10, 90, 3);
        send(100, to, QKEY);
        a.fill(0, 10, 4);
        send(10, other, QKEY);
        assertThat(b.cq.await(b.completion, limit())).isTrue();
        if (b.completion.status() == LOC_LEN_ERR) {
            assertThat(b.completion.wrId()).isEqualTo(1);
            b.expect(SUCCESS);
        }
        assertThat(b.completion.wrId()).isEqualTo(2);
        b.assertHolds(AT + GRH, 10, 4);
        b.assertHolds(AT + GRH + 10, 90, 3);
        b.assertNoCompletion();
    }

    @Test
    @Conforms("UD-4")
    void theCompletionAndTheHeaderMakeTheWayBack() throws InterruptedException {
        to.postReceive(1, b.region, AT, 200);
        from.postReceive(2, a.region, AT, 200);
        send(10, to, QKEY);
        WorkCompletion received = b.expect(SUCCESS);
        assertThat(received.flags() & WorkCompletion.WITH_GRH).isNotZero();
        assertThat(received.sourceQp()).isEqualTo(from.qpNumber());
        GlobalRouteHeader header = GlobalRouteHeader.read(b.memory, AT);
        assertThat(header.sourceGid()).isEqualTo(a.gid());
        assertThat(header.destinationGid()).isEqualTo(b.gid());
        AddressHandle back = b.keep(b.domain.createAddressHandle(header.wayBack()));
        b.fill(0, 30, 8);
        to.postSendTo(3, b.region.address(), 30, b.region.lkey(), back, received.sourceQp(), QKEY, SIGNALED);
        b.expect(SUCCESS);
        assertThat(a.expect(SUCCESS).wrId()).isEqualTo(2);
        a.assertHolds(AT + GRH, 30, 8);
    }

    @Test
    @Conforms("CQ-6")
    void datagramsMakeOneEventForEachArming() throws InterruptedException {
        CompletionChannel channel = b.keep(b.context.createCompletionChannel());
        CompletionQueue queue = b.keep(b.context.createCompletionQueue(8, channel));
        QueuePair target = b.queuePair(QueuePairOptions.ud(b.cq).withReceiveCompletionQueue(queue));
        target.activate(QKEY);
        for (int i = 0; i < 100; i++) {
            target.postReceive(i, b.region, AT, 100);
            queue.requestNotify();
            send(10, target, QKEY);
            assertThat(channel.await(limit())).isSameAs(queue);
            assertThat(channel.poll()).as("a second event").isNull();
            assertThat(b.expect(queue, SUCCESS).wrId()).isEqualTo(i);
        }
    }

    @Test
    @Conforms("QP-11")
    void aRequestWithTheHighBitSendsTheQueuePairsOwnKey() throws InterruptedException {
        to.postReceive(1, b.region, AT, 100);
        send(10, to, 0x80000000 | ~QKEY);
        b.expect(SUCCESS);
    }

    @Test
    @Conforms("QP-11")
    void aKeyWithTheHighBitIsSetOrRefusedAsPrivileged() throws InterruptedException {
        int privileged = 0x80010000;
        QueuePair one = a.queuePair(QueuePairOptions.ud(a.cq));
        QueuePair other = b.queuePair(QueuePairOptions.ud(b.cq));
        try {
            one.activate(privileged);
            other.activate(privileged);
        } catch (RdmaException e) {
            assertThat(e.reason()).isEqualTo(Reason.PERMISSION_DENIED);
            return;
        }
        other.postReceive(1, b.region, AT, 100);
        send(10, other, QKEY);
        one.postSendTo(2, a.region.address(), 20, a.region.lkey(), handle, other.qpNumber(), privileged, SIGNALED);
        a.expect(SUCCESS);
        assertThat(b.expect(SUCCESS).byteLength()).isEqualTo(20 + GRH);
    }

    @Test
    @Conforms({"AH-1", "PD-2"})
    void aHandleNeedsARouteAndItsDomainWaitsForIt() {
        ProtectionDomain domain = a.keep(a.context.allocateProtectionDomain());
        AddressVector vector = AddressVector.to(b.gid());
        AddressHandle made = domain.createAddressHandle(vector);
        assertThat(made.addressVector()).isEqualTo(vector);
        assertThat(made.protectionDomain()).isSameAs(domain);
        assertRefused(Reason.BUSY, domain::close);
        made.close();
        made.close();
        domain.close();
        assertThatIllegalArgumentException().isThrownBy(() -> AddressVector.to(Gid.ZERO));
        int beyond = a.context.queryPort(1).gidTableLength();
        AddressVector wrong = new AddressVector(b.gid(), beyond, 0, 64, 0, 0);
        assertRefused(Reason.INVALID_ARGUMENT, () -> a.domain.createAddressHandle(wrong));
    }

    @Test
    @Conforms("MC-3")
    void trafficReachesTheMembersOnceAndEndsWithTheMembership() throws InterruptedException, UnknownHostException {
        require(MULTICAST);
        ThreadLocalRandom random = ThreadLocalRandom.current();
        Gid group = Gid.of(InetAddress.getByAddress(
                new byte[] {(byte) 239, (byte) random.nextInt(256), (byte) random.nextInt(256), 1}));
        AddressHandle toGroup = a.keep(a.domain.createAddressHandle(AddressVector.to(group)));
        QueuePair second = datagrams(b, QKEY);
        QueuePair stranger = datagrams(b, QKEY);
        for (QueuePair qp : new QueuePair[] {to, second, stranger}) {
            qp.postReceive(1, b.region, AT, 100);
            qp.postReceive(2, b.region, AT, 100);
        }
        to.attachMulticast(group);
        to.attachMulticast(group);
        second.attachMulticast(group);
        sendToGroup(toGroup, 10);
        int first = b.expect(SUCCESS).qpNumber();
        assertThat(b.completion.byteLength()).isEqualTo(10 + GRH);
        assertThat(GlobalRouteHeader.read(b.memory, AT).destinationGid()).isEqualTo(group);
        assertThat(new int[] {first, b.expect(SUCCESS).qpNumber()})
                .containsExactlyInAnyOrder(to.qpNumber(), second.qpNumber());
        to.detachMulticast(group);
        assertRefused(Reason.INVALID_ARGUMENT, () -> to.detachMulticast(group));
        sendToGroup(toGroup, 20);
        assertThat(b.expect(SUCCESS).qpNumber()).isEqualTo(second.qpNumber());
        second.detachMulticast(group);
        sendToGroup(toGroup, 30);
        send(40, stranger, QKEY);
        assertThat(b.expect(SUCCESS).byteLength()).isEqualTo(40 + GRH);
        assertThat(b.cq.await(b.completion, Duration.ofMillis(10))).isFalse();
    }

    private void sendToGroup(AddressHandle group, int length) throws InterruptedException {
        from.postSendTo(1, a.region.address(), length, a.region.lkey(), group, GROUP_QP, QKEY, SIGNALED);
        a.expect(SUCCESS);
    }
}
