// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * Rights to a part of a region that come and go with a work request, without registration (ibv_mw; IBTA volume 1,
 * 10.6.7). Thread-safe.
 */
public interface MemoryWindow extends AutoCloseable {
    ProtectionDomain protectionDomain();

    MemoryWindowType type();

    /** The key to give to a peer, as of the newest bind that was posted. */
    int rkey();

    /** A key for the next bind of a type 2 window: the same index, the next of its 256 tags (ibv_inc_rkey). */
    default int nextRkey() {
        int rkey = rkey();
        return (rkey & ~0xff) | ((rkey + 1) & 0xff);
    }

    /** Deallocates the window, bound or not; a peer that still uses its key gets a remote access error. */
    @Override
    void close();
}
