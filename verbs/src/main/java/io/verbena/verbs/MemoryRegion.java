// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.lang.foreign.MemorySegment;

/** Registered memory (ibv_mr). Addresses are the virtual addresses of this process, as on hardware. Thread-safe. */
public interface MemoryRegion extends AutoCloseable {
    ProtectionDomain protectionDomain();

    MemorySegment segment();

    /** The virtual address of the first byte: what a peer names together with the {@link #rkey()}. */
    long address();

    /** Bytes; may exceed 2^31. */
    long length();

    /** The key for this process's own work requests. */
    int lkey();

    /**
     * The key to give to a peer. It differs from {@link #lkey()}, so that one in place of the other fails here as it
     * does elsewhere.
     */
    int rkey();

    /** The {@link AccessFlag} bits that it was registered with. */
    int access();

    /**
     * Changes memory, rights or protection domain under the same keys (ibv_rereg_mr). Work under way uses the region as
     * it was or as it becomes. When this throws nothing has changed.
     *
     * @throws IllegalArgumentException as {@link ProtectionDomain#register}
     * @throws RdmaException {@link RdmaException.Reason#BUSY} while memory windows are bound to it
     */
    void reregister(MemoryRegionChange change);

    /**
     * Deregisters (ibv_dereg_mr). When it returns the device touches the memory no more; a peer that still uses the key
     * gets a remote access error, local work in flight ends with a local protection error.
     *
     * @throws RdmaException {@link RdmaException.Reason#BUSY} while memory windows are bound to it
     */
    @Override
    void close();
}
