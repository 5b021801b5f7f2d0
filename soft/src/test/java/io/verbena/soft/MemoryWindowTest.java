// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.DeviceCapability;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryRegionChange;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowBinding;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory windows of {@code b}, which {@code a} uses (MW-1 to MW-7 of the list of what must work). */
class MemoryWindowTest {
    private static final int AT = 4096;
    private static final int LENGTH = 1024;

    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;
    private MemoryRegion region;

    @BeforeEach
    void open() {
        devices = new TwoDevices(1 << 16);
        a = devices.a;
        b = devices.b;
        List<AccessFlag> flags = new ArrayList<>(List.of(TwoDevices.ALL));
        flags.add(AccessFlag.MEMORY_WINDOW_BIND);
        region = b.keep(b.domain.register(b.memory, flags.toArray(new AccessFlag[0])));
        a.memory.set(JAVA_LONG, 0, 99);
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private MemoryWindow window(MemoryWindowType type) {
        return b.keep(b.domain.allocateMemoryWindow(type));
    }

    private MemoryWindowBinding binding(AccessFlag... access) {
        return MemoryWindowBinding.of(region, AT, LENGTH, access);
    }

    /** Binds a window of either type and waits for the completion. */
    private void bind(MemoryWindow window, MemoryWindowBinding binding) throws InterruptedException {
        if (window.type() == MemoryWindowType.TYPE_1) {
            b.qp.bind(window, binding, 7, SendFlags.SIGNALED);
        } else {
            b.qp.sendRequest()
                    .bind(window, window.nextRkey(), binding)
                    .id(7)
                    .signaled()
                    .post();
        }
        assertThat(b.next().orThrow().opcode()).isEqualTo(WorkCompletionOpcode.BIND_MW);
        assertThat(b.completion.wrId()).isEqualTo(7);
        assertThat(b.completion.byteLength()).isZero();
    }

    private WorkCompletionStatus write(int rkey) throws InterruptedException {
        a.qp.postWrite(1, a.region, 0, 8, region.address() + AT, rkey, SendFlags.SIGNALED);
        return a.next().status();
    }

    private static void assertReason(RdmaException.Reason reason, ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(reason));
    }

    @Test
    void theDeviceSaysWhatItCan() {
        assertThat(b.context.queryDevice().capabilities())
                .contains(
                        DeviceCapability.MEMORY_WINDOW_TYPE_1,
                        DeviceCapability.MEMORY_WINDOW_TYPE_2,
                        DeviceCapability.LOCAL_INVALIDATE,
                        DeviceCapability.SEND_WITH_INVALIDATE,
                        DeviceCapability.REREGISTER,
                        DeviceCapability.FLUSH,
                        DeviceCapability.ATOMIC_WRITE);
        assertThat(b.context.queryDevice().maxMw()).isPositive();
    }

