// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttribute;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairEndpoint;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import java.time.Duration;
import java.util.EnumSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** States of a queue pair: what leads where, what is read back, what happens to work. */
class QueuePairStateTest {
    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;

    @BeforeEach
    void open() {
        devices = new TwoDevices();
        a = devices.a;
        b = devices.b;
    }

    @AfterEach
    void close() {
        devices.close();
    }

    static QueuePairAttributes initialize() {
        return new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .port(1)
                .pkeyIndex(0)
                .accessFlags(AccessFlag.REMOTE_READ);
    }

    static QueuePairAttributes readyToReceive(QueuePairEndpoint peer) {
        return new QueuePairAttributes()
                .state(QueuePairState.RTR)
                .addressVector(new AddressVector(peer.gid(), 0, 7, 33, 8, 2))
                .pathMtu(Mtu.MTU_512)
                .destinationQpNumber(peer.qpNumber())
                .rqPsn(0xabcdef)
                .maxDestRdAtomic(3)
                .minRnrTimer(9);
    }

    private static QueuePairAttributes readyToSend() {
        return new QueuePairAttributes()
                .state(QueuePairState.RTS)
                .timeout(11)
                .retryCount(5)
                .rnrRetry(4)
                .sqPsn(0xfffffe)
                .maxRdAtomic(2);
    }

    private static QueuePairAttributes to(QueuePairState state) {
        return new QueuePairAttributes().state(state);
    }

    private RdmaException refused(QueuePairAttributes change) {
        QueuePairState before = a.qp.state();
        RdmaException e = catchThrowableOfType(RdmaException.class, () -> a.qp.modify(change));
        assertThat(e).isNotNull();
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        assertThat(a.qp.state()).isEqualTo(before);
        return e;
    }

    @ParameterizedTest
    @CsvSource({
        "RESET, RTR",
        "RESET, RTS",
        "INIT, RTS",
        "RTR, INIT",
        "RTR, RTR",
        "RTS, INIT",
        "RTS, RTR",
        "ERR, INIT",
        "ERR, RTR",
        "ERR, RTS",
        "RESET, SQE"
    })
    void aTransitionThatDoesNotExistIsNamedWithThoseThatDo(QueuePairState from, QueuePairState target) {
        a.replaceQueuePair(a.options());
        if (from == QueuePairState.ERR) {
            a.qp.modify(to(from));
        } else {
            advance(a.qp, from);
        }
        assertThat(a.qp.state()).isEqualTo(from);
        assertThat(refused(to(target)))
                .hasMessageContaining(from + " -> " + target)
                .hasMessageContaining("not possible")
                .hasMessageContaining("RESET");
    }

    private void advance(QueuePair qp, QueuePairState state) {
        if (state.compareTo(QueuePairState.INIT) >= 0) {
            qp.modify(initialize());
        }
        if (state.compareTo(QueuePairState.RTR) >= 0) {
            qp.modify(readyToReceive(b.qp.endpoint()));
        }
        if (state.compareTo(QueuePairState.RTS) >= 0) {
            qp.modify(readyToSend());
        }
    }

