// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.memory.Region;
import io.verbena.transport.queue.SendSlot;
import io.verbena.transport.queue.SgeList;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendRequest;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Writes send work requests into the ring of a queue pair. Several threads may post; a lock makes them one producer.
 */
final class SendPoster {
    private final SoftQueuePair qp;
    private final WorkQueue queue;
    private final MemorySegment ring;
    private final int maxSge;
    private final int maxInline;
    private final boolean datagrams;
    private final ReentrantLock producer = new ReentrantLock();

    SendPoster(SoftQueuePair qp) {
        this.qp = qp;
        this.queue = qp.engine().sendQueue();
        this.ring = queue.ring();
        this.maxSge = qp.capabilities().maxSendSge();
        this.maxInline = qp.capabilities().maxInlineData();
        this.datagrams = qp.type() == QueuePairType.UD;
    }

    /** Tells the device of what was posted. */
    void ring() {
        qp.engine().requestService();
        qp.agent().service();
    }

    /** Posts a request of one entry and rings. */
    void post(
            SendOpcode opcode,
            long wrId,
            long address,
            int length,
            int lkey,
            long remoteAddress,
            int rkey,
            int immediate,
            int flags) {
        checkLength(length);
        requirePossible(opcode);
        if (datagrams) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    "a datagram needs a destination: use postSendTo or SendRequest.to");
        }
        boolean inline = (flags & SendFlags.INLINE) != 0;
        if (inline) {
            checkInline(opcode, length);
        } else {
            checkEntries(1);
        }
        producer.lock();
        try {
            long slot = claim();
            SendSlot.operation(ring, slot, wrId, opcode.ordinal(), flags, immediate, length);
            SendSlot.remote(ring, slot, remoteAddress, rkey);
            SendSlot.sharedReceiveQueue(ring, slot, 0);
            SendSlot.payload(ring, slot, inline ? 0 : 1, inline);
            if (inline) {
                copyRegistered(slot + SendSlot.HEADER_BYTES, address, length, lkey);
            } else {
                SgeList.set(ring, slot + SendSlot.HEADER_BYTES, 0, address, length, lkey);
            }
            queue.publish(1);
        } finally {
            producer.unlock();
        }
        ring();
    }

    /** Posts a datagram of one entry and rings. */
    void postDatagram(
            long wrId, long address, int length, int lkey, AddressHandle handle, int qpNumber, int qkey, int flags) {
        checkLength(length);
        if (!datagrams) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT, qp.type() + " sends go to the peer that it is connected to");
        }
        boolean inline = (flags & SendFlags.INLINE) != 0;
        if (inline) {
            checkInline(SendOpcode.SEND, length);
        } else {
            checkEntries(1);
        }
        checkMessage(SendOpcode.SEND, length);
        producer.lock();
        try {
            long slot = claim();
            SendSlot.operation(ring, slot, wrId, SendOpcode.SEND.ordinal(), flags, 0, length);
            writeDestination(slot, handle, qpNumber, qkey);
            SendSlot.payload(ring, slot, inline ? 0 : 1, inline);
            if (inline) {
                copyRegistered(slot + SendSlot.HEADER_BYTES, address, length, lkey);
            } else {
                SgeList.set(ring, slot + SendSlot.HEADER_BYTES, 0, address, length, lkey);
            }
            queue.publish(1);
        } finally {
            producer.unlock();
        }
        ring();
    }

    private void writeDestination(long slot, @Nullable AddressHandle handle, int qpNumber, int qkey) {
        if (!(handle instanceof SoftAddressHandle own) || !own.belongsTo(qp.domain())) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    handle == null
                            ? "a datagram needs a destination: SendRequest.to(handle, qpNumber, qkey)"
                            : "the address handle belongs to another protection domain");
        }
        SendSlot.destination(ring, slot, own.number(), qpNumber, qkey);
    }

    private void requirePossible(SendOpcode opcode) {
        if (!opcode.isPossibleOn(qp.type())) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT, "a " + qp.type() + " queue pair cannot do " + opcode);
        }
    }

    /** Posts an atomic and rings. */
    void postAtomic(
            SendOpcode opcode,
            long wrId,
            long address,
            int lkey,
            long remoteAddress,
            int rkey,
            long compareAdd,
            long swap,
            int flags) {
        requirePossible(opcode);
        checkNotInline(opcode, flags);
        checkEntries(1);
        producer.lock();
        try {
            long slot = claim();
            SendSlot.operation(ring, slot, wrId, opcode.ordinal(), flags, 0, Long.BYTES);
            SendSlot.remote(ring, slot, remoteAddress, rkey);
            SendSlot.atomic(ring, slot, compareAdd, swap);
            SendSlot.payload(ring, slot, 1, false);
            SgeList.set(ring, slot + SendSlot.HEADER_BYTES, 0, address, Long.BYTES, lkey);
            queue.publish(1);
        } finally {
            producer.unlock();
        }
        ring();
    }

    /** Posts a prepared request; the caller rings. */
    void post(SendRequest request) {
        if (request.queuePair() != qp) {
            throw new IllegalArgumentException("the request was made for another queue pair");
        }
        SendOpcode opcode = request.opcode();
        requirePossible(opcode);
        boolean inline = (request.flags() & SendFlags.INLINE) != 0;
        long length = total(request);
        if (inline) {
            checkInline(opcode, length);
        } else {
            checkEntries(request.sgeCount());
        }
        checkMessage(opcode, length);
        producer.lock();
        try {
            long slot = claim();
            SendSlot.operation(
                    ring, slot, request.wrId(), opcode.ordinal(), request.flags(), request.immediate(), length);
            if (datagrams) {
                writeDestination(slot, request.destination(), request.destinationQp(), request.destinationQkey());
            } else {
                SendSlot.remote(ring, slot, request.remoteAddress(), request.rkey());
            }
            SendSlot.atomic(ring, slot, request.compareAdd(), request.swap());
            SendSlot.sharedReceiveQueue(ring, slot, request.sharedReceiveQueue());
            SendSlot.payload(ring, slot, inline ? 0 : request.sgeCount(), inline);
            if (inline) {
                copyInline(request, slot + SendSlot.HEADER_BYTES);
            } else {
                for (int i = 0; i < request.sgeCount(); i++) {
                    SgeList.set(
                            ring,
                            slot + SendSlot.HEADER_BYTES,
                            i,
                            request.sgeAddress(i),
                            request.sgeLength(i),
                            request.sgeLkey(i));
                }
            }
            queue.publish(1);
        } finally {
            producer.unlock();
        }
    }

    /** The offset of the slot to write, if the queue pair takes sends and has a free one. */
    private long claim() {
        qp.requireSendable();
        if (!queue.hasRoom(0)) {
            throw new RdmaException(
                    RdmaException.Reason.QUEUE_FULL,
                    "the send queue holds " + queue.depth()
                            + " requests and is full;"
                            + " slots come back when a signalled completion after them is polled");
        }
        return queue.offset(queue.producerIndex());
    }

    private static long total(SendRequest request) {
        MemorySegment data = request.inlineData();
        long total = data == null ? 0 : data.byteSize();
        for (int i = 0; i < request.sgeCount(); i++) {
            checkLength(request.sgeLength(i));
            total += request.sgeLength(i);
        }
        return total;
    }

    private void copyInline(SendRequest request, long at) {
        MemorySegment data = request.inlineData();
        long done = 0;
        if (data != null) {
            MemorySegment.copy(data, 0, ring, at, data.byteSize());
            done = data.byteSize();
        }
        for (int i = 0; i < request.sgeCount(); i++) {
            copyRegistered(at + done, request.sgeAddress(i), request.sgeLength(i), request.sgeLkey(i));
            done += request.sgeLength(i);
        }
    }

    /** Inline data given by address is read through its region: memory that nobody vouches for is not touched. */
    private void copyRegistered(long at, long address, int length, int lkey) {
        if (length == 0) {
            return;
        }
        Region region = qp.agent().localRegion(lkey);
        if (region == null || !region.contains(address, length)) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    "inline data by address must lie in the region of its lkey;"
                            + " use SendRequest.inline for other memory");
        }
        MemorySegment.copy(region.segment(), region.offset(address), ring, at, length);
    }

    private static void checkLength(int length) {
        if (length < 0) {
            throw new IllegalArgumentException("a negative length: " + length);
        }
    }

    private void checkEntries(int count) {
        if (count > maxSge) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    count + " scatter/gather entries; this queue pair was created for " + maxSge);
        }
    }

    private void checkMessage(SendOpcode opcode, long length) {
        if (opcode.isAtomic() && length != Long.BYTES) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT, "an atomic needs 8 bytes for the old value, not " + length);
        }
        if (datagrams && length > qp.datagramMax()) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    "a datagram of " + length + " bytes; the port's active MTU allows " + qp.datagramMax());
        }
        if (length > Limits.MAX_MESSAGE) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    "a message of " + length + " bytes; the largest is " + Limits.MAX_MESSAGE);
        }
    }

    private void checkInline(SendOpcode opcode, long length) {
        checkNotInline(opcode, opcode.writesLocally() ? SendFlags.INLINE : 0);
        if (length > maxInline) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    length + " bytes inline; this queue pair was created for " + maxInline);
        }
    }

    private static void checkNotInline(SendOpcode opcode, int flags) {
        if ((flags & SendFlags.INLINE) != 0) {
            throw new RdmaException(RdmaException.Reason.INVALID_ARGUMENT, opcode + " cannot be inline");
        }
    }
}
