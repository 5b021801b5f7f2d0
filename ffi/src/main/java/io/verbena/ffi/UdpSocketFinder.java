// SPDX-License-Identifier: Apache-2.0
package io.verbena.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Finds the file descriptor of a UDP socket of this process, which {@code java.nio.channels} does not give away. */
public final class UdpSocketFinder {
    private static final Path OWN_DESCRIPTORS = Path.of("/proc/self/fd");

    private UdpSocketFinder() {}

    /**
     * The descriptor of the UDP socket bound to exactly this address and port, or -1. Two sockets can share that only
     * with SO_REUSEPORT or SO_REUSEADDR.
     */
    public static int find(long addressHigh, long addressLow, int port) {
        if (!LinuxSockets.available()) {
            return -1;
        }
        try (Arena arena = Arena.ofConfined();
                DirectoryStream<Path> descriptors = Files.newDirectoryStream(OWN_DESCRIPTORS)) {
            MemorySegment name = arena.allocate(SockAddr.IN6_BYTES, 8);
            MemorySegment length = arena.allocate(JAVA_INT);
            for (Path entry : descriptors) {
                int fd = parse(entry);
                if (fd < 0) {
                    continue;
                }
                name.fill((byte) 0);
                length.set(JAVA_INT, 0, SockAddr.IN6_BYTES);
                // Anything but a socket answers ENOTSOCK.
                if (LinuxSockets.getsockname(fd, name, length) == 0
                        && SockAddr.port(name, 0) == port
                        && SockAddr.high(name, 0) == addressHigh
                        && SockAddr.low(name, 0) == addressLow
                        && LinuxSockets.getsockopt(fd, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_PROTOCOL)
                                == LinuxSockets.IPPROTO_UDP) {
                    return fd;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            System.getLogger("io.verbena.ffi").log(System.Logger.Level.DEBUG, "cannot list " + OWN_DESCRIPTORS, e);
        }
        return -1;
    }

    private static int parse(Path entry) {
        try {
            return Integer.parseInt(String.valueOf(entry.getFileName()));
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
