// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.Arrays;

/** A receive work request put together step by step and reusable (ibv_recv_wr). One thread uses it at a time. */
public final class ReceiveRequest {
    private long wrId;
    private int sgeCount;
    private long[] addresses = new long[4];
    private int[] lengths = new int[4];
    private int[] lkeys = new int[4];

    /** Starts afresh, without entries. */
    public ReceiveRequest id(long wrId) {
        this.wrId = wrId;
        sgeCount = 0;
        return this;
    }

    public ReceiveRequest sge(MemoryRegion region, long offset, int length) {
        return sge(region.address() + offset, length, region.lkey());
    }

    public ReceiveRequest sge(long address, int length, int lkey) {
        if (sgeCount == addresses.length) {
            addresses = Arrays.copyOf(addresses, sgeCount * 2);
            lengths = Arrays.copyOf(lengths, sgeCount * 2);
            lkeys = Arrays.copyOf(lkeys, sgeCount * 2);
        }
        addresses[sgeCount] = address;
        lengths[sgeCount] = length;
        lkeys[sgeCount++] = lkey;
        return this;
    }

    public long wrId() {
        return wrId;
    }

    public int sgeCount() {
        return sgeCount;
    }

    public long sgeAddress(int index) {
        return addresses[index];
    }

    public int sgeLength(int index) {
        return lengths[index];
    }

    public int sgeLkey(int index) {
        return lkeys[index];
    }
}
