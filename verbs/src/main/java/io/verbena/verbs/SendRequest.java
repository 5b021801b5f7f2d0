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
    private @Nullable AddressHandle destination;
    private int destinationQp;
    private int destinationQkey;
    private int sharedReceiveQueue;
    private @Nullable MemoryWindow window;
    private @Nullable MemoryWindowBinding binding;
    private long flushLength;
    private FlushPlacement placement = FlushPlacement.GLOBAL;
    private FlushScope scope = FlushScope.RANGE;

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

    /** A SEND that also takes the rights of the receiver's memory window {@code rkey} back (type 2). */
    public SendRequest sendWithInvalidate(int rkey) {
        begin(SendOpcode.SEND_WITH_INV).rkey = rkey;
        return this;
    }

    /**
     * Takes the rights of a type 2 memory window back, after all earlier work is complete. The key of a window that
     * another queue pair bound, or of anything else, completes with LOC_QP_OP_ERR.
     */
    public SendRequest localInvalidate(int rkey) {
        begin(SendOpcode.LOCAL_INV).rkey = rkey;
        return this;
    }

    /**
     * Binds a type 2 memory window. The new key takes the place of the window's {@link MemoryWindow#rkey()} when the
     * request is posted.
     *
     * @param newRkey the window's key with other low 8 bits, such as {@link MemoryWindow#nextRkey()}
     */
    public SendRequest bind(MemoryWindow window, int newRkey, MemoryWindowBinding binding) {
        begin(SendOpcode.BIND_MW).rkey = newRkey;
        this.window = window;
        this.binding = binding;
        return this;
    }

    /**
     * Makes what was written before, by this queue pair, visible or persistent at the peer; completes when it is. A
     * software device that makes bytes persistent does nothing else until the storage has them.
     *
     * @param length bytes from {@code remoteAddress}, at most 2^31; means nothing with {@link FlushScope#REGION}
     */
    public SendRequest flush(long remoteAddress, int rkey, long length, FlushPlacement placement, FlushScope scope) {
        begin(SendOpcode.FLUSH).remote(remoteAddress, rkey).flushLength = length;
        this.placement = placement;
        this.scope = scope;
        return this;
    }

    /** Writes {@code value} to 8 aligned remote bytes at once, in this host's byte order. Needs REMOTE_WRITE. */
    public SendRequest atomicWrite(long remoteAddress, int rkey, long value) {
        begin(SendOpcode.ATOMIC_WRITE).remote(remoteAddress, rkey).compareAdd = value;
        return this;
    }

    /**
     * The destination of a datagram.
     *
     * @param qpNumber the peer's queue pair, or 0xffffff for a multicast group
     * @param qkey must equal the peer's; with its highest bit set the queue pair's own Q_Key is sent
     */
    public SendRequest to(AddressHandle handle, int qpNumber, int qkey) {
        destination = handle;
        destinationQp = qpNumber;
        destinationQkey = qkey;
        return this;
    }

    /** XRC: the {@link SharedReceiveQueue#number()} at the peer that a SEND or an immediate takes its receive from. */
    public SendRequest sharedReceiveQueue(int number) {
        sharedReceiveQueue = number;
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
        destination = null;
        destinationQp = 0;
        destinationQkey = 0;
        sharedReceiveQueue = 0;
        window = null;
        binding = null;
        flushLength = 0;
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

    /** The value to add, to compare with, or to write. */
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

    /** What {@link #to} was given. */
    public @Nullable AddressHandle destination() {
        return destination;
    }

    public int destinationQp() {
        return destinationQp;
    }

    public int destinationQkey() {
        return destinationQkey;
    }

    /** What {@link #sharedReceiveQueue(int)} was given. */
    public int sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    /** What {@link #bind} was given. */
    public @Nullable MemoryWindow window() {
        return window;
    }

    public @Nullable MemoryWindowBinding binding() {
        return binding;
    }

    /** Bytes to flush. */
    public long flushLength() {
        return flushLength;
    }

    public FlushPlacement placement() {
        return placement;
    }

    public FlushScope scope() {
        return scope;
    }
}
