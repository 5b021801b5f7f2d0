// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.Arrays;

/** The entries of a request under construction; grows once and is reused. */
final class ScatterGatherList {
    private int count;
    private long[] addresses = new long[4];
    private int[] lengths = new int[4];
    private int[] lkeys = new int[4];

    void clear() {
        count = 0;
    }

    void add(long address, int length, int lkey) {
        if (count == addresses.length) {
            addresses = Arrays.copyOf(addresses, count * 2);
            lengths = Arrays.copyOf(lengths, count * 2);
            lkeys = Arrays.copyOf(lkeys, count * 2);
        }
        addresses[count] = address;
        lengths[count] = length;
        lkeys[count++] = lkey;
    }

    int count() {
        return count;
    }

    long address(int index) {
        return addresses[index];
    }

    int length(int index) {
        return lengths[index];
    }

    int lkey(int index) {
        return lkeys[index];
    }
}
