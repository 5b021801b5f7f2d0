// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Reject (IBTA volume 1, 12.6.7). Offsets behind the header of the datagram:
 *
 * <pre>
 *   0 local, 4 remote communication id     8 message rejected (2)     9 length of the information (7)
 *  10 reason (16)     12 additional reject information (72)          84 private data (148)
 * </pre>
 */
public final class Rej {
    public static final int PRIVATE_DATA = Mad.HEADER_BYTES + 84;
    public static final int PRIVATE_DATA_BYTES = 148;

    /** What was rejected. */
    public static final int MESSAGE_REQ = 0;

    public static final int MESSAGE_REP = 1;
    public static final int MESSAGE_NONE = 2;

    private static final int AT = Mad.HEADER_BYTES;
    private static final int GUID_BYTES = 8;

    private Rej() {}

    public static int localId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT);
    }

    public static int remoteId(MemorySegment s, long o) {
        return BigEndian.i32(s, o + AT + 4);
    }

    /** {@link #MESSAGE_REQ}, {@link #MESSAGE_REP} or {@link #MESSAGE_NONE}. */
    public static int message(MemorySegment s, long o) {
        return BigEndian.u8(s, o + AT + 8) >> 6;
    }

    /** {@link CmRejectReason#of} knows what it means. */
    public static int reason(MemorySegment s, long o) {
        return BigEndian.u16(s, o + AT + 10);
    }

    public static void write(MemorySegment s, long o, int localId, int remoteId, int message, int reason) {
        new Fields(localId, remoteId, message, 0, reason).write(s, o);
    }

    /** Adds the GUID of the sender's channel adapter, which reason 4 (time-out) goes with. */
    public static void information(MemorySegment s, long o, long caGuid) {
        BigEndian.put8(s, o + AT + 9, GUID_BYTES << 1);
        BigEndian.put64(s, o + AT + 12, caGuid);
    }

    /** The message as values, without information and private data. */
    public record Fields(int localId, int remoteId, int message, int informationBytes, int reason) {
        public static Fields read(MemorySegment s, long o) {
            return new Fields(
                    Rej.localId(s, o),
                    Rej.remoteId(s, o),
                    Rej.message(s, o),
                    BigEndian.u8(s, o + AT + 9) >> 1,
                    Rej.reason(s, o));
        }

        public void write(MemorySegment s, long o) {
            BigEndian.put32(s, o + AT, localId);
            BigEndian.put32(s, o + AT + 4, remoteId);
            BigEndian.put8(s, o + AT + 8, message << 6);
            BigEndian.put8(s, o + AT + 9, informationBytes << 1);
            BigEndian.put16(s, o + AT + 10, reason);
        }

        @Override
        public String toString() {
            String what = switch (message) {
                case MESSAGE_REQ -> "REQ";
                case MESSAGE_REP -> "REP";
                default -> "none";
            };
            return String.format(
                    "REJ id %08x for %08x message %s %s", localId, remoteId, what, CmRejectReason.text(reason));
        }
    }
}
