// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.wire.Frame;
import java.io.IOException;

/**
 * Frames in and out of one local address. Nothing here blocks but {@link #await}. All methods belong to one owner
 * thread at a time, but {@link #wakeup} and {@link #close}, which any thread may call. While one thread sleeps in
 * {@link #await}, another may become the owner, as long as only one awaits.
 *
 * <p>To send: {@link #beginTransmit} offers room, the owner writes the payload there and sets the addressing,
 * {@link #commitTransmit} takes it. A begun frame that is not committed is forgotten; the same room is offered again.
 * After the last frame of a batch call {@link #flush}.
 *
 * <p>An {@link IOException} means that the link is closed or broken. What happens to a single frame on its way (a full
 * queue at the other end, an unreachable host) is no exception: it is lost as on any network, and at best reported by
 * {@link #pollUnreachable}.
 */
public interface DatagramLink extends AutoCloseable {
    /** Room for a frame that {@link #beginTransmit} offers at least: a payload of 4096 bytes and its headers. */
    int FRAME_BYTES_MIN = 4096 + 128;

    LinkCapabilities capabilities();

    /**
     * The UDP source port for a flow, from the low 14 bits of its hash (RoCE v2 keeps a flow on one path by its source
     * port). Always the same for the same hash. Ports are few, and opened when first asked for.
     */
    int sourcePort(int flowHash);

    /** Hands over at most {@code framesMax} frames that have arrived, and returns how many. */
    int receive(FrameHandler handler, int framesMax) throws IOException;

    /**
     * Points the frame at free space of at least {@link #FRAME_BYTES_MIN} bytes, for the payload of a datagram, and
     * sets {@link Frame#ipId} to what it will be sent with. False if there is no room now: {@link #await} returns when
     * there is.
     */
    boolean beginTransmit(Frame frame);

    /**
     * Sends or queues the frame of the last {@link #beginTransmit}: its length, remote end, local port (one that
     * {@link #sourcePort} gave) and traffic class have been set. Local back-pressure never drops a frame.
     */
    void commitTransmit(Frame frame) throws IOException;

    /** Pushes out what is batched, as far as there is room; see {@link #transmitPending}. */
    void flush() throws IOException;

    /** Whether frames that were committed wait for room in the socket. */
    boolean transmitPending();

    /**
     * Becomes a member of a multicast group, on the interface of the local address: frames that are sent to the group
     * and the port of this link arrive from now on, with the group as their {@linkplain Frame#localHigh local} address.
     * So do those that this link, or another of this host, sends there. Each group takes a socket, and a link takes at
     * most 256. Joining again changes nothing: it does not take a second {@link #leaveGroup}.
     *
     * <p>To send to a group takes no membership. Such frames go out through the interface of the local address, with
     * hop limit 1: they stay in the local network.
     *
     * @param groupHigh upper half of the address, 0 for IPv4
     * @param groupLow lower half of the address, for IPv4 {@code ::ffff:a.b.c.d}
     * @throws IOException if the group cannot be joined, with what to do about it; the link itself goes on
     */
    default void joinGroup(long groupHigh, long groupLow) throws IOException {
        throw new IOException("this link has no multicast");
    }

    /** Ends what {@link #joinGroup} began: no frame of the group is handed over any more. Without it, does nothing. */
    default void leaveGroup(long groupHigh, long groupLow) throws IOException {
        throw new IOException("this link has no multicast");
    }

    /**
     * Blocks in the kernel until a frame can be read, a pending transmit can go on, an error came in, {@link #wakeup}
     * is or was called, or the time is over; false if it is over. Not positive: only looks. {@link Long#MAX_VALUE}: no
     * limit. The granularity can be a millisecond, rounded up.
     */
    boolean await(long timeoutNanos) throws IOException;

    /** Makes the current {@link #await}, or else the next one, return at once. Cheap when nobody waits. */
    void wakeup();

    /**
     * Drains errors that name a destination; returns how many. Costs a system call or a few: call it per timer tick.
     */
    int pollUnreachable(UnreachableHandler handler) throws IOException;

    /**
     * Wakes a thread in {@link #await}, which then throws {@link java.nio.channels.ClosedChannelException}. Repeatable.
     */
    @Override
    void close();
}
