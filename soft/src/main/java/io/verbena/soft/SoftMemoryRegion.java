// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.memory.Region;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryRegionChange;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.RdmaException;
import java.lang.foreign.MemorySegment;

/** A registered segment. */
final class SoftMemoryRegion implements MemoryRegion {
    /** What registering again changes, all at once. */
    private record Registration(SoftProtectionDomain domain, Region region) {}

    private final PortAgent agent;
    /** Written inside the agent's owner lock. */
    private volatile Registration now;
    /** Guarded by the agent's owner lock. */
    private boolean closed;

    SoftMemoryRegion(SoftProtectionDomain domain, Region region) {
        this.agent = domain.agent();
        this.now = new Registration(domain, region);
    }

    SoftContext softContext() {
        return now.domain.softContext();
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return now.domain;
    }

    @Override
    public MemorySegment segment() {
        return now.region.segment();
    }

    @Override
    public long address() {
        return now.region.address();
    }

    @Override
    public long length() {
        return now.region.length();
    }

    @Override
    public int lkey() {
        return now.region.lkey();
    }

    @Override
    public int rkey() {
        return now.region.rkey();
    }

    @Override
    public int access() {
        return now.region.access();
    }

    @Override
    public void reregister(MemoryRegionChange change) {
        if (change.segment() == null && change.access() == null && change.protectionDomain() == null) {
            throw new IllegalArgumentException("nothing to change: name a segment, access or a protection domain");
        }
        agent.run(() -> reregisterOwned(change));
    }

    private void reregisterOwned(MemoryRegionChange change) {
        Registration old = now;
        if (closed) {
            throw new RdmaException(RdmaException.Reason.CLOSED, "the memory region is closed");
        }
        ProtectionDomain domain = change.protectionDomain() == null ? old.domain : change.protectionDomain();
        if (!(domain instanceof SoftProtectionDomain own) || own.softContext() != old.domain.softContext()) {
            throw new IllegalArgumentException("the protection domain belongs to another device");
        }
        MemorySegment segment = change.segment() == null ? old.region.segment() : change.segment();
        int access = change.access() == null ? old.region.access() : change.access();
        Registrations.check(segment, access);
        own.requireOpen();
        requireUnbound(old.region);
        Region successor = new Region(segment, access, own.number());
        agent.port().keys().replace(old.region, successor);
        old.domain.childChanged(-1);
        own.childChanged(1);
        now = new Registration(own, successor);
    }

    private static void requireUnbound(Region region) {
        if (region.windows() > 0) {
            throw new RdmaException(
                    RdmaException.Reason.BUSY,
                    region.windows() + " memory windows are bound to the region; close or invalidate them first");
        }
    }

    @Override
    public void close() {
        agent.run(() -> {
            if (!closed) {
                requireUnbound(now.region);
                closed = true;
                agent.port().keys().remove(now.region);
                now.domain.softContext().memoryRegions().giveBack();
                now.domain.childChanged(-1);
            }
        });
    }

    @Override
    public String toString() {
        return String.format(
                "MemoryRegion[0x%x, %d bytes, lkey 0x%08x, rkey 0x%08x]", address(), length(), lkey(), rkey());
    }
}
