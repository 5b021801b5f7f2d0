// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Local Route Header of InfiniBand's own link layer (IBTA vol 1 ch. 7.7).
 *
 * <pre>
 *    +------+-------+------+-------+-------+---------------------+
 *  0 | VL 4 | LVer 4| SL 4 | rsv 2 | LNH 2 | destination LID 16  |
 *    +------+-------+------+-------+-------+---------------------+
 *  4 | rsv 5 | packet length 11            | source LID 16       |
 *    +-------+-----------------------------+---------------------+
 * </pre>
 *
 * The packet length is in words of 4 bytes, from the LRH to the ICRC.
 */
public final class Lrh {
    public static final int BYTES = 8;

    /** Link next header: a BTH follows. */
    public static final int NEXT_BTH = 2;

    /** Link next header: a GRH follows. */
    public static final int NEXT_GRH = 3;

    private Lrh() {}

    public static int virtualLane(MemorySegment s, long o) {
        return BigEndian.u8(s, o) >> 4;
    }

    public static int version(MemorySegment s, long o) {
        return BigEndian.u8(s, o) & 0xf;
    }

    public static int serviceLevel(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 1) >> 4;
    }

    public static int nextHeader(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 1) & 3;
    }

    public static int destinationLid(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 2);
    }

    public static int packetWords(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 4) & 0x7ff;
    }

    public static int sourceLid(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 6);
    }

    public static void write(
            MemorySegment s,
            long o,
            int virtualLane,
            int serviceLevel,
            int nextHeader,
            int destinationLid,
            int packetWords,
            int sourceLid) {
        BigEndian.put8(s, o, virtualLane << 4);
        BigEndian.put8(s, o + 1, serviceLevel << 4 | (nextHeader & 3));
        BigEndian.put16(s, o + 2, destinationLid);
        BigEndian.put16(s, o + 4, packetWords & 0x7ff);
        BigEndian.put16(s, o + 6, sourceLid);
    }

    /** The header as values; the version is 0. */
    public record Fields(
            int virtualLane, int serviceLevel, int nextHeader, int destinationLid, int packetWords, int sourceLid) {

        public static Fields read(MemorySegment s, long o) {
            return new Fields(
                    Lrh.virtualLane(s, o),
                    Lrh.serviceLevel(s, o),
                    Lrh.nextHeader(s, o),
                    Lrh.destinationLid(s, o),
                    Lrh.packetWords(s, o),
                    Lrh.sourceLid(s, o));
        }

        public void write(MemorySegment s, long o) {
            Lrh.write(s, o, virtualLane, serviceLevel, nextHeader, destinationLid, packetWords, sourceLid);
        }

        @Override
        public String toString() {
            return String.format(
                    "LRH lid %04x > %04x vl %d sl %d next %d words %d",
                    sourceLid, destinationLid, virtualLane, serviceLevel, nextHeader, packetWords);
        }
    }
}
