// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.HexFormat;

/**
 * What two sides tell each other before they connect their queue pairs. {@link #toString} and {@link #parse} use the
 * line that ibv_rc_pingpong exchanges: {@code lid:qpn:psn:gid}.
 *
 * @param lid 16-bit local identifier, 0 on Ethernet
 * @param qpNumber 24 bits
 * @param psn the first packet sequence number this side sends, 24 bits
 */
public record QueuePairEndpoint(int lid, int qpNumber, int psn, Gid gid) {
    /** Parses {@code lid:qpn:psn:gid}. */
    public static QueuePairEndpoint parse(String line) {
        String[] fields = line.split(":", -1);
        if (fields.length != 4 || fields[0].length() != 4 || fields[1].length() != 6 || fields[2].length() != 6) {
            throw new IllegalArgumentException("not lid:qpn:psn:gid: \"" + line + "\"");
        }
        return new QueuePairEndpoint(
                HexFormat.fromHexDigits(fields[0]),
                HexFormat.fromHexDigits(fields[1]),
                HexFormat.fromHexDigits(fields[2]),
                Gid.ofHex(fields[3]));
    }

    @Override
    public String toString() {
        HexFormat hex = HexFormat.of();
        return hex.toHexDigits(lid, 4) + ":" + hex.toHexDigits(qpNumber, 6) + ":" + hex.toHexDigits(psn, 6) + ":"
                + gid.toHex();
    }
}
