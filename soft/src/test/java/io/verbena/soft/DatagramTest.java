// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** UD between two devices. */
class DatagramTest {
    private static final int QKEY = 0x1234_5678;
    private static final int GRH = GlobalRouteHeader.BYTES;

    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;
    private AddressHandle toB;

    @BeforeEach
    void open() {
        devices = new TwoDevices();
        a = devices.a;
        b = devices.b;
        a.replaceQueuePair(QueuePairOptions.ud(a.cq)).activate(QKEY);
        b.replaceQueuePair(QueuePairOptions.ud(b.cq)).activate(QKEY);
        toB = a.keep(
                a.domain.createAddressHandle(AddressVector.to(b.qp.endpoint().gid())));
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private void send(long id, int length, int qpNumber, int qkey) {
        a.qp.postSendTo(id, a.region.address(), length, a.region.lkey(), toB, qpNumber, qkey, SendFlags.SIGNALED);
    }

    private static RdmaException refused(ThrowingCallable call) {
        RdmaException e = catchThrowableOfType(RdmaException.class, call);
        assertThat(e).isNotNull();
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        return e;
    }

    /** UD-4: whoever gets a datagram knows how to answer it. */
    @Test
    void anAnswerFindsItsWayByCompletionAndHeader() throws InterruptedException {
        a.memory.set(JAVA_INT, 0, 41);
        b.qp.postReceive(1, b.region, 0, GRH + 4);
        send(2, 4, b.qp.qpNumber(), QKEY);
        a.next().orThrow();
        WorkCompletion got = b.next().orThrow();
        assertThat(got.byteLength()).isEqualTo(GRH + 4);
        assertThat(got.flags()).isEqualTo(WorkCompletion.WITH_GRH);
        assertThat(got.sourceQp()).isEqualTo(a.qp.qpNumber());
        assertThat(got.qpNumber()).isEqualTo(b.qp.qpNumber());
        GlobalRouteHeader header = GlobalRouteHeader.read(b.memory, 0);
        assertThat(header.sourceGid()).isEqualTo(a.qp.endpoint().gid());
        assertThat(header.destinationGid()).isEqualTo(b.qp.endpoint().gid());

        try (AddressHandle back = b.domain.createAddressHandle(header.wayBack())) {
            assertThat(back.addressVector().destinationGid())
                    .isEqualTo(a.qp.endpoint().gid());
            b.memory.set(JAVA_INT, 512, b.memory.get(JAVA_INT, GRH) + 1);
            a.qp.postReceive(3, a.region, 1024, GRH + 4);
            b.qp.post(b.qp.sendRequest()
                    .sendWithImmediate(0xcafe)
                    .to(back, got.sourceQp(), QKEY)
                    .sge(b.region, 512, 4)
                    .id(4)
                    .signaled());
            assertThat(a.next().orThrow().immediate()).isEqualTo(0xcafe);
            assertThat(a.completion.hasImmediate()).isTrue();
            assertThat(a.memory.get(JAVA_INT, 1024 + GRH)).isEqualTo(42);
            b.next().orThrow();
        }
    }

    @Test
    void oneQueuePairSendsToMany() throws InterruptedException {
        for (int i = 0; i < 20; i++) {
            QueuePair one = b.keep(b.domain.createQueuePair(
                    QueuePairOptions.ud(b.cq).withQueueDepth(1, 1).withMaxSge(1, 1)));
            one.activate(i);
            one.postReceive(i, b.region, i * 64L, 64);
            a.memory.set(JAVA_INT, 0, 1000 + i);
            send(i, 4, one.qpNumber(), i);
            a.next().orThrow();
            assertThat(b.next().orThrow().wrId()).isEqualTo(i);
            assertThat(b.completion.qpNumber()).isEqualTo(one.qpNumber());
            assertThat(b.memory.get(JAVA_INT, i * 64L + GRH)).isEqualTo(1000 + i);
        }
    }

    /** UD-2, UD-3. */
    @Test
    void wrongKeysAndShortReceivesLoseTheDatagramAndNothingElse() throws InterruptedException {
        b.qp.postReceive(1, b.region, 0, GRH + 4);
        send(1, 4, b.qp.qpNumber(), QKEY + 1);
        send(2, 5, b.qp.qpNumber(), QKEY);
        send(3, 0, b.qp.qpNumber(), QKEY);
        for (int i = 1; i <= 3; i++) {
            assertThat(a.next().orThrow().wrId()).isEqualTo(i);
        }
        assertThat(b.next().orThrow().byteLength()).isEqualTo(GRH);
        assertThat(b.context.counters())
                .containsEntry("drop.wrong_qkey", 1L)
                .containsEntry("drop.receive_too_short", 1L);
    }

    /** A Q_Key with its highest bit stands for that of the sending queue pair (10.2.5). */
    @Test
    void thePrivilegedKeyIsTheQueuePairsOwn() throws InterruptedException {
        b.qp.postReceive(1, b.region, 0, 64);
        send(2, 4, b.qp.qpNumber(), 0x8000_0000);
        assertThat(b.next().orThrow().wrId()).isEqualTo(1);
    }

    @Test
    void aDatagramIsAtMostAsLongAsThePortsMtu() throws InterruptedException {
        int max = a.context.queryPort(1).activeMtu().bytes();
        b.qp.postReceive(1, b.region, 0, GRH + max);
        send(2, max, b.qp.qpNumber(), QKEY);
        assertThat(b.next().orThrow().byteLength()).isEqualTo(GRH + max);
        assertThat(refused(() -> send(3, max + 1, b.qp.qpNumber(), QKEY))).hasMessageContaining("" + max);
        assertThat(refused(() -> a.qp.post(
                        a.qp.sendRequest().send().to(toB, b.qp.qpNumber(), QKEY).sge(a.region, 0, max + 1))))
                .hasMessageContaining("" + max);
    }

    @Test
    void whatIsNotADatagramIsRefused() {
        assertThat(refused(() -> a.qp.postSend(1, a.region, 0, 4, 0))).hasMessageContaining("destination");
        assertThat(refused(() -> a.qp.post(a.qp.sendRequest().send().sge(a.region, 0, 4))))
                .hasMessageContaining("destination");
        assertThat(refused(() -> a.qp.postWrite(1, a.region, 0, 4, 0, 0, 0))).hasMessageContaining("RDMA_WRITE");
        assertThatIllegalStateException()
                .isThrownBy(() -> a.qp.connect(b.qp.endpoint()))
                .withMessageContaining("activate");
        QueuePair rc = a.keep(a.domain.createQueuePair(a.options()));
        assertThatIllegalStateException().isThrownBy(() -> rc.activate(1)).withMessageContaining("connect");
        ProtectionDomain other = a.keep(a.context.allocateProtectionDomain());
        AddressHandle foreign = a.keep(other.createAddressHandle(toB.addressVector()));
        assertThat(refused(() ->
                        a.qp.postSendTo(1, a.region.address(), 4, a.region.lkey(), foreign, b.qp.qpNumber(), QKEY, 0)))
                .hasMessageContaining("another protection domain");
        assertThat(refused(() -> rc.postSendTo(1, a.region.address(), 4, a.region.lkey(), toB, 1, 1, 0)))
                .hasMessageContaining("RC");
    }

    @Test
    void aWayToAnotherFamilyIsRefused() {
        Gid ipv6 = Gid.ofHex("20010db8000000000000000000000001");
        assertThat(refused(() -> a.domain.createAddressHandle(AddressVector.to(ipv6))))
                .hasMessageContaining("family");
        assertThat(refused(() -> a.domain.createAddressHandle(
                        new AddressVector(b.qp.endpoint().gid(), 1, 0, 64, 0, 0))))
                .hasMessageContaining("sourceGidIndex is 1");
    }

    @Test
    void aClosedHandleFailsItsSendAndTheQueueGoesOnAfterwards() throws InterruptedException {
        AddressHandle gone = a.domain.createAddressHandle(toB.addressVector());
        gone.close();
        gone.close();
        a.qp.postSendTo(1, a.region.address(), 4, a.region.lkey(), gone, b.qp.qpNumber(), QKEY, 0);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.LOC_QP_OP_ERR);
        assertThat(a.qp.state()).isEqualTo(QueuePairState.SQE);
        a.qp.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        b.qp.postReceive(1, b.region, 0, 64);
        send(2, 4, b.qp.qpNumber(), QKEY);
        a.next().orThrow();
        b.next().orThrow();
    }

    @Test
    void theKeyCanBeChangedAndIsReadBack() throws InterruptedException {
        assertThat(b.qp.query().qkey()).isEqualTo(QKEY);
        b.qp.modify(new QueuePairAttributes().qkey(9));
        assertThat(b.qp.query().qkey()).isEqualTo(9);
        b.qp.postReceive(1, b.region, 0, 64);
        send(2, 4, b.qp.qpNumber(), 9);
        assertThat(b.next().orThrow().wrId()).isEqualTo(1);
    }

    @Test
    void inlineDatagramsAreCapturedWhenPosted() throws InterruptedException {
        b.qp.postReceive(1, b.region, 0, 64);
        a.memory.set(JAVA_INT, 0, 77);
        a.qp.postSendTo(
                2,
                a.region.address(),
                4,
                a.region.lkey(),
                toB,
                b.qp.qpNumber(),
                QKEY,
                SendFlags.SIGNALED | SendFlags.INLINE);
        a.memory.set(JAVA_INT, 0, 78);
        b.next().orThrow();
        assertThat(b.memory.get(JAVA_INT, GRH)).isEqualTo(77);
    }
}
