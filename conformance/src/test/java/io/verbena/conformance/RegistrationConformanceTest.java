// SPDX-License-Identifier: Apache-2.0
package io.verbena.conformance;

import static io.verbena.verbs.AccessFlag.LOCAL_WRITE;
import static io.verbena.verbs.AccessFlag.REMOTE_READ;
import static io.verbena.verbs.DeviceCapability.REREGISTER;
import static io.verbena.verbs.WorkCompletionStatus.LOC_PROT_ERR;
import static io.verbena.verbs.WorkCompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.WorkCompletionStatus.REM_OP_ERR;
import static io.verbena.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryRegionChange;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** MR-5 to MR-8: a region of b changes while a uses it. */
class RegistrationConformanceTest extends ConformanceSuite {
    private Pair pair;
    private MemoryRegion region;

    @BeforeEach
    void prepare() {
        require(REREGISTER);
        pair = rc();
        region = b.register(b.memory, Side.ALL);
    }

    private void write(long address, WorkCompletionStatus status) throws InterruptedException {
        pair.a().postWrite(1, a.region, 0, 8, address, region.rkey(), SIGNALED);
        a.expect(status);
        if (status != SUCCESS) {
            pair.reconnect();
        }
    }

    /** A message into a receive that names the region with this address. */
    private void message(long address, WorkCompletionStatus status) throws InterruptedException {
        pair.b().postReceive(2, address, 64, region.lkey());
        pair.a().postSend(3, a.region, 0, 8, SIGNALED);
        a.expect(status);
        b.expect(status == SUCCESS ? SUCCESS : LOC_PROT_ERR);
        if (status != SUCCESS) {
            pair.reconnect();
        }
    }

    @Test
    @Conforms("MR-5")
    void aRegionMovesToOtherMemory() throws InterruptedException {
        int rkey = region.rkey();
        MemorySegment other = Arena.ofAuto().allocate(100, 8);
        long old = region.address();
        region.reregister(MemoryRegionChange.to(other));
        assertThat(region.address()).isEqualTo(other.address());
        assertThat(region.length()).isEqualTo(100);
        assertThat(region.rkey()).isEqualTo(rkey);
        a.longAt(0, 42);
        write(region.address(), SUCCESS);
        assertThat(other.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
        message(region.address(), SUCCESS);
        b.memory.fill((byte) 0);
        message(old, REM_OP_ERR);
        write(old, REM_ACCESS_ERR);
        b.assertZero(0, 64);
    }

    @Test
    @Conforms("MR-6")
    void aRegionLosesRightsAndGetsThemBack() throws InterruptedException {
        for (int round = 0; round < 2; round++) {
            write(region.address(), SUCCESS);
            region.reregister(MemoryRegionChange.to(LOCAL_WRITE, REMOTE_READ));
            assertThat(region.access()).isEqualTo(AccessFlag.mask(LOCAL_WRITE, REMOTE_READ));
            write(region.address(), REM_ACCESS_ERR);
            region.reregister(MemoryRegionChange.to(Side.ALL));
        }
        write(region.address(), SUCCESS);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> region.reregister(MemoryRegionChange.to(AccessFlag.REMOTE_WRITE)));
        write(region.address(), SUCCESS);
    }

    @Test
    @Conforms("MR-7")
    void aRegionMovesToAnotherDomainAndBack() throws InterruptedException {
        ProtectionDomain other = b.context.allocateProtectionDomain();
        region.reregister(MemoryRegionChange.to(other));
        assertThat(region.protectionDomain()).isSameAs(other);
        message(region.address(), REM_OP_ERR);
        write(region.address(), REM_ACCESS_ERR);
        region.reregister(MemoryRegionChange.to(b.domain));
        other.close();
        message(region.address(), SUCCESS);
        write(region.address(), SUCCESS);
    }

    @Test
    @Conforms("MR-8")
    void everythingChangesAtOnceUnderAtomics() throws InterruptedException {
        MemorySegment other = Arena.ofAuto().allocate(64, 8);
        ProtectionDomain domain = b.context.allocateProtectionDomain();
        region.reregister(MemoryRegionChange.to(other).and(domain).and(REMOTE_READ));
        assertThat(region.segment()).isEqualTo(other);
        assertThat(region.protectionDomain()).isSameAs(domain);
        assertThat(region.access()).isEqualTo(REMOTE_READ.code());
        region.reregister(MemoryRegionChange.to(other).and(b.domain).and(Side.ALL));
        domain.close();
        for (int i = 0; i < 10; i++) {
            MemorySegment target = i % 2 == 0 ? other : b.memory;
            region.reregister(MemoryRegionChange.to(target));
            pair.a()
                    .postFetchAndAdd(
                            1, a.region.address(), a.region.lkey(), region.address(), region.rkey(), 3, SIGNALED);
            a.expect(SUCCESS);
        }
        assertThat(other.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(15);
        assertThat(b.longAt(0)).isEqualTo(15);
    }
}
