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
    private final SoftProtectionDomain domain;
    private final Region region;
    /** Guarded by the agent's owner lock. */
    private boolean closed;

    SoftMemoryRegion(SoftProtectionDomain domain, Region region) {
        this.domain = domain;
        this.region = region;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public MemorySegment segment() {
        return region.segment();
    }

    @Override
    public long address() {
        return region.address();
    }

    @Override
    public long length() {
        return region.length();
    }

    @Override
    public int lkey() {
        return region.lkey();
    }

    @Override
    public int rkey() {
        return region.rkey();
    }

    @Override
    public int access() {
        return region.access();
    }

    @Override
    public void reregister(MemoryRegionChange change) {
        throw new RdmaException(RdmaException.Reason.UNSUPPORTED, "soft devices cannot change a region yet");
    }

    @Override
    public void close() {
        domain.agent().run(() -> {
            if (!closed) {
                closed = true;
                domain.agent().port().keys().remove(region);
                domain.childChanged(-1);
            }
        });
    }

    @Override
    public String toString() {
        return String.format(
                "MemoryRegion[0x%x, %d bytes, lkey 0x%08x, rkey 0x%08x]", address(), length(), lkey(), rkey());
    }
}
