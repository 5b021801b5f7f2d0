// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.wire.ib.Opcode;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a responder remembers of READs, atomics, FLUSHes and atomic writes, so that it can answer them and answer them
 * again: PSN range, address and key, for an atomic the old value; never data (IBTA volume 1, 9.4.4, 9.7.7 and annex
 * A19). As many as max_dest_rd_atomic; the oldest gives way.
 *
 * <p>Entries are kept in PSN order. Those from {@link #sending()} on are not completely answered.
 */
final class ResponderResources {
    private static final Opcode.@Nullable Operation[] NO_OPERATIONS = {};
    private static final int[] NO_INTS = {};
    private static final long[] NO_LONGS = {};
    private static final boolean[] NO_BOOLEANS = {};

    private int depth;
    private Opcode.@Nullable Operation[] operation = NO_OPERATIONS;
    private int[] firstPsn = NO_INTS;
    private int[] packets = NO_INTS;
    private int[] cursor = NO_INTS;
    /**
     * Where the answer that is sent now begins and ends, in packets and bytes of the request: a repetition may ask for
     * a part.
     */
    private int[] begin = NO_INTS;

    private int[] end = NO_INTS;
    private long[] endByte = NO_LONGS;
    /** Not completely answered for the first time yet: counts against the depth. */
    private boolean[] fresh = NO_BOOLEANS;

    private long[] address = NO_LONGS;
    private long[] length = NO_LONGS;
    private int[] rkey = NO_INTS;
    private long[] original = NO_LONGS;
    private long added;
    private int unanswered;
    private int freshCount;
    /** Every entry added before this one is answered. */
    private long answeredBefore;

    /** Room for {@code depth} entries, all forgotten. It is taken with the first entry: most queue pairs need none. */
    void resize(int depth) {
        this.depth = depth;
        clear();
    }

    private void allocate(int entries) {
        operation = new Opcode.Operation[entries];
        firstPsn = new int[entries];
        packets = new int[entries];
        cursor = new int[entries];
        begin = new int[entries];
        end = new int[entries];
        endByte = new long[entries];
        fresh = new boolean[entries];
        address = new long[entries];
        length = new long[entries];
        rkey = new int[entries];
        original = new long[entries];
    }

    void clear() {
        added = 0;
        unanswered = 0;
        freshCount = 0;
        answeredBefore = 0;
        Arrays.fill(packets, 0);
        Arrays.fill(fresh, false);
    }

    /**
     * Whether the peer has as many requests outstanding as it may. Repetitions, which the network makes too, do not
     * count.
     */
    boolean full() {
        return freshCount >= depth;
    }

    /** How many entries wait for their answer to be sent. */
    int unanswered() {
        return unanswered;
    }

    void addRead(int psn, int count, long va, long bytes, int key) {
        int at = add(Opcode.Operation.READ_REQUEST, psn, count, va, key);
        length[at] = bytes;
        endByte[at] = bytes;
    }

    void addAtomic(Opcode.Operation what, int psn, long va, int key, long value) {
        int at = add(what, psn, 1, va, key);
        original[at] = value;
    }

    /** A FLUSH or atomic write: its answer is that of a READ of nothing. */
    void addPlacement(Opcode.Operation what, int psn, long va, int key) {
        int at = add(what, psn, 1, va, key);
        length[at] = 0;
        endByte[at] = 0;
    }

    private int add(Opcode.Operation what, int psn, int count, long va, int key) {
        if (packets.length != depth) {
            allocate(depth);
        }
        int at = (int) (added % depth);
        if (added >= depth && cursor[at] < end[at]) {
            // A repetition gives way to new work.
            unanswered--;
        }
        added++;
        operation[at] = what;
        firstPsn[at] = psn;
        packets[at] = count;
        cursor[at] = 0;
        begin[at] = 0;
        end[at] = count;
        fresh[at] = true;
        freshCount++;
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
            if (cursor[at] < end[at]) {
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

    /** Moves on by a packet. */
    void advance(int at) {
        if (++cursor[at] == end[at]) {
            unanswered--;
            if (fresh[at]) {
                fresh[at] = false;
                freshCount--;
            }
        }
    }

    /**
     * Answers a part of an entry again, {@code count} packets from {@code packet} on and to {@code toByte} of the
     * whole, unless its first answer is not complete: then that goes back, and covers the part.
     */
    void repeat(int at, int packet, int count, long toByte) {
        if (fresh[at]) {
            if (packet < cursor[at]) {
                cursor[at] = packet;
                begin[at] = packet;
            }
        } else {
            if (cursor[at] == end[at]) {
                unanswered++;
            }
            cursor[at] = packet;
            begin[at] = packet;
            end[at] = packet + count;
            endByte[at] = toByte;
        }
        answeredBefore = 0;
    }

    /** Gives up on all answers, as an error does. */
    void abandonAll() {
        for (int at = 0; at < packets.length; at++) {
            cursor[at] = end[at];
            fresh[at] = false;
        }
        unanswered = 0;
        freshCount = 0;
    }

    /** Whether the entry is of a request of this kind. */
    boolean is(int at, Opcode.Operation what) {
        return operation[at] == what;
    }

    boolean isAtomic(int at) {
        return is(at, Opcode.Operation.COMPARE_SWAP) || is(at, Opcode.Operation.FETCH_ADD);
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

    /** The first packet of the answer that is sent now. */
    int begin(int at) {
        return begin[at];
    }

    /** One past the last packet of the answer that is sent now. */
    int end(int at) {
        return end[at];
    }

    /** Where that answer ends, in bytes from the start of the request. */
    long endByte(int at) {
        return endByte[at];
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
