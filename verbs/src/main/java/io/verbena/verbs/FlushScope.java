// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** What a FLUSH covers (IBTA volume 1, annex A19). */
public enum FlushScope {
    /** The bytes from the remote address on. */
    RANGE(0),
    /** The whole region of the key; address and length mean nothing. */
    REGION(1);

    private final int code;

    FlushScope(int code) {
        this.code = code;
    }

    /** The value on the wire. */
    public int code() {
        return code;
    }
}
