// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.verbs.Gid;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * What perftest's ends tell each other about a queue pair; as text it is a C string of fields in hexadecimal digits,
 * each followed by a colon, the GID as 16 bytes (perftest, perftest_communication.c, with a GID).
 *
 * @param outstandingReads READs and atomics that may be outstanding at this side
 * @param address where the peer may write, read or count
 */
record PerfDestination(int lid, int outstandingReads, int qpNumber, int psn, int rkey, long address, Gid gid) {
    /** 107 characters and a NUL. */
    static final int MESSAGE_BYTES = 108;

    /** Says nothing: only that this side has come so far. */
    static final PerfDestination NONE = new PerfDestination(0, 0, 0, 0, 0, 0, Gid.ZERO);

    private static final int GID_BYTES = 16;
    private static final int[] WIDTHS = {4, 4, 6, 6, 8, 16};

    byte[] encode() {
        HexFormat hex = HexFormat.of();
        StringBuilder text = new StringBuilder(MESSAGE_BYTES);
        text.append(hex.toHexDigits(lid, 4)).append(':');
        text.append(hex.toHexDigits(outstandingReads, 4)).append(':');
        text.append(hex.toHexDigits(qpNumber, 6)).append(':');
        text.append(hex.toHexDigits(psn, 6)).append(':');
        text.append(hex.toHexDigits(rkey)).append(':');
        text.append(hex.toHexDigits(address)).append(':');
        String digits = gid.toHex();
        for (int i = 0; i < GID_BYTES; i++) {
            text.append(digits, 2 * i, 2 * i + 2).append(':');
        }
        // The number of a shared receive queue; there is none.
        text.append(hex.toHexDigits(0)).append(':').append('\0');
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Takes a message apart.
     *
     * @throws IllegalArgumentException for anything but such a message
     */
    static PerfDestination decode(byte[] message) {
        String text = new String(message, StandardCharsets.ISO_8859_1);
        String[] fields = text.split(":", -1);
        if (message.length != MESSAGE_BYTES || fields.length != WIDTHS.length + GID_BYTES + 2) {
            throw new IllegalArgumentException("not the fields of a destination");
        }
        long[] values = new long[WIDTHS.length];
        for (int i = 0; i < WIDTHS.length; i++) {
            if (fields[i].length() != WIDTHS[i]) {
                throw new IllegalArgumentException("field " + i + " has " + fields[i].length() + " digits");
            }
            values[i] = HexFormat.fromHexDigitsToLong(fields[i]);
        }
        HexFormat.fromHexDigits(fields[WIDTHS.length + GID_BYTES]);
        if (!fields[fields.length - 1].equals("\0")) {
            throw new IllegalArgumentException("no end");
        }
        StringBuilder gid = new StringBuilder(2 * GID_BYTES);
        for (int i = 0; i < GID_BYTES; i++) {
            gid.append(fields[WIDTHS.length + i]);
        }
        return new PerfDestination(
                (int) values[0],
                (int) values[1],
                (int) values[2],
                (int) values[3],
                (int) values[4],
                values[5],
                Gid.ofHex(gid.toString()));
    }
}
