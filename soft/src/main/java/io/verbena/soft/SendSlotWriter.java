// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.memory.Region;
import io.verbena.transport.queue.SendSlot;
import io.verbena.transport.queue.SgeList;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.MemoryWindowBinding;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendRequest;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Writes the parts of a send slot. The caller holds the producer's lock and publishes. */
final class SendSlotWriter {
    private final SoftQueuePair qp;
    private final MemorySegment ring;

    SendSlotWriter(SoftQueuePair qp, MemorySegment ring) {
        this.qp = qp;
        this.ring = ring;
    }

    void destination(long slot, @Nullable AddressHandle handle, int qpNumber, int qkey) {
        if (!(handle instanceof SoftAddressHandle own) || !own.belongsTo(qp.domain())) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    handle == null
                            ? "a datagram needs a destination: SendRequest.to(handle, qpNumber, qkey)"
                            : "the address handle belongs to another protection domain");
        }
        SendSlot.destination(ring, slot, own.number(), qpNumber, qkey);
    }

    /** What a request of a connected queue pair names, at the peer or here. */
    void connected(long slot, SendRequest request) {
        SendSlot.sharedReceiveQueue(ring, slot, request.sharedReceiveQueue());
        MemoryWindowBinding binding = request.binding();
        if (request.opcode() == SendOpcode.BIND_MW && binding != null) {
            bind(slot, request.rkey(), binding);
            return;
        }
        SendSlot.remote(ring, slot, request.remoteAddress(), request.rkey());
        SendSlot.atomic(ring, slot, request.compareAdd(), request.swap());
        if (request.opcode() == SendOpcode.FLUSH) {
            SendSlot.flush(
                    ring, slot, request.placement().code(), request.scope().code());
        }
    }

    void bind(long slot, int newRkey, MemoryWindowBinding binding) {
        SendSlot.bind(
                ring, slot, newRkey, binding.region().lkey(), binding.address(), binding.length(), binding.access());
    }

    /** A payload of one entry. */
    void entry(long slot, long address, int length, int lkey, boolean inline) {
        SendSlot.payload(ring, slot, inline ? 0 : 1, inline);
        if (inline) {
            copyRegistered(slot + SendSlot.HEADER_BYTES, address, length, lkey);
        } else {
            SgeList.set(ring, slot + SendSlot.HEADER_BYTES, 0, address, length, lkey);
        }
    }

    void payload(long slot, SendRequest request, boolean inline) {
        int count = request.sgeCount();
        long at = slot + SendSlot.HEADER_BYTES;
        SendSlot.payload(ring, slot, inline ? 0 : count, inline);
        if (inline) {
            copyInline(request, at);
            return;
        }
        for (int i = 0; i < count; i++) {
            SgeList.set(ring, at, i, request.sgeAddress(i), request.sgeLength(i), request.sgeLkey(i));
        }
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
}
