// SPDX-License-Identifier: Apache-2.0
package io.verbena.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * {@code struct msghdr} with one {@code struct iovec} behind it, as sendmsg(2) takes them, and {@code struct cmsghdr}
 * (cmsg(3)), on 64-bit Linux.
 */
public final class MsgHdr {
    /** A msghdr and its iovec. */
    public static final int BYTES = 56 + 16;

    public static final int CMSG_HEADER_BYTES = 16;

    private static final int NAME = 0;
    private static final int NAME_LENGTH = 8;
    private static final int IOV = 16;
    private static final int IOV_LENGTH = 24;
    private static final int CONTROL = 32;
    private static final int CONTROL_LENGTH = 40;
    private static final int FLAGS = 48;
    private static final int IOV_BASE = 56;
    private static final int IOV_BYTES = 64;

    private MsgHdr() {}

    /** Points the message at its iovec, name and control buffer, for its life. */
    public static void init(MemorySegment message, MemorySegment name, MemorySegment control) {
        message.set(ADDRESS, NAME, name);
        message.set(ADDRESS, IOV, message.asSlice(IOV_BASE));
        message.set(JAVA_LONG, IOV_LENGTH, 1L);
        message.set(ADDRESS, CONTROL, control);
    }

    /** Sets what changes from call to call; the kernel overwrites the two lengths on receive. */
    public static void lengths(MemorySegment message, int nameBytes, long controlBytes) {
        message.set(JAVA_INT, NAME_LENGTH, nameBytes);
        message.set(JAVA_LONG, CONTROL_LENGTH, controlBytes);
        message.set(JAVA_INT, FLAGS, 0);
    }

    /** Sets the data, by address, so that no slice is made per call. */
    public static void data(MemorySegment message, long address, long bytes) {
        message.set(JAVA_LONG, IOV_BASE, address);
        message.set(JAVA_LONG, IOV_BYTES, bytes);
    }

    public static int nameLength(MemorySegment message) {
        return message.get(JAVA_INT, NAME_LENGTH);
    }

    public static long controlLength(MemorySegment message) {
        return message.get(JAVA_LONG, CONTROL_LENGTH);
    }

    public static int flags(MemorySegment message) {
        return message.get(JAVA_INT, FLAGS);
    }

    public static long cmsgLength(MemorySegment control, long offset) {
        return control.get(JAVA_LONG, offset);
    }

    public static int cmsgLevel(MemorySegment control, long offset) {
        return control.get(JAVA_INT, offset + 8);
    }

    public static int cmsgType(MemorySegment control, long offset) {
        return control.get(JAVA_INT, offset + 12);
    }

    /** Writes the header of a control message whose data of {@code dataBytes} follow it. */
    public static void cmsg(MemorySegment control, long offset, int level, int type, int dataBytes) {
        control.set(JAVA_LONG, offset, (long) CMSG_HEADER_BYTES + dataBytes);
        control.set(JAVA_INT, offset + 8, level);
        control.set(JAVA_INT, offset + 12, type);
    }

    /** Where the next control message starts: lengths are rounded up to 8 (CMSG_NXTHDR). */
    public static long cmsgNext(MemorySegment control, long offset) {
        return offset + ((Math.max(cmsgLength(control, offset), CMSG_HEADER_BYTES) + 7) & ~7L);
    }
}
