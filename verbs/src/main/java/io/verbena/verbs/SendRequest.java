// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A send work request put together step by step and reusable: setting an operation starts it afresh (ibv_send_wr). Get
 * it from {@link QueuePair#sendRequest()}; one thread uses it at a time. Nothing is allocated after its scatter/gather
 * list has grown to its size.
 *
 * <pre>{@code
 * SendRequest request = qp.sendRequest();
 * request.write(remoteAddress, rkey).sge(region, 0, 4096).id(7).signaled().post();
 * }</pre>
 */
public final class SendRequest {
    private final QueuePair queuePair;
    private SendOpcode opcode = SendOpcode.SEND;
    private long wrId;
    private int flags;
    private int immediate;
    private long remoteAddress;
    private int rkey;
    private long compareAdd;
    private long swap;
    private final ScatterGatherList list = new ScatterGatherList();
    private @Nullable MemorySegment inlineData;

    public SendRequest(QueuePair queuePair) {
        this.queuePair = queuePair;
    }

    public SendRequest send() {
        return begin(SendOpcode.SEND);
    }

    public SendRequest sendWithImmediate(int immediate) {
        begin(SendOpcode.SEND_WITH_IMM).immediate = immediate;
        return this;
    }

    public SendRequest write(long remoteAddress, int rkey) {
        return begin(SendOpcode.RDMA_WRITE).remote(remoteAddress, rkey);
    }

    public SendRequest writeWithImmediate(long remoteAddress, int rkey, int immediate) {
        begin(SendOpcode.RDMA_WRITE_WITH_IMM).remote(remoteAddress, rkey).immediate = immediate;
        return this;
    }

    public SendRequest read(long remoteAddress, int rkey) {
        return begin(SendOpcode.RDMA_READ).remote(remoteAddress, rkey);
    }

    /** Adds {@code add} to the 8 aligned bytes at the remote address; the old value arrives in the one 8-byte entry. */
    public SendRequest fetchAndAdd(long remoteAddress, int rkey, long add) {
        begin(SendOpcode.ATOMIC_FETCH_AND_ADD).remote(remoteAddress, rkey).compareAdd = add;
        return this;
    }

    /**
     * Puts {@code swap} where the 8 aligned remote bytes equal {@code compare}; the old value arrives in the one 8-byte
     * entry.
     */
    public SendRequest compareAndSwap(long remoteAddress, int rkey, long compare, long swap) {
        begin(SendOpcode.ATOMIC_CMP_AND_SWP).remote(remoteAddress, rkey).compareAdd = compare;
        this.swap = swap;
        return this;
    }

    public SendRequest id(long wrId) {
        this.wrId = wrId;
        return this;
    }

    /** {@link SendFlags} bits, in place of those set before; a payload given to {@link #inline} stays inline. */
    public SendRequest flags(int flags) {
        this.flags = inlineData == null ? flags : flags | SendFlags.INLINE;
        return this;
    }

    public SendRequest signaled() {
        flags |= SendFlags.SIGNALED;
        return this;
    }

    public SendRequest fence() {
        flags |= SendFlags.FENCE;
        return this;
    }

    public SendRequest solicited() {
        flags |= SendFlags.SOLICITED;
        return this;
    }

    /** Adds {@code length} bytes of a region from {@code offset}. */
    public SendRequest sge(MemoryRegion region, long offset, int length) {
        return sge(region.address() + offset, length, region.lkey());
    }

    /** Adds a whole region. */
    public SendRequest sge(MemoryRegion region) {
        return sge(region.address(), Math.toIntExact(region.length()), region.lkey());
    }

    /** Adds an entry by address and key, as in C. */
    public SendRequest sge(long address, int length, int lkey) {
        list.add(address, length, lkey);
        return this;
    }

    /**
     * Takes the payload from any segment, registered or not, heap or native; it is copied when the request is posted.
     */
    public SendRequest inline(MemorySegment data) {
        inlineData = data;
        flags |= SendFlags.INLINE;
        return this;
    }

    /** Posts to the queue pair that it came from; see {@link QueuePair#post(SendRequest)}. */
    public void post() {
        queuePair.post(this);
    }

    private SendRequest begin(SendOpcode opcode) {
        this.opcode = opcode;
        wrId = 0;
        flags = 0;
        immediate = 0;
        remoteAddress = 0;
        rkey = 0;
        compareAdd = 0;
        swap = 0;
        list.clear();
        inlineData = null;
        return this;
    }

    private SendRequest remote(long remoteAddress, int rkey) {
        this.remoteAddress = remoteAddress;
        this.rkey = rkey;
        return this;
    }

    public QueuePair queuePair() {
        return queuePair;
    }

    public SendOpcode opcode() {
        return opcode;
    }

    public long wrId() {
        return wrId;
    }

    public int flags() {
        return flags;
    }

    public int immediate() {
        return immediate;
    }

    public long remoteAddress() {
        return remoteAddress;
    }

    public int rkey() {
        return rkey;
    }

    /** The value to add, or to compare with. */
    public long compareAdd() {
        return compareAdd;
    }

    public long swap() {
        return swap;
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

    /** What {@link #inline} was given. */
    public @Nullable MemorySegment inlineData() {
        return inlineData;
    }
}
