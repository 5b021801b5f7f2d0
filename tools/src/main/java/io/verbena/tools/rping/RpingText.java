// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.rping;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** What rping sends: {@code rdma-ping-N: } and letters that start one further each time, with a zero at the end. */
final class RpingText {
    private static final int FIRST = 'A';
    private static final int LAST = 'z';

    private int start = FIRST;

    /** Fills the segment with the text of the next round. */
    void fill(MemorySegment target, int round) {
        byte[] head = ("rdma-ping-" + round + ": ").getBytes(StandardCharsets.US_ASCII);
        int letter = start;
        for (int i = 0; i < target.byteSize() - 1; i++) {
            if (i < head.length) {
                target.set(ValueLayout.JAVA_BYTE, i, head[i]);
            } else {
                target.set(ValueLayout.JAVA_BYTE, i, (byte) letter);
                letter = letter == LAST ? FIRST : letter + 1;
            }
        }
        target.set(ValueLayout.JAVA_BYTE, target.byteSize() - 1, (byte) 0);
        start = start == LAST ? FIRST : start + 1;
    }

    /** The bytes up to the first zero. */
    static byte[] bytes(MemorySegment source) {
        byte[] all = source.toArray(ValueLayout.JAVA_BYTE);
        int end = 0;
        while (end < all.length && all[end] != 0) {
            end++;
        }
        return java.util.Arrays.copyOf(all, end);
    }

    /** The text up to the first zero; what is not ASCII shows as a replacement character. */
    static String of(MemorySegment source) {
        return new String(bytes(source), StandardCharsets.US_ASCII);
    }
}
