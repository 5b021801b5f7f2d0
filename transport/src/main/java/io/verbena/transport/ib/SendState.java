// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.queue.SendSlot;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What the requester and the completer of a queue pair share: which work is under way, which PSNs it has, where sending
 * goes on. A request for this side alone is done when it is started: it has no packets, and the oldest is never one.
 *
 * <pre>
 *   work queue:   oldest ............ cursorWqe ............ started ............ tail
 *   PSNs:         unackedPsn          cursorPsn     highPsn  nextPsn
 *                 (not answered)      (sent next)   (sent once, exclusive)
 * </pre>
 */
final class SendState {
    final WorkQueue queue;
    final MemorySegment ring;

    /** The oldest request that is not complete. */
    long oldest;
    /** One past the last request that has PSNs. */
    long started;
    /** The PSN of the first packet of request {@link #started}. */
    int nextPsn;
    /** The first PSN without an answer; it belongs to {@link #oldest} when anything is outstanding. */
    int unackedPsn;
    /** One past the highest PSN ever sent. */
    int highPsn;

    long cursorWqe;
    int cursorPacket;
    int cursorPsn;
    int packetsSinceAckRequest;

    /** READ parts and atomics that wait for their answer: PSN after each and what it was charged. */
    private int[] readEnds = new int[4];

    private long[] readCosts = new long[4];
    private int readHead;
    private int readCount;

    /** What this queue pair has charged to the path for requests. */
    long chargedRequests;

    int retriesLeft;
    int rnrRetriesLeft;
    boolean rnrWaiting;
    /** The PSN at which a loss was answered at once; later signs of the same loss wait for the timer. */
    int retriedPsn = -1;
    /** An error of request {@link #cursorWqe} that is reported when all before it is complete. */
    @Nullable
    WorkCompletionStatus localError;

    SendState(WorkQueue queue) {
        this.queue = queue;
        this.ring = queue.ring();
    }

    /** Forgets all work, as RESET does, and starts at a PSN. */
    void reset(int firstPsn, int retries, int rnrRetries) {
        oldest = queue.tail();
        queue.release(oldest);
        started = oldest;
        cursorWqe = oldest;
        cursorPacket = 0;
        start(firstPsn, retries, rnrRetries);
    }

    void start(int firstPsn, int retries, int rnrRetries) {
        nextPsn = firstPsn;
        unackedPsn = firstPsn;
        highPsn = firstPsn;
        cursorPsn = firstPsn;
        packetsSinceAckRequest = 0;
        readCount = 0;
        chargedRequests = 0;
        retriesLeft = retries;
        rnrRetriesLeft = rnrRetries;
        rnrWaiting = false;
        retriedPsn = -1;
        localError = null;
    }

    boolean outstanding() {
        return unackedPsn != highPsn;
    }

    long slot(long index) {
        return queue.offset(index);
    }

    int readsOutstanding() {
        return readCount;
    }

    void pushRead(int end, long cost) {
        if (readCount == readEnds.length) {
            growReads();
        }
        int at = (readHead + readCount++) & (readEnds.length - 1);
        readEnds[at] = end;
        readCosts[at] = cost;
    }

    /** Retires the READ parts whose last PSN is answered; returns what they were charged. */
    long popReads() {
        long released = 0;
        while (readCount > 0 && Psn.diff(readEnds[readHead], unackedPsn) <= 0) {
            released += readCosts[readHead];
            readHead = (readHead + 1) & (readEnds.length - 1);
            readCount--;
        }
        return released;
    }

    /** Forgets all READ parts, which will be asked for again; returns what they were charged. */
    long clearReads() {
        long released = 0;
        while (readCount > 0) {
            released += readCosts[readHead];
            readHead = (readHead + 1) & (readEnds.length - 1);
            readCount--;
        }
        return released;
    }

    private void growReads() {
        int[] ends = new int[readCount * 2];
        long[] costs = new long[readCount * 2];
        for (int i = 0; i < readCount; i++) {
            ends[i] = readEnds[(readHead + i) & (readCount - 1)];
            costs[i] = readCosts[(readHead + i) & (readCount - 1)];
        }
        readEnds = ends;
        readCosts = costs;
        readHead = 0;
    }

    /** Puts the cursor on the next request that has packets or has not begun. */
    void nextRequest() {
        cursorPacket = 0;
        do {
            cursorWqe++;
        } while (cursorWqe < started && SendSlot.packets(ring, slot(cursorWqe)) == 0);
    }

    /** Puts the cursor on the first unanswered packet. */
    void rewind() {
        cursorWqe = oldest;
        cursorPsn = unackedPsn;
        cursorPacket = oldest < started ? Psn.diff(unackedPsn, SendSlot.firstPsn(ring, slot(oldest))) : 0;
        packetsSinceAckRequest = 0;
        // It belonged to the request that the cursor was on, and shows again when the cursor is back there.
        localError = null;
    }
}
