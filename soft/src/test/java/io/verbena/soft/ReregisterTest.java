// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryRegionChange;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A region of {@code b} is registered again (MR-5 to MR-8 of the list of what must work). */
class ReregisterTest {
    private final MemorySegment other = Arena.ofAuto().allocate(8192, 64);
    private TwoDevices devices;
    private TwoDevices.Side a;
    private TwoDevices.Side b;
    private MemoryRegion region;
    private int lkey;
    private int rkey;

    @BeforeEach
    void open() {
        devices = new TwoDevices(1 << 16);
        a = devices.a;
        b = devices.b;
        region = b.keep(b.domain.register(b.memory.asSlice(0, 4096), TwoDevices.ALL));
        lkey = region.lkey();
        rkey = region.rkey();
        a.memory.set(JAVA_LONG, 0, 99);
    }

    @AfterEach
    void close() {
        devices.close();
    }

    private WorkCompletionStatus write(long address) throws InterruptedException {
        a.qp.postWrite(1, a.region, 0, 8, address, rkey, SendFlags.SIGNALED);
        return a.next().status();
    }

    private void assertSameKeys() {
        assertThat(region.lkey()).isEqualTo(lkey);
        assertThat(region.rkey()).isEqualTo(rkey);
    }

    @Test
    void otherMemoryTakesThePlaceUnderTheSameKeys() throws InterruptedException {
        long old = region.address();
        region.reregister(MemoryRegionChange.to(other));
        assertSameKeys();
        assertThat(region.segment()).isEqualTo(other);
        assertThat(region.address()).isEqualTo(other.address());
        assertThat(region.length()).isEqualTo(8192);
        assertThat(write(other.address() + 8184)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(other.get(JAVA_LONG, 8184)).isEqualTo(99);
        assertThat(write(old)).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(b.memory.get(JAVA_LONG, 0)).isZero();
    }

    @Test
    void aReceiveWithTheOldAddressFailsOnBothSides() throws InterruptedException {
        b.qp.postReceive(5, region, 0, 64);
        region.reregister(MemoryRegionChange.to(other));
        a.qp.postSend(1, a.region, 0, 8, SendFlags.SIGNALED);
        assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_OP_ERR);
        assertThat(b.next().status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
    }

    @Test
    void aReceiveWithTheNewAddressWorks() throws InterruptedException {
        region.reregister(MemoryRegionChange.to(other));
        b.qp.postReceive(5, region, 0, 64);
        a.qp.postSend(1, a.region, 0, 8, SendFlags.SIGNALED);
        a.next().orThrow();
        b.next().orThrow();
        assertThat(other.get(JAVA_LONG, 0)).isEqualTo(99);
    }

    @Test
    void rightsAreTakenAndGivenBack() throws InterruptedException {
        region.reregister(MemoryRegionChange.to(AccessFlag.LOCAL_WRITE));
        assertThat(region.access()).isEqualTo(AccessFlag.LOCAL_WRITE.code());
        assertThat(write(region.address())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        assertThat(b.memory.get(JAVA_LONG, 0)).isZero();
        region.reregister(MemoryRegionChange.to(TwoDevices.ALL));
        assertSameKeys();
        devices.reconnect(new QueuePairAttributes());
        assertThat(write(region.address())).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(b.memory.get(JAVA_LONG, 0)).isEqualTo(99);
    }

    @Test
    void inAnotherDomainItIsOutOfReachUntilItIsBack() throws InterruptedException {
        try (ProtectionDomain domain = b.context.allocateProtectionDomain()) {
            b.qp.postReceive(5, region, 0, 64);
            region.reregister(MemoryRegionChange.to(domain));
            assertThat(region.protectionDomain()).isSameAs(domain);
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(domain::close)
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(RdmaException.Reason.BUSY));
            a.qp.postSend(1, a.region, 0, 8, SendFlags.SIGNALED);
            assertThat(a.next().status()).isEqualTo(WorkCompletionStatus.REM_OP_ERR);
            assertThat(b.next().status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR);
            devices.reconnect(new QueuePairAttributes());
            assertThat(write(region.address())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            region.reregister(MemoryRegionChange.to(b.domain));
        }
        devices.reconnect(new QueuePairAttributes());
        assertThat(write(region.address())).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void everythingChangesAtOnceAndAtomicsGoOn() throws InterruptedException {
        ProtectionDomain domain = b.keep(b.context.allocateProtectionDomain());
        MemoryRegion roaming = b.keep(domain.register(b.memory, AccessFlag.REMOTE_READ));
        other.set(JAVA_LONG, 8, 40);
        roaming.reregister(
                MemoryRegionChange.to(other).and(b.domain).and(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC));
        a.qp.postFetchAndAdd(
                1, a.region.address(), a.region.lkey(), other.address() + 8, roaming.rkey(), 2, SendFlags.SIGNALED);
        a.next().orThrow();
        assertThat(a.memory.get(JAVA_LONG, 0)).isEqualTo(40);
        roaming.reregister(MemoryRegionChange.to(b.memory));
        a.qp.postFetchAndAdd(
                1, a.region.address(), a.region.lkey(), region.address(), roaming.rkey(), 3, SendFlags.SIGNALED);
        a.next().orThrow();
        assertThat(b.memory.get(JAVA_LONG, 0)).isEqualTo(3);
        assertThat(other.get(JAVA_LONG, 8)).isEqualTo(42);
    }

    @Test
    void whatIsRefusedChangesNothing() throws InterruptedException {
        MemorySegment before = region.segment();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> region.reregister(MemoryRegionChange.to(MemorySegment.ofArray(new byte[64]))))
                .withMessageContaining("heap");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> region.reregister(MemoryRegionChange.to(other.asReadOnly())))
                .withMessageContaining("read-only");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> region.reregister(MemoryRegionChange.to(other).and(AccessFlag.REMOTE_WRITE)))
                .withMessageContaining("LOCAL_WRITE");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> region.reregister(MemoryRegionChange.to(other).and(AccessFlag.FLUSH_PERSISTENT)))
                .withMessageContaining("mapped");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> region.reregister(MemoryRegionChange.to(other).and(a.domain)))
                .withMessageContaining("another device");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> region.reregister(new MemoryRegionChange(null, null, null)));
        ProtectionDomain closed = b.context.allocateProtectionDomain();
        closed.close();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> region.reregister(MemoryRegionChange.to(other).and(closed)))
                .satisfies(e -> assertThat(e.reason()).isEqualTo(RdmaException.Reason.CLOSED));
        assertThat(region.segment()).isEqualTo(before);
        assertThat(region.access()).isEqualTo(AccessFlag.mask(TwoDevices.ALL));
        assertThat(region.protectionDomain()).isSameAs(b.domain);
        assertThat(write(region.address())).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void aClosedRegionStaysClosed() throws InterruptedException {
        region.close();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> region.reregister(MemoryRegionChange.to(other)))
                .satisfies(e -> assertThat(e.reason()).isEqualTo(RdmaException.Reason.CLOSED));
        assertThat(write(other.address())).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
    }
}
