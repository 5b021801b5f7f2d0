// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import io.verbena.wire.BigEndian;
import java.lang.foreign.MemorySegment;

/**
 * The header that all management datagrams have in common (IBTA volume 1, 13.4.2).
 *
 * <pre>
 *    +--------------+--------------+---------------+--------+
 *  0 | base version |    class     | class version | method |
 *    +--------------+--------------+---------------+--------+
 *  4 |           status            |     class specific     |
 *    +-----------------------------+------------------------+
 *  8 |                    transaction  64                   |
 *    +-----------------------------+------------------------+
 * 16 |          attribute          |        reserved        |
 *    +-----------------------------+------------------------+
 * 20 |                  attribute modifier                  |
 *    +------------------------------------------------------+
 * </pre>
 */
public final class Mad {
    /** Bytes of this header. */
    public static final int HEADER_BYTES = 24;
    /** Bytes of a whole datagram. */
    public static final int BYTES = 256;

    public static final int BASE_VERSION = 1;
    public static final int CLASS_COMMUNICATION_MANAGEMENT = 0x07;
    public static final int CM_CLASS_VERSION = 2;
    public static final int METHOD_SEND = 0x03;

    /** The general services queue pair (IBTA volume 1, 3.5.10) and what datagrams to it must name (10.2.4). */
    public static final int QUEUE_PAIR = 1;

    public static final int QUEUE_KEY = 0x8001_0000;

    private Mad() {}

    public static int baseVersion(MemorySegment s, long o) {
        return BigEndian.u8(s, o);
    }

    public static int managementClass(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 1);
    }

    public static int classVersion(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 2);
    }

    public static int method(MemorySegment s, long o) {
        return BigEndian.u8(s, o + 3);
    }

    public static int status(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 4);
    }

    public static long transaction(MemorySegment s, long o) {
        return BigEndian.i64(s, o + 8);
    }

    /** {@link CmAttribute#of} knows what it means. */
    public static int attribute(MemorySegment s, long o) {
        return BigEndian.u16(s, o + 16);
    }

    public static int modifier(MemorySegment s, long o) {
        return BigEndian.i32(s, o + 20);
    }

    /** Whether this is a message of a connection manager whose version is known. */
    public static boolean isConnectionManagement(MemorySegment s, long o) {
        return baseVersion(s, o) == BASE_VERSION
                && managementClass(s, o) == CLASS_COMMUNICATION_MANAGEMENT
                && classVersion(s, o) == CM_CLASS_VERSION
                && method(s, o) == METHOD_SEND;
    }

    /** Writes the header of a connection manager's message. */
    public static void write(MemorySegment s, long o, CmAttribute attribute, long transaction) {
        new Fields(
                        BASE_VERSION,
                        CLASS_COMMUNICATION_MANAGEMENT,
                        CM_CLASS_VERSION,
                        METHOD_SEND,
                        0,
                        0,
                        transaction,
                        attribute.id(),
                        0)
                .write(s, o);
    }

    /** The header as values. */
    public record Fields(
            int baseVersion,
            int managementClass,
            int classVersion,
            int method,
            int status,
            int classSpecific,
            long transaction,
            int attribute,
            int modifier) {

        public static Fields read(MemorySegment s, long o) {
            return new Fields(
                    Mad.baseVersion(s, o),
                    Mad.managementClass(s, o),
                    Mad.classVersion(s, o),
                    Mad.method(s, o),
                    Mad.status(s, o),
                    BigEndian.u16(s, o + 6),
                    Mad.transaction(s, o),
                    Mad.attribute(s, o),
                    Mad.modifier(s, o));
        }

        public void write(MemorySegment s, long o) {
            BigEndian.put8(s, o, baseVersion);
            BigEndian.put8(s, o + 1, managementClass);
            BigEndian.put8(s, o + 2, classVersion);
            BigEndian.put8(s, o + 3, method);
            BigEndian.put16(s, o + 4, status);
            BigEndian.put16(s, o + 6, classSpecific);
            BigEndian.put64(s, o + 8, transaction);
            BigEndian.put16(s, o + 16, attribute);
            BigEndian.put16(s, o + 18, 0);
            BigEndian.put32(s, o + 20, modifier);
        }

        @Override
        public String toString() {
            return String.format(
                    "MAD class %02x method %02x attribute %04x transaction %016x%s",
                    managementClass,
                    method,
                    attribute,
                    transaction,
                    status == 0 ? "" : String.format(" status %04x", status));
        }
    }
}
