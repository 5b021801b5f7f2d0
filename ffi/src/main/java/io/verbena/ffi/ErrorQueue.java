// SPDX-License-Identifier: Apache-2.0
package io.verbena.ffi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Reads the error queue of a socket that has IP_RECVERR or IPV6_RECVERR set: ICMP errors come back there with the
 * destination of the datagram that caused them (ip(7), "struct sock_extended_err"). Not thread-safe.
 */
public final class ErrorQueue {
    /** {@link #origin}: the local stack refused, which the send has returned already (SO_EE_ORIGIN_LOCAL). */
    public static final int ORIGIN_LOCAL = 1;

    private static final int CONTROL_BYTES = 256;
    private static final int EXTENDED_ERROR_BYTES = 16;

    private final MemorySegment name;
    private final MemorySegment control;
    private final MemorySegment message;
    private int errno;
    private int origin;

    public ErrorQueue(Arena arena) {
        name = arena.allocate(SockAddr.IN6_BYTES, 8);
        control = arena.allocate(CONTROL_BYTES, 8);
        message = arena.allocate(MsgHdr.BYTES, 8);
        MsgHdr.init(message, name, control);
        // The data is the datagram that caused the error: not wanted.
        MsgHdr.data(message, 0L, 0L);
    }

    /** Takes one error off the queue. False: it is empty. An entry without an error in it reads as errno 0. */
    public boolean next(int fd) {
        MsgHdr.lengths(message, SockAddr.IN6_BYTES, CONTROL_BYTES);
        long received = LinuxSockets.recvmsg(fd, message, LinuxSockets.MSG_ERRQUEUE | LinuxSockets.MSG_DONTWAIT);
        if (received < 0) {
            return false;
        }
        errno = 0;
        origin = 0;
        long length = Math.min(MsgHdr.controlLength(message), CONTROL_BYTES);
        long offset = 0;
        while (offset + MsgHdr.CMSG_HEADER_BYTES + EXTENDED_ERROR_BYTES <= length) {
            if (isExtendedError(offset)) {
                errno = control.get(JAVA_INT, offset + MsgHdr.CMSG_HEADER_BYTES);
                origin = Byte.toUnsignedInt(control.get(JAVA_BYTE, offset + MsgHdr.CMSG_HEADER_BYTES + 4));
                if (MsgHdr.nameLength(message) < SockAddr.IN_BYTES) {
                    errno = 0;
                }
                break;
            }
            offset = MsgHdr.cmsgNext(control, offset);
        }
        return true;
    }

    private boolean isExtendedError(long offset) {
        int level = MsgHdr.cmsgLevel(control, offset);
        int type = MsgHdr.cmsgType(control, offset);
        return (level == LinuxSockets.IPPROTO_IP && type == LinuxSockets.IP_RECVERR)
                || (level == LinuxSockets.IPPROTO_IPV6 && type == LinuxSockets.IPV6_RECVERR);
    }

    public int errno() {
        return errno;
    }

    public int origin() {
        return origin;
    }

    public long remoteHigh() {
        return SockAddr.high(name, 0);
    }

    public long remoteLow() {
        return SockAddr.low(name, 0);
    }

    public int remotePort() {
        return SockAddr.port(name, 0);
    }
}
