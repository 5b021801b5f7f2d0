// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * What may be done with a memory region, and what a queue pair lets its peer do (ibv_access_flags; codes are the same).
 */
public enum AccessFlag {
    /** The device may write: receives, READ and atomic results. Needed by REMOTE_WRITE and REMOTE_ATOMIC. */
    LOCAL_WRITE(1),
    REMOTE_WRITE(1 << 1),
    REMOTE_READ(1 << 2),
    REMOTE_ATOMIC(1 << 3),
    /** Memory windows may be bound to the region. */
    MEMORY_WINDOW_BIND(1 << 4),
    /** A peer may ask that writes become visible to all of this host. */
    FLUSH_GLOBAL(1 << 8),
    /** A peer may ask that writes become persistent; for regions over mapped files. */
    FLUSH_PERSISTENT(1 << 9);

    private final int code;

    AccessFlag(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    /** The bit set of these flags. */
    public static int mask(AccessFlag... flags) {
        int mask = 0;
        for (AccessFlag flag : flags) {
            mask |= flag.code;
        }
        return mask;
    }
}
