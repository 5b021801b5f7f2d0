// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** Payload bytes of the largest packet of a path (ibv_mtu; IBTA volume 1, 7.7.8). */
public enum Mtu {
    MTU_256(256),
    MTU_512(512),
    MTU_1024(1024),
    MTU_2048(2048),
    MTU_4096(4096);

    private final int bytes;

    Mtu(int bytes) {
        this.bytes = bytes;
    }

    public int bytes() {
        return bytes;
    }

    /** The encoding of ibv_mtu and of CM messages: 1 for 256 to 5 for 4096. */
    public int code() {
        return ordinal() + 1;
    }

    public static Mtu ofCode(int code) {
        if (code < 1 || code > values().length) {
            throw new IllegalArgumentException("not an MTU code: " + code + "; 1 (256 bytes) to 5 (4096 bytes) are");
        }
        return values()[code - 1];
    }

    public static Mtu ofBytes(int bytes) {
        for (Mtu mtu : values()) {
            if (mtu.bytes == bytes) {
                return mtu;
            }
        }
        throw new IllegalArgumentException("not an MTU: " + bytes + "; 256, 512, 1024, 2048 and 4096 are");
    }

    /** The largest MTU of at most {@code bytes}, 256 when none is. */
    public static Mtu atMost(int bytes) {
        Mtu best = MTU_256;
        for (Mtu mtu : values()) {
            if (mtu.bytes <= bytes) {
                best = mtu;
            }
        }
        return best;
    }
}
