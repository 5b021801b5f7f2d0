// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

/**
 * What the connection manager tells its consumer, from {@link ConnectionManager#pollEvents}. A callback may give any
 * command. Of {@link #rejected}, {@link #unreachable} and {@link #disconnected}, a conversation that is not abandoned
 * gets exactly one, and nothing but {@link #timewaitExit} after it. An abandoned one gets nothing any more.
 */
public interface CmEvents {
    /** Passive: somebody wants to connect; to be answered with accept, reject or abandon. */
    void connectRequest(CmListener listener, Conversation conversation, RequestParameters parameters);

    /** Active: the other side accepted, once; to be answered with complete, reject or abandon. */
    void replied(Conversation conversation, AcceptParameters parameters);

    /**
     * Passive: the other side is ready, once.
     *
     * @param privateData 224 bytes of the RTU, or none when data came before it
     */
    void established(Conversation conversation, byte[] privateData);

    /**
     * The conversation was refused before it was established on this side.
     *
     * @param reason of {@link io.verbena.wire.cm.CmRejectReason}, or another number
     * @param privateData 148 bytes, or none when this side found the reason
     */
    void rejected(Conversation conversation, int reason, byte[] privateData);

    /** Nobody answered within the deadline, or after all repetitions. */
    void unreachable(Conversation conversation);

    /**
     * It was established, at least in the eyes of the other side, and is no more: the other side asked, answered, or
     * does not answer. Who did not ask to disconnect answers with disconnect or abandon.
     */
    void disconnected(Conversation conversation);

    /**
     * The numbers of a conversation that ended may be used again. Follows the end of each one whose queue pairs knew
     * each other.
     */
    void timewaitExit(Conversation conversation);

    /**
     * Somebody asks for the queue pair of a datagram service; to be answered with sidrReply or abandon.
     *
     * @param privateData 216 bytes
     */
    void sidrRequest(CmListener listener, SidrConversation conversation, byte[] privateData);

    /** The answer came, also when it is a refusal. */
    void sidrReplied(SidrConversation conversation, SidrReply reply);

    /** No answer came within the deadline. */
    void sidrUnreachable(SidrConversation conversation);
}
