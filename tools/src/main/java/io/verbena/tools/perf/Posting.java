// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendFlags;
import org.jspecify.annotations.Nullable;

/**
 * Posts the operation of a test on one queue pair; messages walk through the memory as perftest's do, so that they
 * differ in address.
 */
final class Posting {
    /** What perftest adds, and what its compare-and-swap compares with and puts there. */
    private static final long ADD = 1;

    private static final long COMPARE = 0;
    private static final long SWAP = 0;

    private final QueuePair queuePair;
    private final PerfTest.Verb verb;
    private final boolean compareAndSwap;
    private final int size;
    private final int inlineFlag;
    private final long localAddress;
    private final int lkey;
    private final long remoteAddress;
    private final int rkey;
    private final int stride;
    private final int slots;
    private final @Nullable DatagramPeer peer;
    private int slot;

    Posting(PerfContext context, int index, int size, boolean walks) {
        PerfParameters parameters = context.parameters();
        queuePair = context.queuePair(index);
        verb = parameters.verb();
        compareAndSwap = parameters.compareAndSwap();
        this.size = size;
        inlineFlag = size <= parameters.inlineBytes() ? SendFlags.INLINE : SendFlags.NONE;
        localAddress = context.sendAddress(index);
        lkey = context.lkey();
        remoteAddress = context.remote(index).address();
        rkey = context.remote(index).rkey();
        peer = context.datagramPeer(index);
        stride = context.stride(size);
        slots = walks ? context.slots(size) : 1;
    }

    void post(long id, boolean signaled) {
        int flags = inlineFlag | (signaled ? SendFlags.SIGNALED : SendFlags.NONE);
        long offset = (long) slot * stride;
        long from = localAddress + offset;
        long to = remoteAddress + offset;
        switch (verb) {
            case WRITE -> queuePair.postWrite(id, from, size, lkey, to, rkey, flags);
            case READ -> queuePair.postRead(id, from, size, lkey, to, rkey, flags);
            case SEND -> {
                if (peer != null) {
                    queuePair.postSendTo(id, from, size, lkey, peer.handle(), peer.qpNumber(), peer.qkey(), flags);
                } else {
                    queuePair.postSend(id, from, size, lkey, flags);
                }
            }
            case ATOMIC -> {
                if (compareAndSwap) {
                    queuePair.postCompareAndSwap(id, from, lkey, to, rkey, COMPARE, SWAP, flags);
                } else {
                    queuePair.postFetchAndAdd(id, from, lkey, to, rkey, ADD, flags);
                }
            }
        }
        slot = slot + 1 == slots ? 0 : slot + 1;
    }
}
