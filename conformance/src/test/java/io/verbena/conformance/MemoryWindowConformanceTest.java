// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.AccessFlag.LOCAL_WRITE;
import static io.verbena.verbs.AccessFlag.MEMORY_WINDOW_BIND;
import static io.verbena.verbs.AccessFlag.REMOTE_READ;
import static io.verbena.verbs.AccessFlag.REMOTE_WRITE;
import static io.verbena.verbs.DeviceCapability.LOCAL_INVALIDATE;
import static io.verbena.verbs.DeviceCapability.MEMORY_WINDOW_TYPE_1;
import static io.verbena.verbs.DeviceCapability.MEMORY_WINDOW_TYPE_2;
import static io.verbena.verbs.DeviceCapability.SEND_WITH_INVALIDATE;
import static io.verbena.verbs.MemoryWindowType.TYPE_1;
import static io.verbena.verbs.MemoryWindowType.TYPE_2;
import static io.verbena.verbs.WorkCompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.DeviceCapability;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowBinding;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.RdmaException.Reason;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** MW and SEND with invalidate: windows of b that a uses. */
class MemoryWindowConformanceTest extends ConformanceSuite {
    /** The window begins here in b's memory. */
    private static final int AT = 4096;

    private static final int LENGTH = 1000;

    private Pair pair;
    private MemoryRegion region;

    private MemoryWindow window(MemoryWindowType type, DeviceCapability... needed) {
        require(type == TYPE_1 ? MEMORY_WINDOW_TYPE_1 : MEMORY_WINDOW_TYPE_2);
        for (DeviceCapability capability : needed) {
            require(capability);
        }
        pair = rc();
        region = b.register(b.memory, LOCAL_WRITE, MEMORY_WINDOW_BIND);
        return b.keep(b.domain.allocateMemoryWindow(type));
    }

    private void bind(MemoryWindow window, int length, AccessFlag... access) throws InterruptedException {
        MemoryWindowBinding binding = MemoryWindowBinding.of(region, AT, length, access);
        if (window.type() == TYPE_1) {
            pair.b().bind(window, binding, 1, SIGNALED);
        } else {
            pair.b()
                    .post(pair.b()
                            .sendRequest()
                            .bind(window, window.nextRkey(), binding)
                            .signaled());
        }
        assertThat(b.expect(SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.BIND_MW);
    }

    private void write(long offset, int rkey, WorkCompletionStatus status) throws InterruptedException {
        a.fill(0, 64, 6);
        b.fill(offset, 64, 7);
        pair.a().postWrite(1, a.region, 0, 64, b.memory.address() + offset, rkey, SIGNALED);
        a.expect(status);
        b.assertHolds(offset, 64, status == SUCCESS ? 6 : 7);
    }

    @ParameterizedTest
    @EnumSource
    @Conforms("MW-1")
    void bothTypesAreAllocatedAndFreed(MemoryWindowType type) {
        MemoryWindow window = window(type);
        assertThat(window.type()).isEqualTo(type);
        assertThat(window.protectionDomain()).isSameAs(b.domain);
        assertThat(b.keep(b.domain.allocateMemoryWindow(type)).rkey()).isNotEqualTo(window.rkey());
        window.close();
        window.close();
        assertThatNullPointerException().isThrownBy(() -> b.domain.allocateMemoryWindow(null));
    }

    @Test
    @Conforms("MW-2")
    void aWindowOfType1IsBoundUsedAndTakenBack() throws InterruptedException {
        MemoryWindow window = window(TYPE_1);
        bind(window, LENGTH, REMOTE_WRITE);
        write(AT, window.rkey(), SUCCESS);
        write(AT + LENGTH - 64, window.rkey(), SUCCESS);
        int old = window.rkey();
        bind(window, 0);
        write(AT, old, REM_ACCESS_ERR);
        pair.reconnect();
        bind(window, LENGTH, REMOTE_WRITE);
        write(AT, window.rkey(), SUCCESS);
        write(AT + LENGTH - 63, window.rkey(), REM_ACCESS_ERR);
    }

    @Test
    @Conforms("MW-3")
    void aWindowOfType2IsBoundByWorkAndDiesByALocalInvalidate() throws InterruptedException {
        MemoryWindow window = window(TYPE_2, LOCAL_INVALIDATE);
        bind(window, LENGTH, REMOTE_WRITE);
        write(AT, window.rkey(), SUCCESS);
        pair.b().post(pair.b().sendRequest().localInvalidate(window.rkey()).signaled());
        assertThat(b.expect(SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.LOCAL_INV);
        write(AT, window.rkey(), REM_ACCESS_ERR);
    }

    @Test
    @Conforms({"MW-4", "RC-4"})
    void aSendWithInvalidateKillsItAndTellsTheKey() throws InterruptedException {
        MemoryWindow window = window(TYPE_2, SEND_WITH_INVALIDATE);
        bind(window, LENGTH, REMOTE_WRITE);
        write(AT, window.rkey(), SUCCESS);
        pair.b().postReceive(5, b.region, 0, 64);
        pair.a()
                .post(pair.a()
                        .sendRequest()
                        .sendWithInvalidate(window.rkey())
                        .sge(a.region, 0, 10)
                        .signaled());
        assertThat(a.expect(SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.SEND);
        WorkCompletion received = b.expect(SUCCESS);
        assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECV);
        assertThat(received.flags()).isEqualTo(WorkCompletion.WITH_INVALIDATE);
        assertThat(received.invalidatedKey()).isEqualTo(window.rkey());
        assertThat(received.byteLength()).isEqualTo(10);
        write(AT, window.rkey(), REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @EnumSource
    @Conforms("MW-5")
    void aWindowWithoutTheRightDeniesAccess(MemoryWindowType type) throws InterruptedException {
        MemoryWindow window = window(type);
        bind(window, LENGTH, REMOTE_READ);
        pair.a().postRead(1, a.region, 0, 64, region.address() + AT, window.rkey(), SIGNALED);
        a.expect(SUCCESS);
        write(AT, window.rkey(), REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @EnumSource
    @Conforms("MW-6")
    void freeingABoundWindowKillsItsKey(MemoryWindowType type) throws InterruptedException {
        MemoryWindow window = window(type);
        bind(window, LENGTH, REMOTE_WRITE);
        write(AT, window.rkey(), SUCCESS);
        assertRefused(Reason.BUSY, region::close);
        window.close();
        write(AT, window.rkey(), REM_ACCESS_ERR);
        region.close();
    }

    @Test
    @Conforms("MW-7")
    void theNewKeyIsWhatTheProgramChose() throws InterruptedException {
        MemoryWindow window = window(TYPE_2, LOCAL_INVALIDATE);
        int index = window.rkey() >>> 8;
        for (int tag : new int[] {0x7f, 0x80, 0x00, 0xff}) {
            int key = index << 8 | tag;
            MemoryWindowBinding binding = MemoryWindowBinding.of(region, AT, LENGTH, REMOTE_WRITE);
            pair.b().post(pair.b().sendRequest().bind(window, key, binding).signaled());
            b.expect(SUCCESS);
            assertThat(window.rkey()).isEqualTo(key);
            write(AT, key, SUCCESS);
            pair.b().post(pair.b().sendRequest().localInvalidate(key).signaled());
            b.expect(SUCCESS);
        }
        int next = window.nextRkey();
        assertThat(next >>> 8).isEqualTo(index);
        assertThat(next & 0xff).as("0xff + 1").isZero();
    }
}
