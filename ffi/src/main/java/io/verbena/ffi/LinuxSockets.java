// SPDX-License-Identifier: Apache-2.0
package io.verbena.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The system calls of Linux sockets, named after their man pages (section 2). Each returns what the man page says, but
 * the <em>negative errno</em> in place of -1. Call nothing here unless {@link #available}.
 */
public final class LinuxSockets {
    public static final int AF_INET = 2;
    public static final int AF_INET6 = 10;
    public static final int SOCK_DGRAM = 2;
    public static final int SOCK_NONBLOCK = 0x800;
    public static final int SOCK_CLOEXEC = 0x80000;

    public static final int SOL_SOCKET = 1;
    public static final int SO_REUSEADDR = 2;
    public static final int SO_TYPE = 3;
    public static final int SO_SNDBUF = 7;
    public static final int SO_RCVBUF = 8;
    public static final int SO_NO_CHECK = 11;
    public static final int SO_ATTACH_FILTER = 26;
    public static final int SO_RCVBUFFORCE = 33;
    public static final int SO_PROTOCOL = 38;

    public static final int IPPROTO_IP = 0;
    public static final int IP_TOS = 1;
    public static final int IP_MTU_DISCOVER = 10;
    public static final int IP_RECVERR = 11;
    public static final int IP_RECVTOS = 13;
    public static final int IP_MULTICAST_IF = 32;
    public static final int IP_ADD_MEMBERSHIP = 35;
    public static final int IP_MULTICAST_ALL = 49;
    public static final int IP_PMTUDISC_DO = 2;

    public static final int IPPROTO_IPV6 = 41;
    public static final int IPV6_MULTICAST_IF = 17;
    public static final int IPV6_ADD_MEMBERSHIP = 20;
    public static final int IPV6_MTU_DISCOVER = 23;
    public static final int IPV6_RECVERR = 25;
    public static final int IPV6_V6ONLY = 26;
    public static final int IPV6_MULTICAST_ALL = 29;
    public static final int IPV6_RECVTCLASS = 66;
    public static final int IPV6_TCLASS = 67;

    public static final int IPPROTO_UDP = 17;
    public static final int UDP_NO_CHECK6_TX = 101;
    public static final int UDP_NO_CHECK6_RX = 102;
    public static final int UDP_SEGMENT = 103;
    public static final int UDP_GRO = 104;

    public static final int MSG_DONTWAIT = 0x40;
    public static final int MSG_TRUNC = 0x20;
    public static final int MSG_ERRQUEUE = 0x2000;

    public static final int EFD_NONBLOCK = 0x800;
    public static final int EFD_CLOEXEC = 0x80000;

    public static final short POLLIN = 1;
    public static final short POLLOUT = 4;
    public static final short POLLERR = 8;

    private static final boolean AVAILABLE = load();

    private LinuxSockets() {}

    /** Whether this is 64-bit Linux, native access is granted to this module, and libc has all the functions. */
    public static boolean available() {
        return AVAILABLE;
    }

    private static boolean load() {
        if (!Posix.granted()) {
            return false;
        }
        try {
            return Calls.GETSOCKNAME != null;
        } catch (LinkageError | RuntimeException e) {
            System.getLogger("io.verbena.ffi")
                    .log(System.Logger.Level.DEBUG, "no system calls for sockets: works with less", e);
            return false;
        }
    }

    /** {@code int socket(int domain, int type, int protocol)}. */
    public static int socket(int domain, int type, int protocol) {
        MemorySegment state = Posix.state();
        try {
            return Posix.result((int) Calls.SOCKET.invokeExact(state, domain, type, protocol), state);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** {@code int bind(int fd, const struct sockaddr *address, socklen_t length)}. */
    public static int bind(int fd, MemorySegment address, int length) {
        MemorySegment state = Posix.state();
        try {
            return Posix.result((int) Calls.BIND.invokeExact(state, fd, address, length), state);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** {@code int close(int fd)}. */
    public static int close(int fd) {
        MemorySegment state = Posix.state();
        try {
            return Posix.result((int) Calls.CLOSE.invokeExact(state, fd), state);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** {@code int getsockname(int fd, struct sockaddr *address, socklen_t *length)}. */
    public static int getsockname(int fd, MemorySegment address, MemorySegment length) {
        MemorySegment state = Posix.state();
        try {
            return Posix.result((int) Calls.GETSOCKNAME.invokeExact(state, fd, address, length), state);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** {@code int getsockopt(int fd, int level, int name, void *value, socklen_t *length)}. */
    public static int getsockopt(int fd, int level, int name, MemorySegment value, MemorySegment length) {
        MemorySegment state = Posix.state();
        try {
            return Posix.result((int) Calls.GETSOCKOPT.invokeExact(state, fd, level, name, value, length), state);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** {@code int setsockopt(int fd, int level, int name, const void *value, socklen_t length)}. */
    public static int setsockopt(int fd, int level, int name, MemorySegment value, int length) {
        MemorySegment state = Posix.state();
        try {
            return Posix.result((int) Calls.SETSOCKOPT.invokeExact(state, fd, level, name, value, length), state);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** {@link #setsockopt(int, int, int, MemorySegment, int)} of an {@code int}. */
    public static int setsockopt(int fd, int level, int name, int value) {
        try (Arena arena = Arena.ofConfined()) {
            return setsockopt(fd, level, name, arena.allocateFrom(JAVA_INT, value), Integer.BYTES);
        }
    }

    /** {@link #getsockopt(int, int, int, MemorySegment, MemorySegment)} of a non-negative {@code int}. */
    public static int getsockopt(int fd, int level, int name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(JAVA_INT);
            int result = getsockopt(fd, level, name, value, arena.allocateFrom(JAVA_INT, Integer.BYTES));
            return result < 0 ? result : value.get(JAVA_INT, 0);
        }
    }

    /** {@code ssize_t sendmsg(int fd, const struct msghdr *message, int flags)}. */
    public static long sendmsg(int fd, MemorySegment message, int flags) {
        MemorySegment state = Posix.state();
        try {
            return Posix.result((long) Calls.SENDMSG.invokeExact(state, fd, message, flags), state);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** {@code ssize_t recvmsg(int fd, struct msghdr *message, int flags)}. */
    public static long recvmsg(int fd, MemorySegment message, int flags) {
        MemorySegment state = Posix.state();
        try {
            return Posix.result((long) Calls.RECVMSG.invokeExact(state, fd, message, flags), state);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** {@code int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, NULL)}. */
    public static int ppoll(MemorySegment fds, long count, MemorySegment timeout) {
        MemorySegment state = Posix.state();
        try {
            return Posix.result((int) Calls.PPOLL.invokeExact(state, fds, count, timeout, MemorySegment.NULL), state);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /**
     * As {@link #sendmsg}, without allocation in any program, and -1 for every error: call {@link #sendmsg} to learn
     * which. The caller keeps the message and what it points to reachable.
     */
    public static long sendmsgQuick(int fd, long message, int flags) {
        try {
            return (long) Calls.SENDMSG_QUICK.invokeExact(fd, message, flags);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** As {@link #recvmsg}, in the way of {@link #sendmsgQuick}. */
    public static long recvmsgQuick(int fd, long message, int flags) {
        try {
            return (long) Calls.RECVMSG_QUICK.invokeExact(fd, message, flags);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** As {@link #ppoll}, in the way of {@link #sendmsgQuick}; a timeout of 0 is a null pointer. */
    public static int ppollQuick(long fds, long count, long timeout) {
        try {
            return (int) Calls.PPOLL_QUICK.invokeExact(fds, count, timeout, 0L);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** {@code int eventfd(unsigned initial, int flags)}. */
    public static int eventfd(int initial, int flags) {
        MemorySegment state = Posix.state();
        try {
            return Posix.result((int) Calls.EVENTFD.invokeExact(state, initial, flags), state);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** {@code ssize_t read(int fd, void *buffer, size_t count)}. */
    public static long read(int fd, MemorySegment buffer, long count) {
        MemorySegment state = Posix.state();
        try {
            return Posix.result((long) Calls.READ.invokeExact(state, fd, buffer, count), state);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** {@code ssize_t write(int fd, const void *buffer, size_t count)}. */
    public static long write(int fd, MemorySegment buffer, long count) {
        MemorySegment state = Posix.state();
        try {
            return Posix.result((long) Calls.WRITE.invokeExact(state, fd, buffer, count), state);
        } catch (Throwable t) {
            throw Posix.unexpected(t);
        }
    }

    /** Holds the handles, so that they are made only where the system has the functions. */
    private static final class Calls {
        static final MethodHandle SOCKET =
                Posix.function("socket", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
        static final MethodHandle BIND =
                Posix.function("bind", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
        static final MethodHandle CLOSE = Posix.function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        static final MethodHandle GETSOCKNAME =
                Posix.function("getsockname", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
        static final MethodHandle GETSOCKOPT = Posix.function(
                "getsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
        static final MethodHandle SETSOCKOPT = Posix.function(
                "setsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
        static final MethodHandle SENDMSG =
                Posix.function("sendmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
        static final MethodHandle RECVMSG =
                Posix.function("recvmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
        static final MethodHandle PPOLL =
                Posix.function("ppoll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));
        static final MethodHandle SENDMSG_QUICK =
                Posix.quickFunction("sendmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
        static final MethodHandle RECVMSG_QUICK =
                Posix.quickFunction("recvmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
        static final MethodHandle PPOLL_QUICK = Posix.quickFunction(
                "ppoll", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        static final MethodHandle EVENTFD =
                Posix.function("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
        static final MethodHandle READ =
                Posix.function("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
        static final MethodHandle WRITE =
                Posix.function("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));

        private Calls() {}
    }
}
