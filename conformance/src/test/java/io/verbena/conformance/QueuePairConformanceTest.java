// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.QueuePairState.ERR;
import static io.verbena.verbs.QueuePairState.INIT;
import static io.verbena.verbs.QueuePairState.RESET;
import static io.verbena.verbs.QueuePairState.RTR;
import static io.verbena.verbs.QueuePairState.RTS;
import static io.verbena.verbs.QueuePairState.SQD;
import static io.verbena.verbs.WorkCompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static io.verbena.verbs.WorkCompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttribute;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairCapabilities;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.RdmaException.Reason;
import io.verbena.verbs.ReceiveRequest;
import io.verbena.verbs.SendRequest;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** QP: the life of a queue pair and its attributes, on reliable connections. */
class QueuePairConformanceTest extends ConformanceSuite {
    private static QueuePairAttributes to(QueuePairState state) {
        return new QueuePairAttributes().state(state);
    }

    private static QueuePairAttributes toInit() {
        return to(INIT).pkeyIndex(0).port(1).accessFlags(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
    }

    private static QueuePairAttributes toRtr(QueuePair peer) {
        return to(RTR).addressVector(AddressVector.to(peer.endpoint().gid()))
                .pathMtu(Mtu.MTU_512)
                .destinationQpNumber(peer.qpNumber())
                .rqPsn(peer.endpoint().psn())
                .maxDestRdAtomic(12)
                .minRnrTimer(14);
    }

    private static QueuePairAttributes toRts(int psn) {
        return to(RTS).timeout(13).retryCount(6).rnrRetry(5).sqPsn(psn).maxRdAtomic(12);
    }

    /** A queue pair of a, brought to a state towards one of b. */
    private QueuePair inState(QueuePairState state) {
        QueuePair qp = a.queuePair(a.rcOptions());
        QueuePair peer = b.queuePair(b.rcOptions());
        switch (state) {
            case RESET -> {}
            case INIT -> qp.modify(toInit());
            case RTR -> {
                qp.modify(toInit());
                qp.modify(toRtr(peer));
            }
            case ERR -> qp.modify(to(ERR));
            default -> {
                qp.modify(toInit());
                qp.modify(toRtr(peer));
                qp.modify(toRts(qp.endpoint().psn()));
                if (state != RTS) {
                    qp.modify(to(state));
                }
            }
        }
        assertThat(qp.state()).isEqualTo(state);
        return qp;
    }

    @Test
    @Conforms("QP-1")
    void aQueuePairIsCreatedInReset() {
        QueuePair qp = a.queuePair(a.rcOptions());
        assertThat(qp.state()).isEqualTo(RESET);
        assertThat(qp.query().state()).isEqualTo(RESET);
        assertThat(qp.qpNumber()).isBetween(2, 0xffffff);
        assertThat(qp.type()).isEqualTo(a.rcOptions().type());
        assertThat(qp.sendCompletionQueue()).isSameAs(a.cq);
        assertThat(qp.receiveCompletionQueue()).isSameAs(a.cq);
        assertThat(qp.protectionDomain()).isSameAs(a.domain);
    }

    @Test
    @Conforms("QP-2")
    void aConnectionGoesToInitWithPortPartitionAndRights() {
        QueuePair qp = a.queuePair(a.rcOptions());
        qp.modify(toInit());
        assertThat(qp.state()).isEqualTo(INIT);
        assertThat(qp.query().mask())
                .contains(QueuePairAttribute.PORT, QueuePairAttribute.PKEY_INDEX, QueuePairAttribute.ACCESS_FLAGS);
    }

    static Stream<UnaryOperator<QueuePairOptions>> tooMuch() {
        int much = Integer.MAX_VALUE;
        return Stream.of(
                options -> options.withQueueDepth(much, 1),
                options -> options.withQueueDepth(1, much),
                options -> options.withMaxSge(much, 1),
                options -> options.withMaxSge(1, much),
                options -> options.withMaxInlineData(much),
                options -> options.withQueueDepth(much, much)
                        .withMaxSge(much, much)
                        .withMaxInlineData(much));
    }

    @Test
    @Conforms("QP-3")
    void capabilitiesAboveTheLimitsAreRefused() throws InterruptedException {
        tooMuch()
                .forEach(change -> assertRefused(
                        Reason.INVALID_ARGUMENT, () -> a.domain.createQueuePair(change.apply(a.rcOptions()))));
        DeviceAttributes limits = a.context.queryDevice();
        QueuePairOptions above = a.rcOptions().withQueueDepth(limits.maxQpWr() + 1, 1);
        assertThat(refusal(() -> a.domain.createQueuePair(above))).hasMessageContaining("" + limits.maxQpWr());
        assertThatThrownBy(() -> a.domain.createQueuePair(a.rcOptions().withQueueDepth(-1, 1)))
                .isInstanceOfAny(RdmaException.class, IllegalArgumentException.class);
        assertCarriesTraffic(rc());
    }

    @Test
    @Conforms("QP-4")
    void capabilitiesAreAtLeastThoseAsked() {
        QueuePair qp = a.queuePair(
                a.rcOptions().withQueueDepth(17, 19).withMaxSge(3, 2).withMaxInlineData(33));
        QueuePairCapabilities granted = qp.capabilities();
        assertThat(granted.maxSendWr()).isGreaterThanOrEqualTo(17);
        assertThat(granted.maxReceiveWr()).isGreaterThanOrEqualTo(19);
        assertThat(granted.maxSendSge()).isGreaterThanOrEqualTo(3);
        assertThat(granted.maxReceiveSge()).isGreaterThanOrEqualTo(2);
        assertThat(granted.maxInlineData()).isGreaterThanOrEqualTo(33);
    }

    @Test
    @Conforms({"QP-4", "QP-5"})
    void attributesReadBackAsSet() {
        QueuePair qp = a.queuePair(a.rcOptions());
        QueuePair peer = b.queuePair(b.rcOptions());
        qp.modify(toInit());
        qp.modify(toRtr(peer));
        qp.modify(toRts(0x123456));
        QueuePairAttributes now = qp.query();
        assertThat(now.state()).isEqualTo(RTS);
        assertThat(now.port()).isEqualTo(1);
        assertThat(now.pkeyIndex()).isZero();
        assertThat(now.accessFlags()).isEqualTo(toInit().accessFlags());
        assertThat(now.addressVector().destinationGid())
                .isEqualTo(peer.endpoint().gid());
        assertThat(now.pathMtu()).isEqualTo(Mtu.MTU_512);
        assertThat(now.destinationQpNumber()).isEqualTo(peer.qpNumber());
        assertThat(now.rqPsn()).isEqualTo(peer.endpoint().psn());
        assertThat(now.sqPsn()).isEqualTo(0x123456);
        assertThat(now.minRnrTimer()).isEqualTo(14);
        assertThat(now.timeout()).isEqualTo(13);
        assertThat(now.retryCount()).isEqualTo(6);
        assertThat(now.rnrRetry()).isEqualTo(5);
        assertThat(now.maxRdAtomic()).isGreaterThanOrEqualTo(12);
        assertThat(now.maxDestRdAtomic()).isGreaterThanOrEqualTo(12);
    }

    @ParameterizedTest
    @EnumSource(names = {"RESET", "INIT", "RTR", "RTS", "SQD", "ERR"})
    @Conforms("QP-6")
    void everyStateGoesToErrorAndToReset(QueuePairState state) {
        QueuePair qp = inState(state);
        qp.modify(to(ERR));
        assertThat(qp.state()).isEqualTo(ERR);
        QueuePair other = inState(state);
        other.modify(to(RESET));
        assertThat(other.query().state()).isEqualTo(RESET);
    }

    @Test
    @Conforms("QP-6")
    void aDrainedSendQueueGoesOn() throws InterruptedException {
        Pair pair = rc();
        pair.a().modify(to(SQD));
        pair.a().modify(to(RTS));
        assertCarriesTraffic(pair);
    }

    @Test
    @Conforms("QP-6")
    void otherWaysAreRefusedAndChangeNothing() {
        for (QueuePairState from : List.of(RESET, INIT, RTR, RTS, ERR)) {
            QueuePair qp = inState(from);
            List<QueuePairState> impossible = switch (from) {
                case RESET -> List.of(RTR, RTS, SQD);
                case INIT -> List.of(RTS, SQD);
                case RTR -> List.of(INIT, RTR, SQD);
                case RTS -> List.of(INIT, RTR);
                default -> List.of(INIT, RTR, RTS, SQD);
            };
            for (QueuePairState target : impossible) {
                assertRefused(Reason.INVALID_ARGUMENT, () -> qp.modify(to(target)));
                assertThat(qp.state()).isEqualTo(from);
            }
        }
    }

    @Test
    @Conforms("QP-6")
    void missingAndSuperfluousAttributesAreRefused() {
        QueuePair qp = a.queuePair(a.rcOptions());
        assertRefused(Reason.INVALID_ARGUMENT, () -> qp.modify(to(INIT).port(1).pkeyIndex(0)));
        assertRefused(Reason.INVALID_ARGUMENT, () -> qp.modify(toInit().pathMtu(Mtu.MTU_256)));
        assertThat(qp.state()).isEqualTo(RESET);
        qp.modify(toInit());
        assertRefused(Reason.INVALID_ARGUMENT, () -> qp.modify(to(RTR)));
        assertRefused(Reason.INVALID_ARGUMENT, () -> qp.modify(toRtr(qp).retryCount(1)));
        assertThat(qp.state()).isEqualTo(INIT);
    }

    @ParameterizedTest
    @EnumSource(names = {"RESET", "INIT", "RTR"})
    @Conforms("QP-7")
    void aSendNeedsReadyToSend(QueuePairState state) {
        QueuePair qp = inState(state);
        assertRefused(Reason.INVALID_STATE, () -> qp.postSend(1, a.region, 0, 8, SIGNALED));
        if (state == RESET) {
            assertRefused(Reason.INVALID_STATE, () -> qp.postReceive(1, a.region, 0, 8));
        } else {
            qp.postReceive(1, a.region, 0, 8);
        }
        a.assertNoCompletion();
    }

    @Test
    @Conforms("QP-8")
    void workPostedInErrorComesBackFlushed() throws InterruptedException {
        QueuePair qp = inState(RTS);
        qp.postReceive(1, a.region, 0, 8);
        qp.modify(to(ERR));
        assertThat(a.expect(WR_FLUSH_ERR).wrId()).isEqualTo(1);
        qp.postReceive(2, a.region, 0, 8);
        assertThat(a.expect(WR_FLUSH_ERR).wrId()).isEqualTo(2);
        qp.postSend(3, a.region, 0, 8, 0);
        assertThat(a.expect(WR_FLUSH_ERR).wrId()).isEqualTo(3);
        assertThat(a.completion.qpNumber()).isEqualTo(qp.qpNumber());
        a.assertNoCompletion();
    }

    @Test
    @Conforms("QP-9")
    void aFullSendQueueNamesTheFirstNotTaken() throws InterruptedException {
        Pair pair = rc(options -> options.withQueueDepth(8, 8));
        int depth = pair.a().capabilities().maxSendWr();
        List<SendRequest> requests = IntStream.range(0, depth + 3)
                .mapToObj(i -> pair.a()
                        .sendRequest()
                        .write(b.region.address(), b.region.rkey())
                        .sge(a.region, 0, 8)
                        .id(i)
                        .signaled())
                .toList();
        PostException e =
                catchThrowableOfType(PostException.class, () -> pair.a().post(requests));
        assertThat(e.reason()).isEqualTo(Reason.QUEUE_FULL);
        assertThat(e.firstRefused()).isEqualTo(depth);
        for (int i = 0; i < depth; i++) {
            assertThat(a.expect(SUCCESS).wrId()).isEqualTo(i);
        }
        a.assertNoCompletion();
        assertCarriesTraffic(pair);
    }

    @Test
    @Conforms("QP-9")
    void aFullReceiveQueueIsRefused() {
        QueuePair qp = a.queuePair(a.rcOptions().withQueueDepth(1, 8));
        qp.modify(toInit());
        for (int i = 0; i < qp.capabilities().maxReceiveWr(); i++) {
            qp.postReceive(i, a.region, 0, 8);
        }
        assertRefused(Reason.QUEUE_FULL, () -> qp.postReceive(99, a.region, 0, 8));
    }

    @Test
    @Conforms("QP-9")
    void moreEntriesThanGrantedAreRefused() throws InterruptedException {
        Pair pair = rc(options -> options.withMaxSge(2, 2));
        SendRequest send = pair.a().sendRequest().send();
        ReceiveRequest receive = new ReceiveRequest().id(1);
        int most = Math.max(
                pair.a().capabilities().maxSendSge(), pair.b().capabilities().maxReceiveSge());
        for (int i = 0; i <= most; i++) {
            send.sge(a.region, 0, 1);
            receive.sge(b.region, 0, 1);
        }
        assertRefused(Reason.INVALID_ARGUMENT, () -> pair.a().post(send));
        assertRefused(Reason.INVALID_ARGUMENT, () -> pair.b().post(receive));
        assertCarriesTraffic(pair);
    }

    @Test
    @Conforms("QP-10")
    void aBrokenQueuePairCarriesTrafficAgainAfterReset() throws InterruptedException {
        Pair pair = rc();
        for (int round = 0; round < 3; round++) {
            pair.b().postReceive(50, b.region, 0, 8);
            pair.a().postWrite(1, a.region, 0, 8, b.region.address(), 0, 0);
            pair.a().postSend(2, a.region, 0, 8, 0);
            assertThat(a.expect(REM_ACCESS_ERR).wrId()).isEqualTo(1);
            assertThat(a.expect(WR_FLUSH_ERR).wrId()).isEqualTo(2);
            assertThat(b.expect(WR_FLUSH_ERR).wrId()).isEqualTo(50);
            assertThat(pair.a().state()).isEqualTo(ERR);
            pair.reconnect();
            assertCarriesTraffic(pair);
            b.assertNoCompletion();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RESET", "ERR"})
    @Conforms("QP-10")
    void whatWasPostedBeforeAResetIsForgotten(QueuePairState through) throws InterruptedException {
        Pair pair = rc();
        for (int i = 0; i < 32; i++) {
            pair.b().postReceive(i, b.region, 0, 8);
        }
        pair.b().modify(to(through));
        pair.reconnect();
        b.assertNoCompletion();
        pair.b().postReceive(100, b.region, 0, 8);
        pair.a().postSend(1, a.region, 0, 8, SIGNALED);
        a.expect(SUCCESS);
        assertThat(b.expect(SUCCESS).wrId()).isEqualTo(100);
    }

    @Test
    @Conforms("QP-13")
    void aDestroyedQueuePairMakesNoCompletions() throws InterruptedException {
        Pair pair = rc();
        Pair witness = rc();
        for (int i = 0; i < 10; i++) {
            pair.a().postReceive(100 + i, a.region, 0, 8);
            pair.a().postSend(i, a.region, 0, 8, SIGNALED);
        }
        pair.a().close();
        assertCarriesTraffic(witness);
        a.assertNoCompletion();
        assertRefused(Reason.CLOSED, () -> pair.a().postReceive(1, a.region, 0, 8));
    }
}
