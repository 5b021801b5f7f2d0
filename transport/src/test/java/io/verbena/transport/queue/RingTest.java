// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Completion rings and work queues, one thread. */
final class RingTest {
    private final WorkCompletion view = new WorkCompletion();
    private final List<String> released = new ArrayList<>();

    private static boolean push(CompletionRing ring, long wrId, int handle, long sendIndex) {
        return push(ring, wrId, handle, sendIndex, WorkCompletionStatus.SUCCESS, false);
    }

    private static boolean push(
            CompletionRing ring,
            long wrId,
            int handle,
            long sendIndex,
            WorkCompletionStatus status,
            boolean solicited) {
        return ring.push(
                wrId,
                status,
                WorkCompletionOpcode.RECV,
                2,
                solicited,
                0x8000_0001,
                1L << 31,
                100 + handle,
                5,
                6,
                handle,
                sendIndex,
                77);
    }

    private boolean poll(CompletionRing ring) {
        return ring.poll(view, (handle, qpNumber, index) -> released.add(handle + "/" + qpNumber + ":" + index));
    }

    @Test
    void aCompletionComesOutAsItWentIn() {
        CompletionRing ring = new CompletionRing(3);
        assertThat(poll(ring)).isFalse();
        push(ring, -7, 3, 41);
        assertThat(ring.isEmpty()).isFalse();
        assertThat(poll(ring)).isTrue();
        assertThat(view.wrId()).isEqualTo(-7);
        assertThat(view.opcode()).isEqualTo(WorkCompletionOpcode.RECV);
        assertThat(view.byteLength()).isEqualTo(1L << 31);
        assertThat(view.immediate()).isEqualTo(0x8000_0001);
        assertThat(view.qpNumber()).isEqualTo(103);
        assertThat(view.sourceQp()).isEqualTo(5);
        assertThat(view.vendorError()).isEqualTo(6);
        assertThat(released).containsExactly("3/103:42");
        for (WorkCompletionStatus status : WorkCompletionStatus.values()) {
            push(ring, 1, 3, -1, status, false);
            assertThat(poll(ring)).isTrue();
            assertThat(view.status()).isEqualTo(status);
        }
        assertThat(released).hasSize(1);
        assertThat(ring.isEmpty()).isTrue();
    }

    /** Against a deque, around the ring many times. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 64})
    void holdsAsManyAsItsCapacityAndThenIsOverrunForGood(int capacity) {
        CompletionRing ring = new CompletionRing(capacity);
        Random random = new Random(capacity);
        Deque<Long> model = new ArrayDeque<>();
        for (long i = 0; i < 2000; i++) {
            if (random.nextBoolean() && model.size() < capacity) {
                assertThat(push(ring, i, 1, -1)).isTrue();
                model.add(i);
            } else {
                assertThat(poll(ring)).isEqualTo(!model.isEmpty());
                if (!model.isEmpty()) {
                    assertThat(view.wrId()).isEqualTo(model.remove());
                }
            }
        }
        while (model.size() < capacity) {
            push(ring, 0, 1, -1);
            model.add(0L);
        }
        assertThat(ring.overrun()).isFalse();
        assertThat(push(ring, 1, 1, -1)).isFalse();
        assertThat(ring.overrun()).isTrue();
        assertThat(poll(ring)).isTrue();
        assertThat(push(ring, 1, 1, -1)).isFalse();
    }

    @Test
    void removedCompletionsAreSkippedAndReleaseNothing() {
        CompletionRing ring = new CompletionRing(8);
        push(ring, 1, 1, 0);
        push(ring, 2, 2, 0);
        push(ring, 3, 1, 1);
        push(ring, 4, 2, 1);
        push(ring, 5, 1, 2);
        ring.remove(1, 101);
        ring.remove(2, 999);
        assertThat(poll(ring)).isTrue();
        assertThat(view.wrId()).isEqualTo(2);
        assertThat(poll(ring)).isTrue();
        assertThat(view.wrId()).isEqualTo(4);
        assertThat(poll(ring)).isFalse();
        assertThat(ring.isEmpty()).isTrue();
        assertThat(released).containsExactly("2/102:1", "2/102:2");
    }

    /** Else a queue pair that is gone would make the queue overrun for those that are not. */
    @Test
    void removedCompletionsGiveTheirRoomBack() {
        CompletionRing ring = new CompletionRing(3);
        for (int i = 0; i < 2; i++) {
            push(ring, i, 9, -1);
            poll(ring);
        }
        push(ring, 1, 1, -1);
        push(ring, 2, 2, -1);
        push(ring, 3, 1, -1);
        ring.remove(1, 101);
        assertThat(ring.size()).isEqualTo(1);
        push(ring, 4, 2, -1);
        assertThat(push(ring, 5, 2, -1)).isTrue();
        for (int id : new int[] {2, 4, 5}) {
            assertThat(poll(ring)).isTrue();
            assertThat(view.wrId()).isEqualTo(id);
        }
        assertThat(ring.overrun()).isFalse();
    }

