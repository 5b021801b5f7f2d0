// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.memory.Placement;
import io.verbena.transport.memory.Region;
import io.verbena.verbs.AccessFlag;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.FlushEth;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.ib.Reth;
import java.lang.foreign.MemorySegment;

/**
 * Carries out FLUSH and ATOMIC_WRITE (IBTA volume 1, annex A19). A FLUSH to persistence ends when the storage says so:
 * whoever drives the port waits for it, and so does all other traffic of the port.
 */
final class PlacementRequests {
    private static final int PLACEMENTS = FlushEth.GLOBAL_VISIBILITY | FlushEth.PERSISTENCE;

    private final IbQueuePair qp;
    private final RemoteMemory memory;

    PlacementRequests(IbQueuePair qp, RemoteMemory memory) {
        this.qp = qp;
        this.memory = memory;
    }

    RequestVerdict flush(Frame frame, long bth, Opcode opcode) {
        MemorySegment in = frame.buffer();
        int type = FlushEth.placementType(in, bth + opcode.flushEthOffset());
        int scope = FlushEth.selectivity(in, bth + opcode.flushEthOffset());
        boolean whole = scope == FlushEth.REGION;
        int right = right(type);
        if (type == 0
                || (type & ~PLACEMENTS) != 0
                || !(whole || scope == FlushEth.RANGE)
                || (qp.accessFlags & right) != right) {
            return RequestVerdict.OPERATION_NOT_ENABLED;
        }
        long reth = bth + opcode.rethOffset();
        long address = Reth.virtualAddress(in, reth);
        long bytes = Reth.length(in, reth);
        int key = Reth.rkey(in, reth);
        Region region = whole ? memory.findWhole(key, right) : memory.find(key, right, address, bytes);
        if (region == null) {
            return RequestVerdict.REMOTE_ACCESS;
        }
        boolean done = Placement.flush(
                region,
                whole ? region.address() : address,
                whole ? region.length() : bytes,
                (type & FlushEth.PERSISTENCE) != 0);
        return done || memory.vanished() ? RequestVerdict.OK : RequestVerdict.REMOTE_ACCESS;
    }

    private static int right(int type) {
        return ((type & FlushEth.GLOBAL_VISIBILITY) != 0 ? AccessFlag.FLUSH_GLOBAL.code() : 0)
                | ((type & FlushEth.PERSISTENCE) != 0 ? AccessFlag.FLUSH_PERSISTENT.code() : 0);
    }

    /** The 8 bytes are placed as they come: what order they have is the two programs' business. */
    RequestVerdict atomicWrite(Frame frame, long bth, Opcode opcode, int payload) {
        MemorySegment in = frame.buffer();
        long reth = bth + opcode.rethOffset();
        long address = Reth.virtualAddress(in, reth);
        if (payload != Long.BYTES || Reth.length(in, reth) != Long.BYTES) {
            return RequestVerdict.WRONG_LENGTH;
        }
        if ((address & 7) != 0) {
            return RequestVerdict.UNALIGNED_ATOMIC;
        }
        Region region = memory.find(Reth.rkey(in, reth), AccessFlag.REMOTE_WRITE.code(), address, Long.BYTES);
        boolean done = region != null
                && (Placement.placeAtomically(in, bth + opcode.headerBytes(), region, address) || memory.vanished());
        return done ? RequestVerdict.OK : RequestVerdict.REMOTE_ACCESS;
    }
}
