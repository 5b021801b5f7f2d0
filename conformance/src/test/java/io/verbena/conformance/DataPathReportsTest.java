// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.AccessFlag.REMOTE_ATOMIC;
import static io.verbena.verbs.AccessFlag.REMOTE_READ;
import static io.verbena.verbs.AccessFlag.REMOTE_WRITE;
import static io.verbena.verbs.WorkCompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.WorkCompletionStatus.REM_INV_REQ_ERR;
import static io.verbena.verbs.WorkCompletionStatus.RNR_RETRY_EXC_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.DeviceCapability;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.RdmaException.Reason;
import io.verbena.verbs.ReceiveRequest;
import io.verbena.verbs.SendRequest;
import io.verbena.verbs.SharedReceiveQueueOptions;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What users of RDMA software reported of limits and of data that moves (D46 to D60), beyond the catalogue. */
class DataPathReportsTest extends ConformanceSuite {
    private static final int QKEY = 0x11111111;

    @Test
    @DisplayName("D46: a message above the largest is refused when it is posted")
    void aMessageAboveTheLargestIsRefused() throws InterruptedException {
        long most = a.context.queryPort(1).maxMessageSize();
        Pair pair = rc();
        SendRequest request = pair.a().sendRequest();
        request.write(b.region.address(), b.region.rkey()).signaled();
        long left = most + 1;
        int entries = 0;
        for (; left > 0; entries++) {
            int length = (int) Math.min(left, Integer.MAX_VALUE);
            request.sge(a.region.address(), length, a.region.lkey());
            left -= length;
        }
        assertThat(entries).isLessThanOrEqualTo(pair.a().capabilities().maxSendSge());
        assertThat(refusal(request::post)).hasMessageContaining(String.valueOf(most));
        assertCarriesTraffic(pair);
    }

    @Test
    @DisplayName("D47: empty messages complete with an entry, without one, and inline")
    void emptyMessagesComplete() throws InterruptedException {
        Pair pair = rc();
        SendRequest request = pair.a().sendRequest();
        for (int way = 0; way < 3; way++) {
            pair.b().post(new ReceiveRequest().id(way));
            request.send().signaled();
            if (way == 1) {
                request.sge(a.region, 0, 0);
            } else if (way == 2) {
                request.inline(MemorySegment.ofArray(new byte[0]));
            }
            request.post();
            a.expect(SUCCESS);
            assertThat(b.expect(SUCCESS).byteLength()).isZero();
        }
        assertCarriesTraffic(pair);
    }

    @ParameterizedTest
    @EnumSource(names = {"RC", "UC", "UD"})
    @DisplayName("D48: as many inline bytes as were granted, not one more")
    void inlineDataUpToWhatWasGranted(QueuePairType type) throws InterruptedException {
        SendRequest request = sender(type);
        int granted = request.queuePair().capabilities().maxInlineData();
        assertThat(granted).isGreaterThanOrEqualTo(32);
        start(request, type)
                .inline(MemorySegment.ofArray(new byte[granted]))
                .signaled()
                .post();
        a.expect(SUCCESS);
        start(request, type)
                .inline(MemorySegment.ofArray(new byte[granted + 1]))
                .signaled();
        assertThat(refusal(request::post)).hasMessageContaining(String.valueOf(granted));
        a.assertNoCompletion();
    }

    private SendRequest sender(QueuePairType type) {
        if (type == QueuePairType.RC) {
            Pair pair = rc(options -> options.withMaxInlineData(32));
            pair.b().postReceive(1, b.region, 0, 4096);
            return pair.a().sendRequest();
        }
        require(
                type == QueuePairType.UC
                        ? DeviceCapability.UNRELIABLE_CONNECTION
                        : DeviceCapability.UNRELIABLE_DATAGRAM);
        if (type == QueuePairType.UC) {
            QueuePairOptions options = QueuePairOptions.uc(a.cq).withMaxInlineData(32);
            return connected(options, QueuePairOptions.uc(b.cq), new QueuePairAttributes())
                    .a()
                    .sendRequest();
        }
        QueuePair qp = a.queuePair(QueuePairOptions.ud(a.cq).withMaxInlineData(32));
        qp.activate(QKEY);
        return qp.sendRequest();
    }

    private SendRequest start(SendRequest request, QueuePairType type) {
        request.send();
        return type == QueuePairType.UD ? request.to(a.handleTo(b), 0x1234, QKEY) : request;
    }

    @Test
    @DisplayName("D49: 8 entries asked for are granted and taken, one more than granted is refused")
    void entriesUpToWhatWasGranted() throws InterruptedException {
        Pair pair = rc(options -> options.withMaxSge(8, 8));
        int granted = pair.a().capabilities().maxSendSge();
        assertThat(granted).isGreaterThanOrEqualTo(8);
        SendRequest request = pair.a().sendRequest();
        request.write(b.region.address(), b.region.rkey()).signaled();
        for (int i = 0; i < granted; i++) {
            request.sge(a.region, i, 1);
        }
        request.post();
        a.expect(SUCCESS);
        request.sge(a.region, 0, 1);
        assertRefused(Reason.INVALID_ARGUMENT, request::post);
    }

