// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.memory;

import java.lang.foreign.MemorySegment;

/**
 * Registered memory as the engine sees it: a segment, its address range, who may do what. Holding it keeps the segment
 * alive.
 */
public final class Region {
    private final MemorySegment segment;
    private final long address;
    private final long length;
    private final int access;
    private final int protectionDomain;
    private int lkey;
    private int rkey;

    /**
     * @param access bits of {@link io.verbena.verbs.AccessFlag}
     * @param protectionDomain the number of the domain
     */
    public Region(MemorySegment segment, int access, int protectionDomain) {
        this.segment = segment;
        this.address = segment.address();
        this.length = segment.byteSize();
        this.access = access;
        this.protectionDomain = protectionDomain;
    }

    void keys(int lkey, int rkey) {
        this.lkey = lkey;
        this.rkey = rkey;
    }

    public MemorySegment segment() {
        return segment;
    }

    public long address() {
        return address;
    }

    public long length() {
        return length;
    }

    public int access() {
        return access;
    }

    public int protectionDomain() {
        return protectionDomain;
    }

    public int lkey() {
        return lkey;
    }

    public int rkey() {
        return rkey;
    }

    /** Where {@code virtualAddress} lies in the segment; meaningful only after {@link #contains}. */
    public long offset(long virtualAddress) {
        return virtualAddress - address;
    }

    /** Whether the range lies inside, without overflow for any address and any non-negative length. */
    public boolean contains(long virtualAddress, long bytes) {
        long offset = virtualAddress - address;
        return offset >= 0 && offset <= length && bytes <= length - offset;
    }
}
