// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.ReceiveRequest;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendRequest;
import io.verbena.verbs.WorkCompletion;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What posting takes and what it refuses: a refused request is not posted at all. */
class PostingTest {
    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;

    @BeforeEach
    void open() {
        devices = new TwoDevices();
        a = devices.a;
        b = devices.b;
        for (int i = 0; i < 4096; i++) {
            a.memory.set(JAVA_BYTE, i, (byte) (i * 31));
        }
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private static RdmaException refused(RdmaException.Reason reason, ThrowingCallable post) {
        RdmaException e = catchThrowableOfType(RdmaException.class, post);
        assertThat(e).isNotNull();
        assertThat(e.reason()).as(e.toString()).isEqualTo(reason);
        return e;
    }

    private void postWrite(long id, int flags) {
        a.qp.postWrite(id, a.region, 0, 8, b.region.address(), b.region.rkey(), flags);
    }

    private void deepen(int sends, int receives) {
        devices.replaceQueuePairs(options -> options.withQueueDepth(sends, receives));
        devices.connect();
    }

    /** The queue pair works as if nothing had happened. */
    private void assertStillWorks() throws InterruptedException {
        postWrite(1234, SendFlags.SIGNALED);
        assertThat(a.next().orThrow().wrId()).isEqualTo(1234);
    }

    @Test
    void moreInlineBytesThanGrantedAreRefusedWithTheLimit() throws InterruptedException {
        int limit = a.qp.capabilities().maxInlineData();
        assertThat(limit).isEqualTo(64);
        SendRequest request = a.qp.sendRequest();
        request.write(b.region.address(), b.region.rkey())
                .inline(a.memory.asSlice(0, limit))
                .signaled()
                .post();
        a.next().orThrow();
        assertThat(refused(
                        RdmaException.Reason.INVALID_ARGUMENT,
                        () -> request.write(b.region.address(), b.region.rkey())
                                .inline(a.memory.asSlice(0, limit + 1))
                                .post()))
                .hasMessageContaining("65")
                .hasMessageContaining("64");
        refused(
                RdmaException.Reason.INVALID_ARGUMENT,
                () -> a.qp.postSend(1, a.region, 0, limit + 1, SendFlags.INLINE));
        assertStillWorks();
    }

    @Test
    void inlineCapabilitiesAreGrantedUpToTheDevicesLimit() {
        int limit = a.context.queryDevice().maxInlineData();
        a.replaceQueuePair(a.options().withMaxInlineData(limit));
        assertThat(a.qp.capabilities().maxInlineData()).isEqualTo(limit);
        assertThat(refused(
                        RdmaException.Reason.INVALID_ARGUMENT,
                        () -> a.domain.createQueuePair(a.options().withMaxInlineData(limit + 1))))
                .hasMessageContaining("maxInlineData")
                .hasMessageContaining("" + limit);
    }

    /** 6.A 22. */
    @Test
    void entriesAreGrantedAsAskedAndNoMoreAreTaken() throws InterruptedException {
        devices.replaceQueuePairs(options -> options.withMaxSge(8, 7));
        devices.connect();
        assertThat(a.qp.capabilities().maxSendSge()).isEqualTo(8);
        assertThat(a.qp.capabilities().maxReceiveSge()).isEqualTo(7);
        SendRequest request = a.qp.sendRequest();
        request.write(b.region.address(), b.region.rkey()).signaled();
        for (int i = 0; i < 8; i++) {
            request.sge(a.region, i, 1);
        }
        request.post();
        a.next().orThrow();
        request.sge(a.region, 8, 1);
        assertThat(refused(RdmaException.Reason.INVALID_ARGUMENT, request::post))
                .hasMessageContaining("9 scatter")
                .hasMessageContaining("8");
        ReceiveRequest receive = new ReceiveRequest().id(1);
        for (int i = 0; i < 8; i++) {
            receive.sge(b.region, i, 1);
        }
        assertThat(refused(RdmaException.Reason.INVALID_ARGUMENT, () -> b.qp.post(receive)))
                .hasMessageContaining("7");
        assertStillWorks();
    }

    @Test
    void capabilitiesAboveTheDevicesLimitsAreRefusedByName() {
        int wr = a.context.queryDevice().maxQpWr();
        int sge = a.context.queryDevice().maxSge();
        assertThat(sge).isEqualTo(32);
        assertThat(refused(
                        RdmaException.Reason.INVALID_ARGUMENT,
                        () -> a.domain.createQueuePair(a.options().withQueueDepth(wr + 1, 1))))
                .hasMessageContaining("maxSendWr")
                .hasMessageContaining("" + wr);
        assertThat(refused(
                        RdmaException.Reason.INVALID_ARGUMENT,
                        () -> a.domain.createQueuePair(a.options().withQueueDepth(1, -1))))
                .hasMessageContaining("maxReceiveWr");
        assertThat(refused(
                        RdmaException.Reason.INVALID_ARGUMENT,
                        () -> a.domain.createQueuePair(a.options().withMaxSge(33, 1))))
                .hasMessageContaining("maxSendSge");
        assertThat(refused(
                        RdmaException.Reason.INVALID_ARGUMENT,
                        () -> a.domain.createQueuePair(a.options().withMaxSge(1, 33))))
                .hasMessageContaining("maxReceiveSge");
    }

    @Test
    void aFullQueueNamesTheFirstRefusedOfAList() throws InterruptedException {
        deepen(16, 16);
        List<SendRequest> requests = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            requests.add(a.qp.sendRequest()
                    .write(b.region.address(), b.region.rkey())
                    .id(i)
                    .sge(a.region, 0, 8)
                    .signaled());
        }
        PostException e = catchThrowableOfType(PostException.class, () -> a.qp.post(requests));
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.QUEUE_FULL);
        assertThat(e.firstRefused()).isEqualTo(16);
        for (int i = 0; i < 16; i++) {
            assertThat(a.next().orThrow().wrId()).isEqualTo(i);
        }
        a.qp.post(requests.subList(16, 20));
        for (int i = 16; i < 20; i++) {
            assertThat(a.next().orThrow().wrId()).isEqualTo(i);
        }
    }

    /** 6.A 23. */
    @Test
    void aBadRequestInAListStopsItThere() throws InterruptedException {
        SendRequest good = a.qp.sendRequest()
                .write(b.region.address(), b.region.rkey())
                .sge(a.region, 0, 8)
                .signaled();
        SendRequest bad = a.qp.sendRequest().send().inline(MemorySegment.ofArray(new byte[65]));
        PostException e = catchThrowableOfType(PostException.class, () -> a.qp.post(List.of(good, good, bad, good)));
        assertThat(e.reason()).isEqualTo(RdmaException.Reason.INVALID_ARGUMENT);
        assertThat(e.firstRefused()).isEqualTo(2);
        a.next().orThrow();
        a.next().orThrow();
        assertStillWorks();
        assertThat(a.cq.poll(a.completion)).isFalse();
    }

    @Test
    void unsignalledSlotsStayTakenUntilALaterSignalledCompletionIsPolled() throws InterruptedException {
        deepen(16, 16);
        for (int i = 0; i < 16; i++) {
            postWrite(i, SendFlags.NONE);
        }
        assertThat(refused(RdmaException.Reason.QUEUE_FULL, () -> postWrite(16, SendFlags.NONE)))
                .hasMessageContaining("16");
        // All of them are done once a read by another queue pair sees the last one; still no slot is free.
        assertThat(a.cq.await(a.completion, java.time.Duration.ofMillis(100))).isFalse();
        refused(RdmaException.Reason.QUEUE_FULL, () -> postWrite(16, SendFlags.SIGNALED));
    }

    @Test
    void aSignalledRequestGivesBackAllSlotsBeforeIt() throws InterruptedException {
        deepen(16, 16);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 15; i++) {
                postWrite(i, SendFlags.NONE);
            }
            postWrite(15, SendFlags.SIGNALED);
            refused(RdmaException.Reason.QUEUE_FULL, () -> postWrite(16, SendFlags.NONE));
            assertThat(a.next().orThrow().wrId()).isEqualTo(15);
        }
        assertThat(a.cq.poll(a.completion)).isFalse();
    }

    @Test
    void aFullReceiveQueueIsRefusedAndRefills() throws InterruptedException {
        deepen(16, 5);
        for (int i = 0; i < 5; i++) {
            b.qp.postReceive(i, b.region, 0, 8);
        }
        assertThat(refused(RdmaException.Reason.QUEUE_FULL, () -> b.qp.postReceive(5, b.region, 0, 8)))
                .hasMessageContaining("5");
        a.qp.postSend(1, a.region, 0, 8, SendFlags.SIGNALED);
        assertThat(b.next().orThrow().wrId()).isZero();
        b.qp.postReceive(5, b.region, 0, 8);
    }

    @ParameterizedTest
    @EnumSource(
            value = QueuePairState.class,
            names = {"RESET", "INIT", "RTR"})
    void sendsNeedReadyToSend(QueuePairState state) {
        QueuePair qp = a.replaceQueuePair(a.options());
        if (state != QueuePairState.RESET) {
            qp.modify(init());
        }
        if (state == QueuePairState.RTR) {
            qp.modify(QueuePairStateTest.readyToReceive(b.qp.endpoint()));
        }
        assertThat(refused(RdmaException.Reason.INVALID_STATE, () -> postWrite(1, SendFlags.SIGNALED)))
                .hasMessageContaining("RTS")
                .hasMessageContaining(state.name());
        if (state == QueuePairState.RESET) {
            assertThat(refused(RdmaException.Reason.INVALID_STATE, () -> qp.postReceive(1, a.region, 0, 8)))
                    .hasMessageContaining("RESET")
                    .hasMessageContaining("INIT");
        } else {
            qp.postReceive(1, a.region, 0, 8);
        }
    }

    private static QueuePairAttributes init() {
        return new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .port(1)
                .pkeyIndex(0)
                .accessFlags(0);
    }

    @Test
    void anAtomicNeedsEightBytesForTheOldValue() throws InterruptedException {
        SendRequest request = a.qp.sendRequest();
        for (int length : new int[] {0, 4, 7, 9, 16}) {
            assertThat(refused(
                            RdmaException.Reason.INVALID_ARGUMENT,
                            () -> request.fetchAndAdd(b.region.address(), b.region.rkey(), 1)
                                    .sge(a.region, 0, length)
                                    .post()))
                    .hasMessageContaining("8 bytes")
                    .hasMessageContaining("" + length);
        }
        refused(
                RdmaException.Reason.INVALID_ARGUMENT,
                () -> request.compareAndSwap(b.region.address(), b.region.rkey(), 0, 1)
                        .post());
        assertStillWorks();
    }

    @Test
    void readsAndAtomicsCannotBeInline() throws InterruptedException {
        refused(
                RdmaException.Reason.INVALID_ARGUMENT,
                () -> a.qp.postRead(1, a.region, 0, 8, b.region.address(), b.region.rkey(), SendFlags.INLINE));
        refused(
                RdmaException.Reason.INVALID_ARGUMENT,
                () -> a.qp.postFetchAndAdd(
                        1,
                        a.region.address(),
                        a.region.lkey(),
                        b.region.address(),
                        b.region.rkey(),
                        1,
                        SendFlags.INLINE));
        assertStillWorks();
    }

    @Test
    void aMessageAboveTwoGibibytesIsRefused() throws InterruptedException {
        assertThat(a.context.queryPort(1).maxMessageSize()).isEqualTo(1L << 31);
        SendRequest request = a.qp.sendRequest()
                .write(b.region.address(), b.region.rkey())
                .sge(a.region.address(), Integer.MAX_VALUE, a.region.lkey())
                .sge(a.region.address(), 2, a.region.lkey());
        assertThat(refused(RdmaException.Reason.INVALID_ARGUMENT, request::post))
                .hasMessageContaining("2147483649")
                .hasMessageContaining("2147483648");
        assertStillWorks();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE})
    void aNegativeLengthIsMisuse(int length) throws InterruptedException {
        assertThatIllegalArgumentException().isThrownBy(() -> a.qp.postSend(1, a.region, 0, length, SendFlags.NONE));
        assertThatIllegalArgumentException().isThrownBy(() -> b.qp.postReceive(1, b.region, 0, length));
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> a.qp.sendRequest().send().sge(a.region, 0, length).post());
        assertStillWorks();
    }

    @Test
    void aRequestOfAnotherQueuePairIsMisuse() {
        SendRequest request = b.qp.sendRequest().send();
        assertThatIllegalArgumentException().isThrownBy(() -> a.qp.post(request));
    }

    @Test
    void thirtyTwoEntriesWithEmptyOnesGatherAndScatterInOrder() throws InterruptedException {
        SendRequest request = a.qp.sendRequest().send().signaled();
        ReceiveRequest receive = new ReceiveRequest().id(3);
        int total = 0;
        for (int i = 0; i < 32; i++) {
            int length = i % 3 == 0 ? 0 : 100 + i;
            // Entries lie backwards, so that order matters; empty ones name nothing at all.
            request.sge(
                    length == 0 ? 0 : a.region.address() + (31 - i) * 200L, length, length == 0 ? 0 : a.region.lkey());
            total += length;
        }
        int received = 0;
        for (int i = 0; i < 32; i++) {
            int length = i % 5 == 1 ? 0 : 120;
            receive.sge(length == 0 ? -1 : b.region.address() + i * 128L, length, length == 0 ? -1 : b.region.lkey());
            received += length;
        }
        assertThat(received).isGreaterThanOrEqualTo(total);
        b.qp.post(receive);
        request.post();
        assertThat(b.next().orThrow().byteLength()).isEqualTo(total);
        a.next().orThrow();
        assertThat(scattered(total)).isEqualTo(gathered(total));
    }

    private byte[] gathered(int total) {
        byte[] bytes = new byte[total];
        int at = 0;
        for (int i = 0; i < 32; i++) {
            for (int j = 0; i % 3 != 0 && j < 100 + i; j++) {
                bytes[at++] = a.memory.get(JAVA_BYTE, (31 - i) * 200L + j);
            }
        }
        return bytes;
    }

    private byte[] scattered(int total) {
        byte[] bytes = new byte[total];
        int at = 0;
        for (int i = 0; i < 32; i++) {
            for (int j = 0; i % 5 != 1 && j < 120 && at < total; j++) {
                bytes[at++] = b.memory.get(JAVA_BYTE, i * 128L + j);
            }
        }
        return bytes;
    }

    @Test
    void inlineDataIsCapturedWhenPosted() throws InterruptedException {
        byte[] data = "captured at once".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        byte[] heap = data.clone();
        SendRequest request =
                a.qp.sendRequest().send().inline(MemorySegment.ofArray(heap)).signaled();
        // No receive is posted, so the first packet is refused and the payload is sent once more later.
        request.post();
        a.memory.asSlice(0, 64).copyFrom(MemorySegment.ofArray(java.util.Arrays.copyOf(data, 64)));
        a.qp.postSend(2, a.region, 0, data.length, SendFlags.INLINE | SendFlags.SIGNALED);
        java.util.Arrays.fill(heap, (byte) 0);
        a.memory.asSlice(0, 64).fill((byte) 0);
        b.qp.postReceive(1, b.region, 0, 64);
        b.qp.postReceive(2, b.region, 64, 64);
        b.next().orThrow();
        b.next().orThrow();
        a.next().orThrow();
        a.next().orThrow();
        assertThat(b.memory.asSlice(0, data.length).toArray(JAVA_BYTE)).isEqualTo(data);
        assertThat(b.memory.asSlice(64, data.length).toArray(JAVA_BYTE)).isEqualTo(data);
    }

    @Test
    void inlineStaysInlineWhenFlagsAreSetAfterIt() throws InterruptedException {
        b.qp.postReceive(1, b.region, 0, 64);
        a.qp.sendRequest()
                .send()
                .inline(MemorySegment.ofArray(new byte[] {1, 2, 3}))
                .flags(SendFlags.SIGNALED)
                .post();
        a.next().orThrow();
        assertThat(b.next().orThrow().byteLength()).isEqualTo(3);
        assertThat(b.memory.asSlice(0, 3).toArray(JAVA_BYTE)).containsExactly(1, 2, 3);
    }

    @Test
    void inlineByAddressOutsideTheRegionIsRefused() throws InterruptedException {
        refused(
                RdmaException.Reason.INVALID_ARGUMENT,
                () -> a.qp.postSend(1, a.region, a.region.length() - 4, 8, SendFlags.INLINE));
        assertStillWorks();
    }

    @Test
    void emptyMessagesOfAllKindsComplete() throws InterruptedException {
        WorkCompletion done = a.completion;
        for (int i = 0; i < 6; i++) {
            b.qp.post(new ReceiveRequest().id(i));
        }
        SendRequest request = a.qp.sendRequest();
        request.send().signaled().post();
        request.sendWithImmediate(5).signaled().post();
        request.send().inline(MemorySegment.ofArray(new byte[0])).signaled().post();
        request.send().sge(0, 0, 0).signaled().post();
        request.writeWithImmediate(0, 0, 6).signaled().post();
        a.qp.postSend(0, 0, 0, 0, SendFlags.SIGNALED);
        request.write(0, 0).signaled().post();
        request.read(0, 0).signaled().post();
        for (int i = 0; i < 8; i++) {
            assertThat(a.next().orThrow().byteLength()).isZero();
        }
        for (int i = 0; i < 6; i++) {
            assertThat(b.next().orThrow().byteLength()).isZero();
            assertThat(b.completion.wrId()).isEqualTo(i);
        }
        assertThat(a.cq.poll(done)).isFalse();
    }

    @Test
    void aQueuePairWithoutEntriesSendsNothingButEmptyMessages() throws InterruptedException {
        devices.replaceQueuePairs(options -> options.withMaxSge(0, 0).withMaxInlineData(0));
        devices.connect();
        b.qp.post(new ReceiveRequest().id(1));
        a.qp.sendRequest().send().signaled().post();
        a.next().orThrow();
        b.next().orThrow();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> a.qp.sendRequest().send().sge(a.region, 0, 1).post());
    }
}
