// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import org.jspecify.annotations.Nullable;

/**
 * How much may be under way to one remote port, shared by all queue pairs that go there, so that together they do not
 * overflow its socket buffer.
 *
 * <p>Linux charges a socket not for payload but for the memory of the whole packet buffer, so costs are estimates of
 * that. The limits leave a receiver with the default {@code rmem_max} of 212,992 (a buffer of twice that) room for
 * requests and READ responses of two such peers' worth of 4 KiB packets. A loss halves the limits, each window of
 * undisturbed progress adds a packet.
 */
final class PathWindow {
    static final long REQUEST_LIMIT_MAX = 192 << 10;
    static final long READ_LIMIT_MAX = 160 << 10;
    private static final long LIMIT_MIN = 20 << 10;
    private static final int SKB_BYTES = 256;
    private static final int HEADERS_AND_SHARED_INFO_BYTES = 420;
    private static final int SMALLEST_ALLOCATION = 512;

    private long requestLimit = REQUEST_LIMIT_MAX;
    private long readLimit = READ_LIMIT_MAX;
    private long requestsInFlight;
    private long readsInFlight;
    private long progress;
    private int references;
    private boolean roomMade;
    private final QueuePairFifo requesting = new QueuePairFifo();
    private final QueuePairFifo reading = new QueuePairFifo();

    /**
     * What the receiver's kernel charges for a packet with this payload: its allocation, rounded up as its allocator
     * does.
     */
    static long cost(int payloadBytes) {
        int bytes = payloadBytes + HEADERS_AND_SHARED_INFO_BYTES;
        long rounded = bytes <= SMALLEST_ALLOCATION ? SMALLEST_ALLOCATION : 2L * Integer.highestOneBit(bytes - 1);
        return rounded + SKB_BYTES;
    }

    /** Whether a request of this cost may go now; one always may when nothing is under way. */
    boolean admitsRequest(long cost) {
        return requestsInFlight == 0 || requestsInFlight + cost <= requestLimit;
    }

    void chargeRequest(long cost) {
        requestsInFlight += cost;
    }

    void releaseRequests(long cost) {
        requestsInFlight -= cost;
        grow(cost);
    }

    /** Whether a READ whose answer costs this may be asked for now; one always may when nothing is under way. */
    boolean admitsRead(long cost) {
        return readsInFlight == 0 || readsInFlight + cost <= readLimit;
    }

    void chargeRead(long cost) {
        readsInFlight += cost;
    }

    void releaseRead(long cost) {
        readsInFlight -= cost;
        grow(cost);
    }

    void onLoss() {
        requestLimit = Math.max(LIMIT_MIN, requestLimit / 2);
        readLimit = Math.max(LIMIT_MIN, readLimit / 2);
        progress = 0;
    }

    private void grow(long cost) {
        progress += cost;
        roomMade = true;
        if (progress >= requestLimit) {
            progress = 0;
            requestLimit = Math.min(REQUEST_LIMIT_MAX, requestLimit + LIMIT_MIN / 2);
            readLimit = Math.min(READ_LIMIT_MAX, readLimit + LIMIT_MIN / 2);
        }
    }

    /** A queue pair waits for the room that it was refused. */
    void await(IbQueuePair queuePair) {
        (queuePair.windowBlockedRead ? reading : requesting).add(queuePair);
    }

    /** Whether queue pairs wait for room for requests: who comes later waits behind them. */
    boolean isRequestAwaited() {
        return !requesting.isEmpty();
    }

    boolean isReadAwaited() {
        return !reading.isEmpty();
    }

    /** Whether something was released since the last call. */
    boolean takeRoomMade() {
        boolean made = roomMade;
        roomMade = false;
        return made;
    }

    /** Takes out the one that has waited longest among those that want to send, or to READ, if it finds room now. */
    @Nullable
    IbQueuePair next() {
        IbQueuePair request = requesting.peek();
        if (request != null && admitsRequest(request.windowBlockedCost)) {
            return requesting.poll();
        }
        IbQueuePair read = reading.peek();
        return read != null && admitsRead(read.windowBlockedCost) ? reading.poll() : null;
    }

    /** Takes out one that waits, whatever room there is. */
    @Nullable
    IbQueuePair any() {
        return requesting.isEmpty() ? reading.poll() : requesting.poll();
    }

    void retain() {
        references++;
    }

    /** True when no queue pair uses the path any more. */
    boolean releaseReference() {
        return --references == 0;
    }

    long requestsInFlight() {
        return requestsInFlight;
    }

    long readsInFlight() {
        return readsInFlight;
    }
}
