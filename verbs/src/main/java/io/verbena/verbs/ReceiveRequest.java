// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** A receive work request put together step by step and reusable (ibv_recv_wr). One thread uses it at a time. */
public final class ReceiveRequest {
    private long wrId;
    private final ScatterGatherList list = new ScatterGatherList();

    /** Starts afresh, without entries. */
    public ReceiveRequest id(long wrId) {
        this.wrId = wrId;
        list.clear();
        return this;
    }

    public ReceiveRequest sge(MemoryRegion region, long offset, int length) {
        return sge(region.address() + offset, length, region.lkey());
    }

    public ReceiveRequest sge(long address, int length, int lkey) {
        list.add(address, length, lkey);
        return this;
    }

    public long wrId() {
        return wrId;
    }

    public int sgeCount() {
        return list.count();
    }

    public long sgeAddress(int index) {
        return list.address(index);
    }

    public int sgeLength(int index) {
        return list.length(index);
    }

    public int sgeLkey(int index) {
        return list.lkey(index);
    }
}
