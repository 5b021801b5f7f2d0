// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * Base Transport Header, the first header of every packet of the transport (IBTA vol 1 ch. 9.2.1).
 *
 * <pre>
 *    +--------+--+--+-----+--------+-----------------+
 *  0 | opcode |SE|M |pad  | tver   |  partition key  |
 *    +--------+--+--+-----+--------+-----------------+
 *  4 |F|B| reserved 6 |      destination QP          |
 *    +--------+------------------------------------- +
 *  8 |A| reserved 7   |      PSN                     |
 *    +--------+--------------------------------------+
 * </pre>
 *
 * F and B are the congestion bits FECN and BECN. They and the six reserved bits beside them may change on the way, so
 * the invariant CRC does not cover byte 4.
 */
public final class Bth {
    public static final int BYTES = 12;

    /** Byte 4: the only one of this header that a switch may change (IBTA vol 1 ch. 7.8.1). */
    public static final int VARIANT_BYTE = 4;

    /** The P_Key of the default partition, full membership (IBTA vol 1 ch. 10.9.1.2). */
    public static final int DEFAULT_PARTITION_KEY = 0xffff;

    private static final int DEFAULT_PARTITION = 0x7fff;

    private static final int SOLICITED = 0x80;
    private static final int MIG_REQUEST = 0x40;
    private static final int FECN = 0x80;
    private static final int BECN = 0x40;
    private static final int ACK_REQUEST = 0x80;

    private Bth() {}

    /** Whether a P_Key is of the default partition, with full or limited membership. */
    public static boolean isDefaultPartition(int partitionKey) {
        return (partitionKey & DEFAULT_PARTITION) == DEFAULT_PARTITION;
    }

    /** 0 to 255; {@link Opcode#of(int)} knows what it means. */
    public static int opcode(MemorySegment s, long o) {
        return BigEndian.u8(s, o);
    }

    public static boolean solicited(MemorySegment s, long o) {
        return (BigEndian.u8(s, o + 1) & SOLICITED) != 0;
    }

    public static boolean migRequest(MemorySegment s, long o) {
        return (BigEndian.u8(s, o + 1) & MIG_REQUEST) != 0;
    }

    /** Bytes, 0 to 3, that follow the payload to make it a multiple of 4. */
    public static int padCount(MemorySegment s, long o) {
        return (BigEndian.u8(s, o + 1) >> 4) & 3;
    }

    /** Transport header version; 0 is the only one there is. */
    public static int version(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 1) & 0xf;
    }

    public static int partitionKey(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 2);
    }

    public static boolean fecn(MemorySegment s, long o) {
        return (BigEndian.u8(s, o + 4) & FECN) != 0;
    }

    public static boolean becn(MemorySegment s, long o) {
        return (BigEndian.u8(s, o + 4) & BECN) != 0;
    }

    public static int destinationQp(MemorySegment s, long o) {
        return BigEndian.low24(s, o + 4);
    }

    public static boolean ackRequest(MemorySegment s, long o) {
        return (BigEndian.u8(s, o + 8) & ACK_REQUEST) != 0;
    }

    public static int psn(MemorySegment s, long o) {
        return BigEndian.low24(s, o + 8);
    }

    /** Writes all 12 bytes: version 0, congestion and reserved bits 0. */
    public static void write(
            MemorySegment s,
            long o,
            int opcode,
            boolean solicited,
            boolean migRequest,
            int padCount,
            int partitionKey,
            int destinationQp,
            boolean ackRequest,
            int psn) {
        int flags = (solicited ? SOLICITED : 0) | (migRequest ? MIG_REQUEST : 0) | (padCount & 3) << 4;
        BigEndian.put32(s, o, opcode << 24 | flags << 16 | (partitionKey & 0xffff));
        BigEndian.put32(s, o + 4, destinationQp & 0xffffff);
        BigEndian.put32(s, o + 8, (ackRequest ? ACK_REQUEST << 24 : 0) | (psn & 0xffffff));
    }

    /** Sets the congestion bits of a header already written, and clears the reserved bits beside them. */
    public static void congestion(MemorySegment s, long o, boolean fecn, boolean becn) {
        BigEndian.put8(s, o + VARIANT_BYTE, (fecn ? FECN : 0) | (becn ? BECN : 0));
    }

    /** The header as values. Reserved bits are not kept. */
    public record Fields(
            int opcode,
            boolean solicited,
            boolean migRequest,
            int padCount,
            int version,
            int partitionKey,
            boolean fecn,
            boolean becn,
            int destinationQp,
            boolean ackRequest,
            int psn) {

        public static Fields read(MemorySegment s, long o) {
            return new Fields(
                    Bth.opcode(s, o),
                    Bth.solicited(s, o),
                    Bth.migRequest(s, o),
                    Bth.padCount(s, o),
                    Bth.version(s, o),
                    Bth.partitionKey(s, o),
                    Bth.fecn(s, o),
                    Bth.becn(s, o),
                    Bth.destinationQp(s, o),
                    Bth.ackRequest(s, o),
                    Bth.psn(s, o));
        }

        public void write(MemorySegment s, long o) {
            Bth.write(s, o, opcode, solicited, migRequest, padCount, partitionKey, destinationQp, ackRequest, psn);
            BigEndian.put8(s, o + 1, BigEndian.u8(s, o + 1) | (version & 0xf));
            congestion(s, o, fecn, becn);
        }

        @Override
        public String toString() {
            Opcode known = Opcode.of(opcode);
            return String.format(
                    "BTH %s qp %06x psn %06x pkey %04x pad %d%s%s%s%s%s%s",
                    known == null ? String.format("opcode %02x", opcode) : known.name(),
                    destinationQp,
                    psn,
                    partitionKey,
                    padCount,
                    ackRequest ? " ack-request" : "",
                    solicited ? " solicited" : "",
                    migRequest ? " migrated" : "",
                    fecn ? " fecn" : "",
                    becn ? " becn" : "",
                    version == 0 ? "" : " version " + version);
        }
    }
}
