// SPDX-License-Identifier: Apache-2.0
package io.verbena.ffi;

/** Linux error numbers (asm-generic/errno.h: the same on x86-64 and AArch64). */
public final class Errno {
    public static final int EPERM = 1;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int EACCES = 13;
    public static final int ENODEV = 19;
    public static final int EINVAL = 22;
    public static final int EMFILE = 24;
    public static final int ENOSYS = 38;
    public static final int ENOTSOCK = 88;
    public static final int EMSGSIZE = 90;
    public static final int EPROTO = 71;
    public static final int ENOPROTOOPT = 92;
    public static final int EOPNOTSUPP = 95;
    public static final int EAFNOSUPPORT = 97;
    public static final int EADDRINUSE = 98;
    public static final int EADDRNOTAVAIL = 99;
    public static final int ENETDOWN = 100;
    public static final int ENETUNREACH = 101;
    public static final int ENOBUFS = 105;
    public static final int ECONNREFUSED = 111;
    public static final int EHOSTDOWN = 112;
    public static final int EHOSTUNREACH = 113;

    private Errno() {}

    /** The symbol and what it means, such as "ECONNREFUSED (connection refused)". */
    public static String describe(int errno) {
        return switch (errno) {
            case 0 -> "no error";
            case EPERM -> "EPERM (operation not permitted)";
            case EINTR -> "EINTR (interrupted system call)";
            case EIO -> "EIO (input/output error)";
            case EBADF -> "EBADF (bad file descriptor)";
            case EAGAIN -> "EAGAIN (try again)";
            case EACCES -> "EACCES (permission denied)";
            case ENODEV -> "ENODEV (no such device)";
            case EINVAL -> "EINVAL (invalid argument)";
            case EMFILE -> "EMFILE (too many open files)";
            case ENOSYS -> "ENOSYS (function not implemented)";
            case ENOTSOCK -> "ENOTSOCK (not a socket)";
            case EMSGSIZE -> "EMSGSIZE (message longer than the path MTU)";
            case EPROTO -> "EPROTO (protocol error)";
            case ENOPROTOOPT -> "ENOPROTOOPT (protocol not available)";
            case EOPNOTSUPP -> "EOPNOTSUPP (operation not supported)";
            case EAFNOSUPPORT -> "EAFNOSUPPORT (address family not supported)";
            case EADDRINUSE -> "EADDRINUSE (address in use)";
            case EADDRNOTAVAIL -> "EADDRNOTAVAIL (address not available)";
            case ENETDOWN -> "ENETDOWN (network is down)";
            case ENETUNREACH -> "ENETUNREACH (network unreachable)";
            case ENOBUFS -> "ENOBUFS (no buffer space)";
            case ECONNREFUSED -> "ECONNREFUSED (connection refused)";
            case EHOSTDOWN -> "EHOSTDOWN (host is down)";
            case EHOSTUNREACH -> "EHOSTUNREACH (no route to host)";
            default -> "errno " + errno;
        };
    }
}
