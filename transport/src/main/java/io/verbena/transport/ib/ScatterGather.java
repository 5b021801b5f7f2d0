// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.memory.AccessVerdict;
import io.verbena.transport.memory.KeyTable;
import io.verbena.transport.memory.Placement;
import io.verbena.transport.memory.Region;
import io.verbena.transport.queue.SgeList;
import io.verbena.verbs.AccessFlag;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Copies between a frame and the memory that a list of entries names. Keys are looked up and checked for every packet,
 * so that a region that is deregistered meanwhile is not touched any more.
 */
final class ScatterGather {
    private final KeyTable keys;
    private final int protectionDomain;

    ScatterGather(KeyTable keys, int protectionDomain) {
        this.keys = keys;
        this.protectionDomain = protectionDomain;
    }

    /** Whether every entry names registered memory with the right. */
    boolean check(MemorySegment ring, long list, int count, int right) {
        for (int i = 0; i < count; i++) {
            long bytes = SgeList.length(ring, list, i);
            if (bytes > 0
                    && checked(SgeList.lkey(ring, list, i), right, SgeList.address(ring, list, i), bytes) == null) {
                return false;
            }
        }
        return true;
    }

    /**
     * Copies {@code bytes} of the message from position {@code from} into the frame; false when a key, range or right
     * is wrong.
     */
    boolean gather(MemorySegment ring, long list, int count, long from, MemorySegment out, long outOffset, int bytes) {
        long skip = from;
        int done = 0;
        for (int i = 0; i < count && done < bytes; i++) {
            long entry = SgeList.length(ring, list, i);
            if (skip >= entry) {
                skip -= entry;
                continue;
            }
            int part = (int) Math.min(bytes - done, entry - skip);
            long address = SgeList.address(ring, list, i) + skip;
            Region region = checked(SgeList.lkey(ring, list, i), 0, address, part);
            if (region == null) {
                return false;
            }
            if (!Placement.fetch(region, address, out, outOffset + done, part)) {
                return keys.vanished();
            }
            done += part;
            skip = 0;
        }
        return done == bytes;
    }

    /**
     * Copies {@code bytes} of a frame to position {@code to} of the message; false when a key, range or right is wrong.
     */
    boolean scatter(MemorySegment ring, long list, int count, long to, MemorySegment in, long inOffset, int bytes) {
        long skip = to;
        int done = 0;
        for (int i = 0; i < count && done < bytes; i++) {
            long entry = SgeList.length(ring, list, i);
            if (skip >= entry) {
                skip -= entry;
                continue;
            }
            int part = (int) Math.min(bytes - done, entry - skip);
            long address = SgeList.address(ring, list, i) + skip;
            Region region = checked(SgeList.lkey(ring, list, i), AccessFlag.LOCAL_WRITE.code(), address, part);
            if (region == null) {
                return false;
            }
            if (!Placement.place(in, inOffset + done, region, address, part)) {
                return keys.vanished();
            }
            done += part;
            skip = 0;
        }
        return done == bytes;
    }

    private @Nullable Region checked(int lkey, int right, long address, long bytes) {
        Region region = keys.local(lkey);
        return KeyTable.check(region, protectionDomain, right, address, bytes) == AccessVerdict.OK ? region : null;
    }
}
