// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.queue.SendSlot;
import io.verbena.transport.queue.SgeList;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.FlushScope;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowBinding;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendRequest;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Checks send work requests and puts them into the ring of a queue pair, with {@link SendSlotWriter}. Several threads
 * may post; a lock makes them one producer.
 */
final class SendPoster {
    private final SoftQueuePair qp;
    private final WorkQueue queue;
    private final MemorySegment ring;
    private final SendSlotWriter writer;
    private final int maxSge;
    private final int maxInline;
    private final boolean datagrams;
    private final ReentrantLock producer = new ReentrantLock();

    SendPoster(SoftQueuePair qp) {
        this.qp = qp;
        this.queue = qp.engine().sendQueue();
        this.ring = queue.ring();
        this.writer = new SendSlotWriter(qp, ring);
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
            writer.entry(slot, address, length, lkey, inline);
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
            writer.destination(slot, handle, qpNumber, qkey);
            writer.entry(slot, address, length, lkey, inline);
            queue.publish(1);
        } finally {
            producer.unlock();
        }
        ring();
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
        if (opcode.isLocal() || opcode == SendOpcode.FLUSH || opcode == SendOpcode.ATOMIC_WRITE) {
            checkNoPayload(request);
        } else if (inline) {
            checkInline(opcode, length);
        } else {
            checkEntries(request.sgeCount());
        }
        checkMessage(opcode, length);
        SoftMemoryWindow window = opcode == SendOpcode.BIND_MW ? typeTwo(request) : null;
        producer.lock();
        try {
            long slot = claim();
            SendSlot.operation(
                    ring, slot, request.wrId(), opcode.ordinal(), request.flags(), request.immediate(), length);
            if (datagrams) {
                writer.destination(slot, request.destination(), request.destinationQp(), request.destinationQkey());
            } else {
                writer.connected(slot, request);
            }
            writer.payload(slot, request, inline);
            if (window != null) {
                window.rkey(request.rkey());
            }
            queue.publish(1);
        } finally {
            producer.unlock();
        }
    }

    /** Posts the bind of a type 1 window and rings. */
    void postBind(MemoryWindow window, MemoryWindowBinding binding, long wrId, int flags) {
        requirePossible(SendOpcode.BIND_MW);
        checkNotInline(SendOpcode.BIND_MW, flags);
        SoftMemoryWindow own = own(window, MemoryWindowType.TYPE_1);
        requireOwn(binding);
        producer.lock();
        try {
            long slot = claim();
            SendSlot.operation(ring, slot, wrId, SendOpcode.BIND_MW.ordinal(), flags, 0, 0);
            writer.bind(slot, own.advance(), binding);
            SendSlot.payload(ring, slot, 0, false);
            queue.publish(1);
        } finally {
            producer.unlock();
        }
        ring();
    }

    private SoftMemoryWindow typeTwo(SendRequest request) {
        SoftMemoryWindow own = own(request.window(), MemoryWindowType.TYPE_2);
        requireOwn(request.binding());
        if ((request.rkey() ^ own.rkey()) >>> Byte.SIZE != 0) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    "a bind changes the low 8 bits of a window's key only; see MemoryWindow.nextRkey");
        }
        return own;
    }

    private SoftMemoryWindow own(@Nullable MemoryWindow window, MemoryWindowType type) {
        if (!(window instanceof SoftMemoryWindow own)
                || own.softContext() != qp.domain().softContext()) {
            throw new IllegalArgumentException("the memory window belongs to another device");
        }
        if (own.type() != type) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    "a type 1 window is bound by QueuePair.bind, a type 2 window by SendRequest.bind");
        }
        own.requireOpen();
        return own;
    }

    private void requireOwn(@Nullable MemoryWindowBinding binding) {
        if (binding == null
                || !(binding.region() instanceof SoftMemoryRegion region)
                || region.softContext() != qp.domain().softContext()) {
            throw new IllegalArgumentException("the memory region belongs to another device");
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
        if (request.opcode() == SendOpcode.FLUSH) {
            return request.scope() == FlushScope.REGION ? 0 : request.flushLength();
        }
        if (request.opcode() == SendOpcode.ATOMIC_WRITE) {
            return Long.BYTES;
        }
        MemorySegment data = request.inlineData();
        long total = data == null ? 0 : data.byteSize();
        for (int i = 0; i < request.sgeCount(); i++) {
            checkLength(request.sgeLength(i));
            total += request.sgeLength(i);
        }
        return total;
    }

    private static void checkNoPayload(SendRequest request) {
        if (request.sgeCount() > 0 || (request.flags() & SendFlags.INLINE) != 0) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    request.opcode() + " takes no scatter/gather entries and no inline data");
        }
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
        if (length < 0 || length > Limits.MAX_MESSAGE) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    "a message of " + length + " bytes; the largest is " + Limits.MAX_MESSAGE + " (maxMessageSize)");
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
