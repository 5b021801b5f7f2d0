// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What {@link MemoryRegion#reregister} changes (ibv_rereg_mr flags); null leaves a thing as it is.
 *
 * @param segment other memory (CHANGE_TRANSLATION)
 * @param access other {@link AccessFlag} bits (CHANGE_ACCESS)
 * @param protectionDomain another domain of the same device (CHANGE_PD)
 */
public record MemoryRegionChange(
        @Nullable MemorySegment segment,
        @Nullable Integer access,
        @Nullable ProtectionDomain protectionDomain) {

    public static MemoryRegionChange to(MemorySegment segment) {
        return new MemoryRegionChange(segment, null, null);
    }

    public static MemoryRegionChange to(ProtectionDomain domain) {
        return new MemoryRegionChange(null, null, domain);
    }

    public static MemoryRegionChange to(AccessFlag... access) {
        return new MemoryRegionChange(null, AccessFlag.mask(access), null);
    }

    public MemoryRegionChange and(MemorySegment other) {
        return new MemoryRegionChange(other, access, protectionDomain);
    }

    public MemoryRegionChange and(ProtectionDomain other) {
        return new MemoryRegionChange(segment, access, other);
    }

    public MemoryRegionChange and(AccessFlag... other) {
        return new MemoryRegionChange(segment, AccessFlag.mask(other), protectionDomain);
    }
}
