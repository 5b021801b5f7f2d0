// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;

/** How a {@link PerfDestination} looks on the way. */
enum DestinationForm {
    /** Over TCP: a C string. */
    TEXT {
        @Override
        byte[] encode(PerfDestination destination) {
            return destination.encode();
        }

        @Override
        PerfDestination decode(byte[] message) {
            return PerfDestination.decode(message);
        }
    },
    /** In a SEND: perftest's {@code struct pingpong_dest} with its C layout and big-endian fields. */
    STRUCT {
        @Override
        byte[] encode(PerfDestination destination) {
            return ByteBuffer.allocate(STRUCT_BYTES)
                    .putInt(destination.lid())
                    .putInt(destination.outstandingReads())
                    .putInt(destination.qpNumber())
                    .putInt(destination.psn())
                    .putInt(destination.rkey())
                    .putInt(0)
                    .putLong(destination.address())
                    .putLong(destination.gid().high())
                    .putLong(destination.gid().low())
                    .array();
        }

        @Override
        PerfDestination decode(byte[] message) {
            if (message.length != STRUCT_BYTES && message.length != LATER_STRUCT_BYTES) {
                throw new IllegalArgumentException("a destination has " + STRUCT_BYTES + " bytes");
            }
            ByteBuffer fields = ByteBuffer.wrap(message);
            int gid = message.length - GID_TO_END;
            return new PerfDestination(
                    fields.getInt() & 0xffff,
                    fields.getInt() & 0xffff,
                    fields.getInt() & 0xff_ffff,
                    fields.getInt() & 0xff_ffff,
                    fields.getInt(),
                    fields.getLong(ADDRESS_OFFSET),
                    new Gid(fields.getLong(gid), fields.getLong(gid + Long.BYTES)));
        }
    };

    /** At its end: the numbers of a shared receive queue and of the GID, which nobody reads. */
    static final int STRUCT_BYTES = 56;

    private static final int ADDRESS_OFFSET = 24;
    private static final int GID_TO_END = 24;
    /** From perftest 24 on there is another address before the GID. */
    private static final int LATER_STRUCT_BYTES = 64;

    abstract byte[] encode(PerfDestination destination);

    /** @throws IllegalArgumentException for anything but such a message */
    abstract PerfDestination decode(byte[] message);
}
