// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import java.util.Arrays;

/**
 * What a responder remembers of READs and atomics, so that it can answer them and answer them again: PSN range, address and key, for
 * an atomic the old value; never data (IBTA volume 1, 9.4.4 and 9.7.7). As many as max_dest_rd_atomic; the oldest gives way.
 *
 * <p>Entries are kept in PSN order. Those from {@link #sending()} on are not completely answered.
 */
final class ResponderResources {
    private int depth;
    private boolean[] atomic = new boolean[0];
    private int[] firstPsn = new int[0];
    private int[] packets = new int[0];
    private int[] cursor = new int[0];
    private long[] address = new long[0];
    private long[] length = new long[0];
    private int[] rkey = new int[0];
    private long[] original = new long[0];
    private long added;
    private int unanswered;
    /** Every entry added before this one is answered. */
    private long answeredBefore;

    /** Room for {@code depth} entries, all forgotten. */
    void resize(int depth) {
        this.depth = depth;
        atomic = new boolean[depth];
        firstPsn = new int[depth];
        packets = new int[depth];
        cursor = new int[depth];
        address = new long[depth];
        length = new long[depth];
        rkey = new int[depth];
        original = new long[depth];
        added = 0;
        unanswered = 0;
        answeredBefore = 0;
    }

    int depth() {
        return depth;
    }

    void clear() {
        added = 0;
        unanswered = 0;
        answeredBefore = 0;
        Arrays.fill(packets, 0);
    }

    /** How many entries wait for their answer to be sent. */
    int unanswered() {
        return unanswered;
    }

    void addRead(int psn, int count, long va, long bytes, int key) {
        int at = add(psn, count, va, key);
        atomic[at] = false;
        length[at] = bytes;
    }

    void addAtomic(int psn, long va, int key, long value) {
        int at = add(psn, 1, va, key);
        atomic[at] = true;
        original[at] = value;
    }

    private int add(int psn, int count, long va, int key) {
        int at = (int) (added++ % depth);
        firstPsn[at] = psn;
        packets[at] = count;
        cursor[at] = 0;
        address[at] = va;
        rkey[at] = key;
        unanswered++;
        return at;
    }

    /** The entry whose answer goes out next, or -1. */
    int sending() {
        if (unanswered == 0) {
            return -1;
        }
        for (long i = Math.max(answeredBefore, added - depth); i < added; i++) {
            int at = (int) (i % depth);
            if (cursor[at] < packets[at]) {
                answeredBefore = i;
                return at;
            }
        }
        return -1;
    }

    /** The entry whose PSN range holds {@code psn}, or -1 when it gave way already. */
    int find(int psn) {
        for (long i = added - 1; i >= Math.max(0, added - depth); i--) {
            int at = (int) (i % depth);
            int ahead = Psn.diff(psn, firstPsn[at]);
            if (ahead >= 0 && ahead < packets[at]) {
                return at;
            }
        }
        return -1;
    }

    /** Moves on by a packet; true when that was the last one. */
    boolean advance(int at) {
        if (++cursor[at] == packets[at]) {
            unanswered--;
            return true;
        }
        return false;
    }

    /** Answers again from {@code packet} of an entry on, unless that part has not been sent yet anyway. */
    void repeat(int at, int packet) {
        if (cursor[at] == packets[at]) {
            unanswered++;
        }
        cursor[at] = Math.min(cursor[at], packet);
        answeredBefore = 0;
    }

    /** Gives up on what was not answered, as an error does. */
    void abandon(int at) {
        cursor[at] = packets[at];
        unanswered--;
    }

    boolean isAtomic(int at) {
        return atomic[at];
    }

    int firstPsn(int at) {
        return firstPsn[at];
    }

    int packets(int at) {
        return packets[at];
    }

    int cursor(int at) {
        return cursor[at];
    }

    long address(int at) {
        return address[at];
    }

    long length(int at) {
        return length[at];
    }

    int rkey(int at) {
        return rkey[at];
    }

    long original(int at) {
        return original[at];
    }
}
