// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.Objects;

/**
 * What a memory window is bound to (ibv_mw_bind_info). A bind that breaks one of these rules completes with
 * MW_BIND_ERR.
 *
 * @param region of the window's and the queue pair's domain, registered with {@link AccessFlag#MEMORY_WINDOW_BIND}
 * @param address the first byte, inside the region
 * @param length bytes; 0 takes the rights of a type 1 window back
 * @param access {@link AccessFlag} bits for the peer; remote write and atomic need a region with LOCAL_WRITE, flushes a
 *     region with the same flush right
 */
public record MemoryWindowBinding(MemoryRegion region, long address, long length, int access) {
    public MemoryWindowBinding {
        Objects.requireNonNull(region, "region");
        if (length < 0) {
            throw new IllegalArgumentException("a negative length: " + length);
        }
    }

    /** A stretch of the region, from {@code offset}. */
    public static MemoryWindowBinding of(MemoryRegion region, long offset, long length, AccessFlag... access) {
        return new MemoryWindowBinding(region, region.address() + offset, length, AccessFlag.mask(access));
    }
}
