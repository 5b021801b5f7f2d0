// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import org.jspecify.annotations.Nullable;

/** What a message of the connection manager is: its attribute (IBTA volume 1, 12.6). */
public enum CmAttribute {
    REQ(0x10),
    MRA(0x11),
    REJ(0x12),
    REP(0x13),
    RTU(0x14),
    DREQ(0x15),
    DREP(0x16),
    SIDR_REQ(0x17),
    SIDR_REP(0x18),
    LAP(0x19),
    APR(0x1a);

    private static final CmAttribute[] ALL = values();

    private final int id;

    CmAttribute(int id) {
        this.id = id;
    }

    public int id() {
        return id;
    }

    /** The attribute of this number, or null. */
    public static @Nullable CmAttribute of(int id) {
        int index = id - REQ.id;
        return index >= 0 && index < ALL.length ? ALL[index] : null;
    }
}