    @Test
    @DisplayName("D51: a WRITE with immediate without a receive is not ready, also between queue pairs of one device")
    void aWriteWithImmediateNeedsAReceive() throws InterruptedException {
        QueuePair from = a.queuePair(a.rcOptions());
        QueuePair to = a.queuePair(a.rcOptions());
        Pair pair = new Pair(from, to);
        pair.connect(new QueuePairAttributes().rnrRetry(0));
        long remote = a.region.address() + 4096;
        to.postReceive(7, a.region, 8192, 8);
        from.postWriteWithImmediate(1, a.region.address(), 100, a.region.lkey(), remote, a.region.rkey(), 5, 0);
        assertThat(a.expect(SUCCESS).wrId()).isEqualTo(7);
        assertThat(a.completion.byteLength()).isEqualTo(100);
        from.postWriteWithImmediate(2, a.region.address(), 100, a.region.lkey(), remote, a.region.rkey(), 5, 0);
        assertThat(a.expect(RNR_RETRY_EXC_ERR).wrId()).isEqualTo(2);
        a.assertNoCompletion();
    }

    @Test
    @DisplayName("D53: the local key in place of the remote one fails")
    void theLocalKeyIsNoRemoteKey() throws InterruptedException {
        Pair pair = rc();
        assertThat(b.region.lkey()).isNotEqualTo(b.region.rkey());
        pair.a().postRead(1, a.region, 0, 8, b.region.address(), b.region.lkey(), SIGNALED);
        a.expect(REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @EnumSource(names = {"REMOTE_WRITE", "REMOTE_READ", "REMOTE_ATOMIC"})
    @DisplayName("D54: each right that is missing at the queue pair makes its operation an invalid request, no other")
    void eachRightGuardsItsOperation(AccessFlag missing) throws InterruptedException {
        int rights = AccessFlag.mask(REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC) & ~missing.code();
        Pair pair = rc(options -> options, new QueuePairAttributes().accessFlags(rights));
        for (AccessFlag tried : new AccessFlag[] {REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC}) {
            if (tried != missing) {
                attempt(pair, tried, SUCCESS);
            }
        }
        attempt(pair, missing, REM_INV_REQ_ERR);
    }

    private void attempt(Pair pair, AccessFlag right, WorkCompletionStatus status) throws InterruptedException {
        long remote = b.region.address();
        int rkey = b.region.rkey();
        switch (right) {
            case REMOTE_WRITE -> pair.a().postWrite(1, a.region, 0, 8, remote, rkey, SIGNALED);
            case REMOTE_READ -> pair.a().postRead(1, a.region, 0, 8, remote, rkey, SIGNALED);
            default -> pair.a().postFetchAndAdd(1, a.region.address(), a.region.lkey(), remote, rkey, 1, SIGNALED);
        }
        a.expect(status);
    }

    @Test
    @DisplayName("D59: over IPv6 the header is told from that of IPv4, and the payload begins at byte 40 too")
    void datagramsOverIpv6() throws InterruptedException {
        require(DeviceCapability.UNRELIABLE_DATAGRAM);
        String name = devices.others().stream()
                .filter(other -> other.endsWith("::1"))
                .findFirst()
                .orElse("");
        assumeTrue(!name.isEmpty(), "no IPv6 device");
        try (DeviceContext context = devices.open(name);
                Side side = new Side(devices, context)) {
            QueuePair[] pair = {
                side.queuePair(QueuePairOptions.ud(side.cq)), side.queuePair(QueuePairOptions.ud(side.cq))
            };
            pair[0].activate(QKEY);
            pair[1].activate(QKEY);
            AddressHandle handle = side.keep(side.domain.createAddressHandle(AddressVector.to(side.gid())));
            side.fill(0, 50, 3);
            pair[1].postReceive(1, side.region, 4096, 100);
            pair[0].postSendTo(2, side.region.address(), 50, side.region.lkey(), handle, pair[1].qpNumber(), QKEY, 0);
            assertThat(side.expect(SUCCESS).byteLength()).isEqualTo(90);
            side.assertHolds(4096 + GlobalRouteHeader.BYTES, 50, 3);
            GlobalRouteHeader header = GlobalRouteHeader.read(side.memory, 4096);
            assertThat(header.sourceGid()).isEqualTo(side.gid());
            assertThat(header.sourceGid().isIpv4()).isFalse();
        } catch (RdmaException e) {
            assumeTrue(e.reason() != Reason.ADDRESS_IN_USE, "another process has the IPv6 device");
            throw e;
        }
    }

    @Test
    @DisplayName("D60: with a shared receive queue the sizes of its own do not matter")
    void ownReceiveSizesDoNotMatterWithASharedQueue() {
        require(DeviceCapability.SHARED_RECEIVE_QUEUE);
        var queue = b.keep(b.domain.createSharedReceiveQueue(SharedReceiveQueueOptions.of(8)));
        QueuePair qp = b.queuePair(QueuePairOptions.rc(b.cq)
                .withSharedReceiveQueue(queue)
                .withQueueDepth(8, Integer.MAX_VALUE)
                .withMaxSge(1, Integer.MAX_VALUE));
        assertThat(qp.sharedReceiveQueue()).isSameAs(queue);
    }
}