    @ParameterizedTest
    @EnumSource
    void aWindowBelongsToItsDomainUntilItIsClosed(MemoryWindowType type) {
        try (ProtectionDomain domain = b.context.allocateProtectionDomain()) {
            MemoryWindow window = domain.allocateMemoryWindow(type);
            assertThat(window.type()).isEqualTo(type);
            assertThat(window.protectionDomain()).isSameAs(domain);
            assertReason(RdmaException.Reason.BUSY, domain::close);
            window.close();
            window.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void theBoundPartIsWrittenUnderTheNewKey(MemoryWindowType type) throws InterruptedException {
        MemoryWindow window = window(type);
        int before = window.rkey();
        bind(window, binding(AccessFlag.REMOTE_WRITE));
        assertThat(window.rkey()).isNotEqualTo(before);
        assertThat(window.rkey() >>> 8).as("the index stays").isEqualTo(before >>> 8);
        assertThat(write(window.rkey())).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(b.memory.get(JAVA_LONG, AT)).isEqualTo(99);
        assertThat(write(before)).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @EnumSource
    void withoutTheRightThePeerIsDeniedAccess(MemoryWindowType type) throws InterruptedException {
        MemoryWindow window = window(type);
        bind(window, binding(AccessFlag.REMOTE_READ));
        assertThat(write(window.rkey())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void aBindOfNothingTakesTheRightsOfATypeOneWindowBack() throws InterruptedException {
        MemoryWindow window = window(MemoryWindowType.TYPE_1);
        bind(window, binding(AccessFlag.REMOTE_WRITE));
        int used = window.rkey();
        assertThat(write(used)).isEqualTo(WorkCompletionStatus.SUCCESS);
        bind(window, MemoryWindowBinding.of(region, 0, 0));
        assertThat(window.rkey()).isNotEqualTo(used);
        assertThat(write(used)).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void aTypeTwoWindowTakesAnyLowByteAndIsInvalidatedHere() throws InterruptedException {
        MemoryWindow window = window(MemoryWindowType.TYPE_2);
        for (int tag : new int[] {0, 0xff, 0x80, 0x80}) {
            int rkey = (window.rkey() & ~0xff) | tag;
            b.qp.sendRequest()
                    .bind(window, rkey, binding(AccessFlag.REMOTE_WRITE))
                    .signaled()
                    .post();
            assertThat(window.rkey()).isEqualTo(rkey);
            b.next().orThrow();
            assertThat(write(rkey)).isEqualTo(WorkCompletionStatus.SUCCESS);
            b.qp.sendRequest().localInvalidate(rkey).signaled().post();
            assertThat(b.next().orThrow().opcode()).isEqualTo(WorkCompletionOpcode.LOCAL_INV);
        }
        assertThat(write(window.rkey())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void thePeerInvalidatesATypeTwoWindow() throws InterruptedException {
        MemoryWindow window = window(MemoryWindowType.TYPE_2);
        bind(window, binding(AccessFlag.REMOTE_WRITE));
        assertThat(write(window.rkey())).isEqualTo(WorkCompletionStatus.SUCCESS);
        b.qp.postReceive(3, b.region, 0, 64);
        a.qp.sendRequest()
                .sendWithInvalidate(window.rkey())
                .sge(a.region, 0, 8)
                .signaled()
                .post();
        assertThat(a.next().orThrow().opcode()).isEqualTo(WorkCompletionOpcode.SEND);
        WorkCompletion received = b.next().orThrow();
        assertThat(received.flags()).isEqualTo(WorkCompletion.WITH_INVALIDATE);
        assertThat(received.invalidatedKey()).isEqualTo(window.rkey());
        assertThat(received.byteLength()).isEqualTo(8);
        assertThat(received.hasImmediate()).isFalse();
        assertThat(write(window.rkey())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @Test
    void aKeyThatCannotBeInvalidatedIsAnErrorOnBothSides() throws InterruptedException {
        b.qp.postReceive(3, b.region, 0, 64);
        a.qp.sendRequest().sendWithInvalidate(region.rkey()).signaled().post();
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(b.next().status()).isEqualTo(WorkCompletionStatus.REM_INV_REQ_ERR);
        assertThat(b.qp.state()).isEqualTo(QueuePairState.ERR);
    }

    @ParameterizedTest
    @EnumSource
    void aBoundWindowThatIsClosedIsDead(MemoryWindowType type) throws InterruptedException {
        MemoryWindow window = b.domain.allocateMemoryWindow(type);
        bind(window, binding(AccessFlag.REMOTE_WRITE));
        assertThat(write(window.rkey())).isEqualTo(WorkCompletionStatus.SUCCESS);
        window.close();
        assertThat(write(window.rkey())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @EnumSource
    void aRegionIsBusyWhileWindowsAreBoundToIt(MemoryWindowType type) throws InterruptedException {
        MemoryWindow window = b.domain.allocateMemoryWindow(type);
        bind(window, binding(AccessFlag.REMOTE_WRITE));
        assertReason(RdmaException.Reason.BUSY, region::close);
        assertReason(RdmaException.Reason.BUSY, () -> region.reregister(MemoryRegionChange.to(AccessFlag.LOCAL_WRITE)));
        assertThat(write(window.rkey())).isEqualTo(WorkCompletionStatus.SUCCESS);
        window.close();
        region.reregister(MemoryRegionChange.to(AccessFlag.LOCAL_WRITE));
        region.close();
    }

    @Test
    void aBindThatBreaksARuleFailsWithTheQueuePair() throws InterruptedException {
        MemoryWindow window = window(MemoryWindowType.TYPE_1);
        b.qp.bind(window, MemoryWindowBinding.of(b.region, 0, 8, AccessFlag.REMOTE_READ), 4, SendFlags.NONE);
        assertThat(b.next().status()).isEqualTo(WorkCompletionStatus.MW_BIND_ERR);
        assertThat(b.completion.wrId()).isEqualTo(4);
        assertThat(b.qp.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void anUnreliableConnectionBindsAndEndsInSqe() throws InterruptedException {
        devices.a.replaceQueuePair(QueuePairOptions.uc(a.cq));
        devices.b.replaceQueuePair(QueuePairOptions.uc(b.cq));
        devices.connect(new QueuePairAttributes());
        MemoryWindow window = window(MemoryWindowType.TYPE_2);
        bind(window, binding(AccessFlag.REMOTE_WRITE));
        assertThat(write(window.rkey())).isEqualTo(WorkCompletionStatus.SUCCESS);
        b.qp.postReceive(3, b.region, 0, 64);
        a.qp.postSend(2, a.region, 0, 8, SendFlags.NONE);
        b.next().orThrow();
        assertThat(b.memory.get(JAVA_LONG, AT)).isEqualTo(99);
        b.qp.sendRequest().localInvalidate(region.rkey()).post();
        assertThat(b.next().status()).isEqualTo(WorkCompletionStatus.LOC_QP_OP_ERR);
        assertThat(b.qp.state()).isEqualTo(QueuePairState.SQE);
    }

    @Test
    void whatCannotBeABindIsNotPosted() {
        MemoryWindow one = window(MemoryWindowType.TYPE_1);
        MemoryWindow two = window(MemoryWindowType.TYPE_2);
        MemoryWindowBinding good = binding(AccessFlag.REMOTE_WRITE);
        int rkey = two.rkey();
        assertReason(RdmaException.Reason.INVALID_ARGUMENT, () -> b.qp.bind(two, good, 1, 0));
        assertReason(
                RdmaException.Reason.INVALID_ARGUMENT,
                () -> b.qp.sendRequest().bind(one, one.nextRkey(), good).post());
        assertReason(
                RdmaException.Reason.INVALID_ARGUMENT,
                () -> b.qp.sendRequest().bind(two, rkey ^ 0x100, good).post());
        assertReason(
                RdmaException.Reason.INVALID_ARGUMENT,
                () -> b.qp.sendRequest()
                        .bind(two, rkey, good)
                        .sge(b.region, 0, 8)
                        .post());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> a.qp.bind(one, good, 1, 0))
                .withMessageContaining("another device");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> b.qp.bind(one, MemoryWindowBinding.of(a.region, 0, 8), 1, 0))
                .withMessageContaining("another device");
        MemoryWindow closed = b.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        closed.close();
        assertReason(RdmaException.Reason.CLOSED, () -> b.qp.bind(closed, good, 1, 0));
        assertThat(two.rkey()).isEqualTo(rkey);
        assertThat(b.cq.poll(b.completion)).isFalse();
    }
}