    @Test
    void aSolicitedCompletionThatIsRemovedRaisesNothing() {
        CompletionRing ring = new CompletionRing(8);
        push(ring, 1, 2, -1);
        push(ring, 2, 1, -1, WorkCompletionStatus.SUCCESS, true);
        ring.remove(1, 101);
        assertThat(ring.arm(true)).isFalse();
        push(ring, 3, 1, -1);
        push(ring, 4, 2, -1, WorkCompletionStatus.SUCCESS, true);
        push(ring, 5, 2, -1);
        ring.remove(1, 101);
        assertThat(ring.takeEvent()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5, 64})
    void anotherCapacityKeepsWhatIsThereInOrder(int capacity) {
        CompletionRing ring = new CompletionRing(4);
        for (int i = 0; i < 6; i++) {
            push(ring, i, 1, -1);
            poll(ring);
        }
        for (int i = 0; i < 3; i++) {
            push(ring, 10 + i, 1, -1);
        }
        assertThat(ring.resize(2)).isFalse();
        assertThat(ring.capacity()).isEqualTo(4);
        assertThat(ring.resize(capacity)).isTrue();
        assertThat(ring.capacity()).isEqualTo(capacity);
        for (int i = 3; i < capacity; i++) {
            assertThat(push(ring, 10 + i, 1, -1)).isTrue();
        }
        for (int i = 0; i < capacity; i++) {
            assertThat(poll(ring)).isTrue();
            assertThat(view.wrId()).isEqualTo(10 + i);
        }
        assertThat(poll(ring)).isFalse();
    }

    @Test
    void armedRingFiresOnce() {
        CompletionRing ring = new CompletionRing(8);
        assertThat(ring.arm(false)).isFalse();
        assertThat(ring.takeEvent()).isFalse();
        push(ring, 1, 1, -1);
        assertThat(ring.takeEvent()).isTrue();
        assertThat(ring.takeEvent()).isFalse();
        push(ring, 2, 1, -1);
        assertThat(ring.takeEvent()).isFalse();
        assertThat(ring.arm(false)).as("what is there already fires").isTrue();
        assertThat(ring.takeEvent()).isFalse();
        poll(ring);
        poll(ring);
        assertThat(ring.arm(false)).isFalse();
    }

    /** 6.A 20: errors fire a ring that is armed for solicited ones only. */
    @Test
    void ringArmedForSolicitedFiresForThoseAndForErrors() {
        CompletionRing ring = new CompletionRing(8);
        assertThat(ring.arm(true)).isFalse();
        push(ring, 1, 1, -1);
        assertThat(ring.takeEvent()).isFalse();
        push(ring, 2, 1, -1, WorkCompletionStatus.SUCCESS, true);
        assertThat(ring.takeEvent()).isTrue();
        poll(ring);
        poll(ring);
        assertThat(ring.arm(true)).isFalse();
        push(ring, 3, 1, -1, WorkCompletionStatus.WR_FLUSH_ERR, false);
        assertThat(ring.takeEvent()).isTrue();
    }

    /** ibv_req_notify_cq(3): a request for any stays when one for solicited follows; the other way round it widens. */
    @Test
    void widerRequestStays() {
        CompletionRing ring = new CompletionRing(8);
        ring.arm(false);
        ring.arm(true);
        push(ring, 1, 1, -1);
        assertThat(ring.takeEvent()).isTrue();
        poll(ring);
        ring.arm(true);
        ring.arm(false);
        push(ring, 2, 1, -1);
        assertThat(ring.takeEvent()).isTrue();
    }

