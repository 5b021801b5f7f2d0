// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a queue pair is made of (ibv_qp_init_attr_ex). Immutable: each {@code with} method returns a copy. The granted
 * capabilities, at least these, are read back with {@link QueuePair#capabilities()}.
 */
public final class QueuePairOptions implements Cloneable {
    private final QueuePairType type;
    private @Nullable CompletionQueue sendCompletionQueue;
    private @Nullable CompletionQueue receiveCompletionQueue;
    private @Nullable SharedReceiveQueue sharedReceiveQueue;
    private @Nullable XrcDomain xrcDomain;
    private int maxSendWr = 128;
    private int maxReceiveWr = 128;
    private int maxSendSge = 4;
    private int maxReceiveSge = 4;
    private int maxInlineData = 64;
    private boolean signalAll;

    private QueuePairOptions(QueuePairType type) {
        this.type = type;
    }

    private static QueuePairOptions of(QueuePairType type, CompletionQueue queue) {
        QueuePairOptions options = new QueuePairOptions(type);
        options.sendCompletionQueue = Objects.requireNonNull(queue, "the completion queue");
        options.receiveCompletionQueue = queue;
        return options;
    }

    /**
     * A reliable connection that reports both queues to {@code queue}: 128 requests a queue, 4 entries each, 64 bytes
     * inline.
     */
    public static QueuePairOptions rc(CompletionQueue queue) {
        return of(QueuePairType.RC, queue);
    }

    /** An unreliable connection, with the sizes of {@link #rc}. */
    public static QueuePairOptions uc(CompletionQueue queue) {
        return of(QueuePairType.UC, queue);
    }

    /** A queue pair for datagrams, with the sizes of {@link #rc}. */
    public static QueuePairOptions ud(CompletionQueue queue) {
        return of(QueuePairType.UD, queue);
    }

    /** The sending half of an extended reliable connection. */
    public static QueuePairOptions xrcInitiator(CompletionQueue queue) {
        QueuePairOptions options = of(QueuePairType.XRC_INI, queue);
        options.receiveCompletionQueue = null;
        options.maxReceiveWr = 0;
        options.maxReceiveSge = 0;
        return options;
    }

    /** The receiving half of an extended reliable connection; it delivers to shared receive queues of the domain. */
    public static QueuePairOptions xrcTarget(XrcDomain domain) {
        QueuePairOptions options = new QueuePairOptions(QueuePairType.XRC_TGT);
        options.xrcDomain = Objects.requireNonNull(domain, "domain");
        options.maxSendWr = 0;
        options.maxReceiveWr = 0;
        options.maxSendSge = 0;
        options.maxReceiveSge = 0;
        options.maxInlineData = 0;
        return options;
    }

    /** How many work requests each queue holds. */
    public QueuePairOptions withQueueDepth(int sends, int receives) {
        QueuePairOptions copy = copy();
        copy.maxSendWr = sends;
        copy.maxReceiveWr = receives;
        return copy;
    }

    /** How many scatter/gather entries a send and a receive may have. */
    public QueuePairOptions withMaxSge(int send, int receive) {
        QueuePairOptions copy = copy();
        copy.maxSendSge = send;
        copy.maxReceiveSge = receive;
        return copy;
    }

    /** How many bytes an inline payload may have. */
    public QueuePairOptions withMaxInlineData(int bytes) {
        QueuePairOptions copy = copy();
        copy.maxInlineData = bytes;
        return copy;
    }

    public QueuePairOptions withReceiveCompletionQueue(CompletionQueue queue) {
        QueuePairOptions copy = copy();
        copy.receiveCompletionQueue = Objects.requireNonNull(queue, "queue");
        return copy;
    }

    /** Receives come from a queue that other queue pairs use too; this one has none of its own. */
    public QueuePairOptions withSharedReceiveQueue(SharedReceiveQueue queue) {
        if (!type.hasReceiveQueue()) {
            throw new IllegalArgumentException(type + " has no receive queue; RC, UC and UD can share one");
        }
        QueuePairOptions copy = copy();
        copy.sharedReceiveQueue = Objects.requireNonNull(queue, "queue");
        return copy;
    }

    /** Every send makes a completion, signalled or not (sq_sig_all). */
    public QueuePairOptions withSignalAll() {
        QueuePairOptions copy = copy();
        copy.signalAll = true;
        return copy;
    }

    private QueuePairOptions copy() {
        try {
            return (QueuePairOptions) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    public QueuePairType type() {
        return type;
    }

    /** Null for an XRC target. */
    public @Nullable CompletionQueue sendCompletionQueue() {
        return sendCompletionQueue;
    }

    /** Null for XRC. */
    public @Nullable CompletionQueue receiveCompletionQueue() {
        return receiveCompletionQueue;
    }

    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    /** Null for all but an XRC target. */
    public @Nullable XrcDomain xrcDomain() {
        return xrcDomain;
    }

    public int maxSendWr() {
        return maxSendWr;
    }

    /** 0 with a shared receive queue, whatever was asked for. */
    public int maxReceiveWr() {
        return sharedReceiveQueue == null ? maxReceiveWr : 0;
    }

    public int maxSendSge() {
        return maxSendSge;
    }

    /** 0 with a shared receive queue, whatever was asked for. */
    public int maxReceiveSge() {
        return sharedReceiveQueue == null ? maxReceiveSge : 0;
    }

    public int maxInlineData() {
        return maxInlineData;
    }

    public boolean signalAll() {
        return signalAll;
    }
}
