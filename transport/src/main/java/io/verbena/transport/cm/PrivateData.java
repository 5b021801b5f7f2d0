// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/** What consumers tell each other within the messages that connect them. */
final class PrivateData {
    static final byte[] NONE = {};

    private PrivateData() {}

    static void check(String message, byte[] data, int most) {
        if (data.length > most) {
            throw new IllegalArgumentException(
                    "a " + message + " has room for " + most + " bytes of private data, not " + data.length);
        }
    }

    static byte[] read(MemorySegment mad, long offset, int bytes) {
        byte[] data = new byte[bytes];
        MemorySegment.copy(mad, JAVA_BYTE, offset, data, 0, bytes);
        return data;
    }
}
