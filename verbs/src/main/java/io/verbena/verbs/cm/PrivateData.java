// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Bytes that the programs on both sides tell each other within the messages of the connection manager. What was
 * received is as long as the message has room for, filled with zeros: the length that was sent is not transmitted.
 * Immutable.
 */
public final class PrivateData {
    public static final PrivateData NONE = new PrivateData(new byte[0]);

    private final byte[] bytes;

    private PrivateData(byte[] bytes) {
        this.bytes = bytes;
    }

    public static PrivateData of(byte... bytes) {
        return bytes.length == 0 ? NONE : new PrivateData(bytes.clone());
    }

    /** What remains in the buffer, whose position stays. */
    public static PrivateData of(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(buffer.position(), bytes);
        return of(bytes);
    }

    public static PrivateData utf8(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    public int length() {
        return bytes.length;
    }

    /** A copy. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** A view, big-endian, that cannot be written. */
    public ByteBuffer buffer() {
        return ByteBuffer.wrap(bytes).asReadOnlyBuffer();
    }

    /** Text up to the first zero. */
    public String utf8() {
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PrivateData data && Arrays.equals(bytes, data.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
