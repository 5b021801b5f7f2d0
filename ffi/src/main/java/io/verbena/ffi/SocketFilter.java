// SPDX-License-Identifier: Apache-2.0
package io.verbena.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Classic BPF programs on a socket (socket(7), SO_ATTACH_FILTER). */
public final class SocketFilter {
    private static final int FILTER_BYTES = 8;
    private static final int PROGRAM_BYTES = 16;
    /** BPF_RET | BPF_K: return the constant k, the number of bytes to keep. */
    private static final short RETURN_CONSTANT = 0x06;

    private SocketFilter() {}

    /** Makes the socket drop whatever is sent to it; its error queue still works. 0 or a negative errno. */
    public static int dropAll(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment filter = arena.allocate(FILTER_BYTES, 8);
            filter.set(JAVA_SHORT, 0, RETURN_CONSTANT);
            MemorySegment program = arena.allocate(PROGRAM_BYTES, 8);
            program.set(JAVA_SHORT, 0, (short) 1);
            program.set(ADDRESS, 8, filter);
            return LinuxSockets.setsockopt(
                    fd, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_ATTACH_FILTER, program, PROGRAM_BYTES);
        }
    }
}