    @Test
    void dirtyIsMarkedOncePerCycle() {
        CompletionRing ring = new CompletionRing(2);
        assertThat(ring.markDirty()).isTrue();
        assertThat(ring.markDirty()).isFalse();
        ring.clearDirty();
        assertThat(ring.markDirty()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 8})
    void workQueueGivesOutAsManySlotsAsItsDepth(int depth) {
        WorkQueue queue = new WorkQueue(depth, 64);
        for (long round = 0; round < 100; round++) {
            for (int i = 0; i < depth; i++) {
                assertThat(queue.hasRoom(i)).isTrue();
            }
            assertThat(queue.hasRoom(depth)).isFalse();
            assertThat(queue.producerIndex()).isEqualTo(round * depth);
            queue.publish(depth);
            assertThat(queue.hasRoom(0)).isFalse();
            assertThat(queue.tail()).isEqualTo((round + 1) * depth);
            queue.release(queue.tail() - 1);
            assertThat(queue.hasRoom(0)).isEqualTo(depth > 1);
            queue.release(0);
            assertThat(queue.hasRoom(0)).as("moving backwards does nothing").isEqualTo(depth > 1);
            queue.release(queue.tail());
        }
    }

    /** Slots in use never share bytes, and lie inside the ring. */
    @Test
    void workQueueSlotsDoNotOverlap() {
        for (int depth = 1; depth < 40; depth++) {
            WorkQueue queue = new WorkQueue(depth, 96);
            for (long first = 0; first < 100; first += 7) {
                List<Long> offsets = new ArrayList<>();
                for (int i = 0; i < depth; i++) {
                    offsets.add(queue.offset(first + i));
                }
                assertThat(offsets)
                        .doesNotHaveDuplicates()
                        .allMatch(o -> o % 96 == 0 && o + 96 <= queue.ring().byteSize());
            }
        }
    }

    @Test
    void slotsKeepTheirFieldsApart() {
        WorkQueue queue = new WorkQueue(2, SendSlot.bytes(3, 0));
        var ring = queue.ring();
        long o = queue.offset(1);
        SendSlot.operation(ring, o, -1, 6, 15, 0xdeadbeef, 0x8000_0000L);
        SendSlot.payload(ring, o, 3, true);
        SendSlot.remote(ring, o, -2, -3);
        SendSlot.atomic(ring, o, -4, -5);
        SendSlot.psns(ring, o, 0xffffff, 1 << 23);
        for (int i = 0; i < 3; i++) {
            SgeList.set(ring, o + SendSlot.HEADER_BYTES, i, -10 - i, -20 - i, -30 - i);
        }
        assertThat(SendSlot.wrId(ring, o)).isEqualTo(-1);
        assertThat(SendSlot.opcode(ring, o)).isEqualTo(6);
        assertThat(SendSlot.flags(ring, o)).isEqualTo(15);
        assertThat(SendSlot.immediate(ring, o)).isEqualTo(0xdeadbeef);
        assertThat(SendSlot.length(ring, o)).isEqualTo(0x8000_0000L);
        assertThat(SendSlot.sgeCount(ring, o)).isEqualTo(3);
        assertThat(SendSlot.inline(ring, o)).isTrue();
        assertThat(SendSlot.remoteAddress(ring, o)).isEqualTo(-2);
        assertThat(SendSlot.rkey(ring, o)).isEqualTo(-3);
        assertThat(SendSlot.compareAdd(ring, o)).isEqualTo(-4);
        assertThat(SendSlot.swap(ring, o)).isEqualTo(-5);
        assertThat(SendSlot.firstPsn(ring, o)).isEqualTo(0xffffff);
        assertThat(SendSlot.packets(ring, o)).isEqualTo(1 << 23);
        for (int i = 0; i < 3; i++) {
            assertThat(SgeList.address(ring, o + SendSlot.HEADER_BYTES, i)).isEqualTo(-10 - i);
            assertThat(SgeList.length(ring, o + SendSlot.HEADER_BYTES, i)).isEqualTo((1L << 32) - 20 - i);
            assertThat(SgeList.lkey(ring, o + SendSlot.HEADER_BYTES, i)).isEqualTo(-30 - i);
        }
    }
}
