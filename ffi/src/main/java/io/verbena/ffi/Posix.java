// SPDX-License-Identifier: Apache-2.0
package io.verbena.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** How this package finds C functions, and where their errno goes. */
final class Posix {
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            CAPTURE.varHandle(java.lang.foreign.MemoryLayout.PathElement.groupElement("errno"));
    // One per thread: with a shared one, two threads would read each other's errno.
    private static final ThreadLocal<MemorySegment> STATE =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(CAPTURE));

    private Posix() {}

    static boolean granted() {
        boolean linux64 = System.getProperty("os.name", "").equals("Linux") && ValueLayout.ADDRESS.byteSize() == 8;
        // Asked first, because the JDK would print a warning on the first restricted call instead of refusing it.
        return linux64 && Posix.class.getModule().isNativeAccessEnabled();
    }

    /** A handle whose first argument is {@link #state()}. */
    @SuppressWarnings("restricted")
    static MethodHandle function(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        MemorySegment symbol =
                linker.defaultLookup().find(name).orElseThrow(() -> new UnsatisfiedLinkError("libc has no " + name));
        return linker.downcallHandle(symbol, descriptor, Linker.Option.captureCallState("errno"));
    }

    /**
     * A handle that does not tell errno. The one that does makes a slice of {@link #state()} in each call, which stays
     * garbage where the compiler has seen many kinds of segments. Pointers are plain addresses here for the same
     * reason: the caller keeps what they point to alive.
     */
    @SuppressWarnings("restricted")
    static MethodHandle quickFunction(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        MemorySegment symbol =
                linker.defaultLookup().find(name).orElseThrow(() -> new UnsatisfiedLinkError("libc has no " + name));
        return linker.downcallHandle(symbol, descriptor);
    }

    static MemorySegment state() {
        return STATE.get();
    }

    /** {@code result}, or the negative errno if it is -1. */
    static int result(int result, MemorySegment state) {
        return result == -1 ? -(int) ERRNO.get(state, 0L) : result;
    }

    /** {@code result}, or the negative errno if it is -1. */
    static long result(long result, MemorySegment state) {
        return result == -1 ? -(int) ERRNO.get(state, 0L) : result;
    }

    static AssertionError unexpected(Throwable t) {
        return new AssertionError("a downcall handle threw", t);
    }
}
