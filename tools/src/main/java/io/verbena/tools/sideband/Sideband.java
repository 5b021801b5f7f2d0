// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.sideband;

import io.verbena.tools.cli.CommandFailure;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The way on which the two sides of a tool take turns with messages of known length, beside what they measure. One
 * thread uses it; another may close it. A peer that is lost or silent makes {@link CommandFailure}.
 */
public interface Sideband extends AutoCloseable {
    /** The peer's address in words. */
    String peer();

    /** Sends a message in one piece. */
    void send(byte[] message) throws InterruptedException;

    /**
     * Waits for a message of {@code length} bytes; where messages have bounds it may have more.
     *
     * @param what what it is, for the message when it does not come
     * @param timeout how long; null to wait as long as the connection stands
     */
    byte[] receive(int length, String what, @Nullable Duration timeout) throws InterruptedException;

    /**
     * Whether the peer has ended the connection, seen also when nobody reads; what it sent before can still be
     * received.
     */
    boolean peerGone();

    /** Whether something of the peer waits to be received. */
    boolean hasUnread();

    /** How long ago the peer ended the connection, 0 while it stands. */
    long nanosSincePeerGone();

    /**
     * Ends this side and gives the other a moment to end its own. A peer that has not yet got the acknowledgement of
     * its last message must find this side's device still open.
     */
    void finish() throws InterruptedException;

    /**
     * The same for the side that knows that the other waits for nothing any more: where a connection has no half that
     * can end alone, it is this side that ends it.
     */
    default void finishFirst() throws InterruptedException {
        finish();
    }

    @Override
    void close() throws IOException;
}
