// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import java.util.Arrays;

/**
 * Reads the bytes of a fuzz input as a program: choices and values one after the other, big-endian. Behind its end
 * everything is 0, so that every input is a whole program and a short one can grow. Not thread-safe.
 */
public final class FuzzInput {
    private final byte[] bytes;
    private int at;

    public FuzzInput(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Whether all bytes were read. */
    public boolean atEnd() {
        return at >= bytes.length;
    }

    /** 0 to 255. */
    public int u8() {
        return at < bytes.length ? bytes[at++] & 0xff : 0;
    }

    /** A byte with its sign. */
    public int i8() {
        return (byte) u8();
    }

    public int u16() {
        return u8() << 8 | u8();
    }

    public int i32() {
        return u16() << 16 | u16();
    }

    public long i64() {
        return (long) i32() << 32 | (i32() & 0xffff_ffffL);
    }

    /** 0 to {@code bound} - 1, from one byte; {@code bound} up to 256. */
    public int below(int bound) {
        return u8() % bound;
    }

    /** The next {@code count} bytes, or those that are left. */
    public byte[] bytes(int count) {
        int end = Math.min(bytes.length, at + count);
        byte[] result = Arrays.copyOfRange(bytes, at, end);
        at = end;
        return result;
    }

    /** All that is left. */
    public byte[] rest() {
        return bytes(bytes.length - at);
    }
}
