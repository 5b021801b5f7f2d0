// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.memory;

import java.lang.foreign.MemorySegment;

/**
 * Registered memory as the engine sees it: a segment, its address range, who may do what. Holding it keeps the segment
 * alive. One that is not a {@link Window} never changes: registering again puts another in its place.
 */
public sealed class Region permits Window {
    private MemorySegment segment;
    /** The address of the segment's first byte. */
    private long base;

    private long address;
    private long length;
    private int access;
    private final int protectionDomain;
    private int lkey;
    private int rkey;
    /** Memory windows that are bound to it. */
    private int windows;

    /**
     * @param access bits of {@link io.verbena.verbs.AccessFlag}
     * @param protectionDomain the number of the domain
     */
    public Region(MemorySegment segment, int access, int protectionDomain) {
        this.segment = segment;
        this.base = segment.address();
        this.address = base;
        this.length = segment.byteSize();
        this.access = access;
        this.protectionDomain = protectionDomain;
    }

    void keys(int lkey, int rkey) {
        this.lkey = lkey;
        this.rkey = rkey;
    }

    /** Makes this a view of a stretch of another region. */
    final void view(Region region, long at, long bytes, int rights) {
        segment = region.segment;
        base = region.base;
        address = at;
        length = bytes;
        access = rights;
    }

    /** Makes this a view of nothing. */
    final void viewNothing() {
        segment = MemorySegment.NULL;
        base = 0;
        address = 0;
        length = 0;
        access = 0;
    }

    final void windowsChanged(int change) {
        windows += change;
    }

    /** Whether requests that arrive at this queue pair may use it, as far as that is a matter of queue pairs. */
    public boolean serves(Object queuePair) {
        return true;
    }

    /** How many memory windows are bound to it. */
    public final int windows() {
        return windows;
    }

    public final MemorySegment segment() {
        return segment;
    }

    public final long address() {
        return address;
    }

    /** Bytes; 0 only for a window that is not bound. */
    public final long length() {
        return length;
    }

    public final int access() {
        return access;
    }

    public final int protectionDomain() {
        return protectionDomain;
    }

    public final int lkey() {
        return lkey;
    }

    public final int rkey() {
        return rkey;
    }

    /** Where {@code virtualAddress} lies in the segment; meaningful only after {@link #contains}. */
    public final long offset(long virtualAddress) {
        return virtualAddress - base;
    }

    /** Whether the range lies inside, without overflow for any address and any non-negative length. */
    public final boolean contains(long virtualAddress, long bytes) {
        long offset = virtualAddress - address;
        return offset >= 0 && offset <= length && bytes <= length - offset;
    }
}
