// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** How far a FLUSH carries the bytes (IBTA volume 1, annex A19; a bit set on the wire). */
public enum FlushPlacement {
    /** Visible to everybody on the host. */
    GLOBAL(1),
    /** On storage that survives a power failure; the region must be a mapped file. */
    PERSISTENT(2);

    private final int code;

    FlushPlacement(int code) {
        this.code = code;
    }

    /** The bit on the wire. */
    public int code() {
        return code;
    }
}
