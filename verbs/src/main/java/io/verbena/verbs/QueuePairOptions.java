// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.Objects;

/**
 * What a queue pair is made of (ibv_qp_init_attr). The granted capabilities, at least these, are read back with
 * {@link QueuePair#capabilities()}.
 *
 * @param maxSendWr work requests the send queue holds
 * @param maxReceiveWr work requests the receive queue holds
 * @param maxSendSge scatter/gather entries of a send
 * @param maxReceiveSge scatter/gather entries of a receive
 * @param maxInlineData bytes of an inline payload
 * @param signalAll whether every send makes a completion, signalled or not (sq_sig_all)
 */
public record QueuePairOptions(
        QueuePairType type,
        CompletionQueue sendCompletionQueue,
        CompletionQueue receiveCompletionQueue,
        int maxSendWr,
        int maxReceiveWr,
        int maxSendSge,
        int maxReceiveSge,
        int maxInlineData,
        boolean signalAll) {
    public QueuePairOptions {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(sendCompletionQueue, "sendCompletionQueue");
        Objects.requireNonNull(receiveCompletionQueue, "receiveCompletionQueue");
    }

    /**
     * A reliable connection that reports both queues to {@code queue}: 128 requests a queue, 4 entries each, 64 bytes
     * inline.
     */
    public static QueuePairOptions rc(CompletionQueue queue) {
        return new QueuePairOptions(QueuePairType.RC, queue, queue, 128, 128, 4, 4, 64, false);
    }

    public QueuePairOptions withQueueDepth(int sends, int receives) {
        return new QueuePairOptions(
                type,
                sendCompletionQueue,
                receiveCompletionQueue,
                sends,
                receives,
                maxSendSge,
                maxReceiveSge,
                maxInlineData,
                signalAll);
    }

    public QueuePairOptions withMaxSge(int send, int receive) {
        return new QueuePairOptions(
                type,
                sendCompletionQueue,
                receiveCompletionQueue,
                maxSendWr,
                maxReceiveWr,
                send,
                receive,
                maxInlineData,
                signalAll);
    }

    public QueuePairOptions withMaxInlineData(int bytes) {
        return new QueuePairOptions(
                type,
                sendCompletionQueue,
                receiveCompletionQueue,
                maxSendWr,
                maxReceiveWr,
                maxSendSge,
                maxReceiveSge,
                bytes,
                signalAll);
    }

    public QueuePairOptions withReceiveCompletionQueue(CompletionQueue queue) {
        return new QueuePairOptions(
                type,
                sendCompletionQueue,
                queue,
                maxSendWr,
                maxReceiveWr,
                maxSendSge,
                maxReceiveSge,
                maxInlineData,
                signalAll);
    }

    public QueuePairOptions withSignalAll() {
        return new QueuePairOptions(
                type,
                sendCompletionQueue,
                receiveCompletionQueue,
                maxSendWr,
                maxReceiveWr,
                maxSendSge,
                maxReceiveSge,
                maxInlineData,
                true);
    }
}