    @Test
    void aDrainingSendQueueReceivesAndBeginsNothingNew() throws InterruptedException {
        a.qp.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        a.qp.postWrite(1, a.region, 0, 64, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
        assertThat(a.cq.await(a.completion, Duration.ofMillis(100))).isFalse();
        b.qp.postWrite(2, b.region, 0, 64, a.region.address(), a.region.rkey(), SendFlags.SIGNALED);
        assertThat(b.next().orThrow().wrId()).isEqualTo(2);
        assertThat(a.context.pollAsyncEvent()).isEqualTo(new io.verbena.verbs.AsyncEvent.SendQueueDrained(a.qp));
        assertThat(a.context.pollAsyncEvent()).isNull();

        a.qp.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        assertThat(a.next().orThrow().wrId()).isEqualTo(1);
    }

    /** What is under way when draining begins is finished first; the event comes after its completion. */
    @Test
    void theDrainedEventFollowsWhatWasUnderWay() throws InterruptedException {
        for (int round = 0; round < 20; round++) {
            a.qp.postRead(round, a.region, 0, 1 << 19, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
            a.qp.modify(new QueuePairAttributes().state(QueuePairState.SQD));
            assertThat(a.context.awaitAsyncEvent(TwoDevices.TIMEOUT))
                    .isEqualTo(new io.verbena.verbs.AsyncEvent.SendQueueDrained(a.qp));
            boolean begunBefore = a.cq.poll(a.completion);
            a.qp.modify(new QueuePairAttributes().state(QueuePairState.RTS));
            assertThat((begunBefore ? a.completion : a.next()).orThrow().wrId()).isEqualTo(round);
            assertThat(a.context.pollAsyncEvent()).isNull();
        }
    }

    @Test
    void missingAndSuperfluousAttributesAreNamed() {
        a.replaceQueuePair(a.options());
        assertThat(refused(to(QueuePairState.INIT)))
                .hasMessageContaining("missing")
                .hasMessageContaining("PKEY_INDEX")
                .hasMessageContaining("PORT")
                .hasMessageContaining("ACCESS_FLAGS");
        assertThat(refused(initialize().rqPsn(1)))
                .hasMessageContaining("not allowed here [RQ_PSN]")
                .hasMessageNotContaining("missing");
        a.qp.modify(initialize());
        assertThat(refused(to(QueuePairState.RTR).pathMtu(Mtu.MTU_1024).minRnrTimer(1)))
                .hasMessageContaining("missing [AV, RQ_PSN, MAX_DEST_RD_ATOMIC, DEST_QPN]");
        a.qp.modify(readyToReceive(b.qp.endpoint()));
        assertThat(refused(to(QueuePairState.RTS).timeout(1).destinationQpNumber(4)))
                .hasMessageContaining("missing [RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC, SQ_PSN]")
                .hasMessageContaining("not allowed here [DEST_QPN]");
        a.qp.modify(readyToSend());
        assertThat(refused(new QueuePairAttributes().timeout(3))).hasMessageContaining("not allowed here [TIMEOUT]");
    }

    /** 6.B 44: also a source GID that is not there, and a peer of another family. */
    @Test
    void valuesOutsideTheDeviceAreRefusedWithWhatIsPossible() {
        a.replaceQueuePair(a.options());
        assertThat(refused(initialize().port(2))).hasMessageContaining("port is 2");
        assertThat(refused(initialize().pkeyIndex(1))).hasMessageContaining("pkeyIndex is 1");
        a.qp.modify(initialize());
        QueuePairEndpoint peer = b.qp.endpoint();
        assertThat(refused(readyToReceive(peer).maxDestRdAtomic(129))).hasMessageContaining("128");
        assertThat(refused(readyToReceive(peer).addressVector(new AddressVector(peer.gid(), 1, 0, 64, 0, 0))))
                .hasMessageContaining("sourceGidIndex is 1");
        assertThat(refused(readyToReceive(peer)
                        .addressVector(
                                AddressVector.to(io.verbena.verbs.Gid.ofHex("20010db8000000000000000000000001")))))
                .hasMessageContaining("family");
    }

    @Test
    void everyAttributeIsReadBack() {
        a.replaceQueuePair(a.options().withQueueDepth(17, 19).withMaxSge(5, 6).withMaxInlineData(100));
        advance(a.qp, QueuePairState.RTS);
        QueuePairAttributes now = a.qp.query();
        EnumSet<QueuePairAttribute> expected = EnumSet.allOf(QueuePairAttribute.class);
        expected.remove(QueuePairAttribute.QKEY);
        assertThat(now.mask()).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(now.state()).isEqualTo(QueuePairState.RTS);
        assertThat(now.accessFlags()).isEqualTo(AccessFlag.mask(AccessFlag.REMOTE_READ));
        assertThat(now.pkeyIndex()).isZero();
        assertThat(now.port()).isEqualTo(1);
        assertThat(now.addressVector())
                .isEqualTo(new AddressVector(b.qp.endpoint().gid(), 0, 7, 33, 8, 2));
        assertThat(now.pathMtu()).isEqualTo(Mtu.MTU_512);
        assertThat(now.timeout()).isEqualTo(11);
        assertThat(now.retryCount()).isEqualTo(5);
        assertThat(now.rnrRetry()).isEqualTo(4);
        assertThat(now.rqPsn()).isEqualTo(0xabcdef);
        assertThat(now.sqPsn()).isEqualTo(0xfffffe);
        assertThat(now.maxRdAtomic()).isEqualTo(2);
        assertThat(now.maxDestRdAtomic()).isEqualTo(3);
        assertThat(now.minRnrTimer()).isEqualTo(9);
        assertThat(now.destinationQpNumber()).isEqualTo(b.qp.qpNumber());
        assertThat(a.qp.capabilities()).isEqualTo(new io.verbena.verbs.QueuePairCapabilities(17, 19, 5, 6, 100));
        assertThat(a.qp.sendCompletionQueue()).isSameAs(a.cq);
        assertThat(a.qp.receiveCompletionQueue()).isSameAs(a.cq);
        assertThat(a.qp.protectionDomain()).isSameAs(a.domain);
    }

    @Test
    void whatIsReadBackIsACopy() {
        QueuePairAttributes now = a.qp.query();
        int timeout = now.timeout();
        now.timeout(31);
        assertThat(a.qp.query().timeout()).isEqualTo(timeout);
    }

    @Test
    void sequenceNumbersReadBackMoveWithTraffic() throws InterruptedException {
        int before = a.qp.query().sqPsn();
        int expected = b.qp.query().rqPsn();
        assertThat(expected).isEqualTo(before);
        a.qp.postWrite(1, a.region, 0, 3 * 4096, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
        a.next().orThrow();
        int packets = 3 * 4096 / a.qp.query().pathMtu().bytes();
        assertThat(a.qp.query().sqPsn()).isEqualTo((before + packets) & 0xffffff);
        assertThat(b.qp.query().rqPsn()).isEqualTo((before + packets) & 0xffffff);
    }

    @ParameterizedTest
    @EnumSource
    void everyPathMtuCarriesData(Mtu mtu) throws InterruptedException {
        devices.reconnect(new QueuePairAttributes().pathMtu(mtu).sqPsn(0xfffffd).rqPsn(0xfffffd));
        for (int size : new int[] {1, mtu.bytes() - 1, mtu.bytes(), mtu.bytes() + 1, 10 * mtu.bytes() + 3}) {
            fill(size, size);
            a.qp.postWrite(1, a.region, 0, size, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
            a.qp.postRead(2, a.region, 1 << 19, size, b.region.address(), b.region.rkey(), SendFlags.SIGNALED);
            a.next().orThrow();
            a.next().orThrow();
            assertThat(b.memory.asSlice(0, size).mismatch(a.memory.asSlice(0, size)))
                    .isEqualTo(-1);
            assertThat(a.memory.asSlice(1 << 19, size).mismatch(a.memory.asSlice(0, size)))
                    .isEqualTo(-1);
            b.qp.postReceive(3, b.region, 1 << 18, size);
            a.qp.postSend(4, a.region, 0, size, SendFlags.SIGNALED);
            assertThat(b.next().orThrow().byteLength()).isEqualTo(size);
            a.next().orThrow();
            assertThat(b.memory.asSlice(1 << 18, size).mismatch(a.memory.asSlice(0, size)))
                    .isEqualTo(-1);
        }
    }

    private void fill(int size, int seed) {
        for (int i = 0; i < size; i++) {
            a.memory.set(JAVA_BYTE, i, (byte) (i * 7 + seed));
        }
    }

    @Test
    void aBrokenQueuePairCarriesTrafficAgainAfterReset() throws InterruptedException {
        for (int round = 0; round < 5; round++) {
            a.qp.postWrite(1, a.region, 0, 8, b.region.address(), b.region.rkey() ^ 0x100, SendFlags.SIGNALED);
            a.qp.postSend(2, a.region, 0, 8, SendFlags.SIGNALED);
            b.qp.postReceive(3, b.region, 0, 8);
            assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            // The flushed rest stays unpolled: RESET takes it out of the queues.
            devices.reconnect(new QueuePairAttributes());
            assertThat(a.qp.state()).isEqualTo(QueuePairState.RTS);
            fill(5000, round);
            b.qp.postReceive(10, b.region, 0, 8192);
            a.qp.postSend(11, a.region, 0, 5000, SendFlags.SIGNALED);
            assertThat(b.next().orThrow().wrId()).isEqualTo(10);
            assertThat(a.next().orThrow().wrId()).isEqualTo(11);
            assertThat(b.memory.asSlice(0, 5000).mismatch(a.memory.asSlice(0, 5000)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void workPostedInErrorComesBackFlushed() throws InterruptedException {
        a.qp.modify(to(QueuePairState.ERR));
        for (int i = 0; i < 300; i++) {
            a.qp.postWrite(i, a.region, 0, 8, b.region.address(), b.region.rkey(), SendFlags.NONE);
            assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
            assertThat(a.completion.wrId()).isEqualTo(i);
            a.qp.postReceive(1000 + i, a.region, 0, 8);
            assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
            assertThat(a.completion.wrId()).isEqualTo(1000 + i);
        }
        assertThat(a.cq.poll(a.completion)).isFalse();
    }

    @Test
    void aHundredReceivesComeBackOnceAndInOrder() throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            b.qp.postReceive(i, b.region, 0, 8);
        }
        a.qp.postSend(1, a.region, 0, 8, SendFlags.SIGNALED);
        assertThat(b.next().orThrow().wrId()).isZero();
        b.qp.modify(to(QueuePairState.ERR));
        for (int i = 1; i < 100; i++) {
            WorkCompletion flushed = b.next();
            assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
            assertThat(flushed.wrId()).isEqualTo(i);
            assertThat(flushed.qpNumber()).isEqualTo(b.qp.qpNumber());
        }
        assertThat(b.cq.poll(b.completion)).isFalse();
    }

    @Test
    void queuedSendsComeBackOnceAndInOrderAfterAnError() throws InterruptedException {
        a.qp.postSend(0, a.region, 0, 8, SendFlags.NONE);
        for (int i = 1; i < 50; i++) {
            a.qp.postWrite(i, a.region, 0, 8, b.region.address(), b.region.rkey(), SendFlags.NONE);
        }
        a.qp.modify(to(QueuePairState.ERR));
        for (int i = 0; i < 50; i++) {
            assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
            assertThat(a.completion.wrId()).isEqualTo(i);
        }
        assertThat(a.cq.poll(a.completion)).isFalse();
    }

    @Test
    void theFirstMessageAtAReadyReceiverIsAnEvent() throws InterruptedException {
        QueuePair receiver = b.replaceQueuePair(b.options());
        a.replaceQueuePair(a.options());
        receiver.modify(initialize());
        receiver.postReceive(1, b.region, 0, 8);
        receiver.modify(readyToReceive(a.qp.endpoint()).rqPsn(a.qp.endpoint().psn()));
        a.qp.connect(receiver.endpoint(), new QueuePairAttributes().pathMtu(Mtu.MTU_512));
        a.qp.postSend(1, a.region, 0, 8, SendFlags.SIGNALED);
        a.next().orThrow();
        b.next().orThrow();
        assertThat(b.context.awaitAsyncEvent(TwoDevices.TIMEOUT))
                .isEqualTo(new io.verbena.verbs.AsyncEvent.CommunicationEstablished(receiver));
        assertThat(b.context.pollAsyncEvent()).isNull();
    }
}
