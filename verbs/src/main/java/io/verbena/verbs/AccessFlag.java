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
    MEMORY_WINDOW_BIND(1 << 4);

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
