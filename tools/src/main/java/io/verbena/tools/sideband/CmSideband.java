// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.sideband;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.cm.Connection;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A sideband over a connection of the connection manager: each message is a SEND. Receives for several messages are
 * posted ahead, so that no peer has to try again; a message that is longer than any of the protocols has ends the
 * connection.
 */
public final class CmSideband implements Sideband {
    /** More than the longest message. */
    private static final int MESSAGE_BYTES = 256;

    private static final int RECEIVES = 4;
    /** The id of the one send; those of receives count from 0. */
    private static final int SEND = RECEIVES;

    private static final Duration LINGER = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofHours(1);

    private final Connection connection;
    private final Arena arena = Arena.ofShared();
    private final MemoryRegion region;
    private final WorkCompletion completion = new WorkCompletion();
    private final ArrayDeque<Arrival> inbox = new ArrayDeque<>();
    private boolean sending;
    private boolean ended;
    private long endedAtNanos;

    /** A message that waits in the memory of its receive, which is posted again only when it is taken. */
    private record Arrival(int slot, int length) {}

    /** Makes a connection that is prepared as it wants to be. */
    @FunctionalInterface
    private interface Opener {
        Connection open(Consumer<Connection> prepare) throws InterruptedException;
    }

    private CmSideband(Connection connection) {
        this.connection = connection;
        region = connection
                .protectionDomain()
                .register(arena.allocate((RECEIVES + 1L) * MESSAGE_BYTES), AccessFlag.LOCAL_WRITE);
        for (int i = 0; i < RECEIVES; i++) {
            postReceive(i);
        }
    }

    /**
     * Connects to a server. A refused connection is tried again for a moment.
     *
     * @param hint what to say when nobody listens there, such as a command to run
     */
    public static CmSideband connect(InetSocketAddress target, ConnectionOptions options, String hint)
            throws InterruptedException {
        return Refusal.retry(
                target, hint, () -> open(prepare -> Connection.connect(target, options.withPrepare(prepare))));
    }

    public static CmSideband accept(ConnectionRequest request, ConnectionOptions options) throws InterruptedException {
        return open(prepare -> request.accept(options.withPrepare(prepare)));
    }

    private static CmSideband open(Opener opener) throws InterruptedException {
        List<CmSideband> made = new ArrayList<>(1);
        try {
            Connection unused = opener.open(connection -> made.add(new CmSideband(connection)));
            return made.getFirst();
        } catch (Throwable e) {
            made.forEach(CmSideband::close);
            throw e;
        }
    }

    private void postReceive(int slot) {
        connection.queuePair().postReceive(slot, region, (long) slot * MESSAGE_BYTES, MESSAGE_BYTES);
    }

    /** Whose device and domain further connections to the peer share. */
    public Connection connection() {
        return connection;
    }

    @Override
    public String peer() {
        InetSocketAddress remote = connection.remoteAddress();
        return remote == null ? "?" : remote.getAddress().getHostAddress();
    }

    @Override
    public void send(byte[] message) throws InterruptedException {
        awaitSent(LONG);
        if (ended) {
            throw lost("while it was told something");
        }
        long offset = (long) SEND * MESSAGE_BYTES;
        MemorySegment.copy(message, 0, region.segment(), ValueLayout.JAVA_BYTE, offset, message.length);
        sending = true;
        connection.queuePair().postSend(SEND, region, offset, message.length, SendFlags.SIGNALED);
    }

    private void awaitSent(Duration most) throws InterruptedException {
        long start = System.nanoTime();
        Duration left = most;
        while (sending
                && !ended
                && left.isPositive()
                && connection.completions().await(completion, left)) {
            take();
            left = most.minusNanos(System.nanoTime() - start);
        }
    }

    @Override
    public byte[] receive(int length, String what, @Nullable Duration timeout) throws InterruptedException {
        long start = System.nanoTime();
        while (inbox.isEmpty()) {
            if (ended) {
                throw lost("before it sent " + what);
            }
            Duration left = timeout == null ? LONG : timeout.minusNanos(System.nanoTime() - start);
            if (!left.isPositive()) {
                throw new CommandFailure("the peer at " + peer() + " is silent: " + what + " did not come in "
                        + (timeout == null ? LONG : timeout).toSeconds()
                        + " s; is it the same test, and of the same kind?");
            }
            if (connection.completions().await(completion, left)) {
                take();
            }
        }
        Arrival next = inbox.remove();
        if (next.length() < length) {
            throw new CommandFailure("the peer at " + peer() + " does not speak this tool's protocol: " + what + " has "
                    + next.length() + " bytes and not " + length);
        }
        byte[] message = region.segment()
                .asSlice((long) next.slot() * MESSAGE_BYTES, next.length())
                .toArray(ValueLayout.JAVA_BYTE);
        postReceive(next.slot());
        return message;
    }

    /** Acts on a completion. */
    private void take() {
        if (!completion.isSuccess()) {
            end();
        } else if (completion.opcode() == WorkCompletionOpcode.RECV) {
            inbox.add(new Arrival((int) completion.wrId(), (int) completion.byteLength()));
        } else {
            sending = false;
        }
    }

    private void end() {
        if (!ended) {
            ended = true;
            endedAtNanos = System.nanoTime();
        }
    }

    private void drain() {
        while (connection.completions().poll(completion)) {
            take();
        }
    }

    @Override
    public boolean peerGone() {
        drain();
        return ended;
    }

    @Override
    public boolean hasUnread() {
        drain();
        return !inbox.isEmpty();
    }

    @Override
    public long nanosSincePeerGone() {
        return peerGone() ? System.nanoTime() - endedAtNanos : 0;
    }

    @Override
    public void finish() throws InterruptedException {
        long start = System.nanoTime();
        Duration left = LINGER;
        while (!ended && left.isPositive() && connection.completions().await(completion, left)) {
            take();
            left = LINGER.minusNanos(System.nanoTime() - start);
        }
        connection.disconnect();
    }

    @Override
    public void finishFirst() throws InterruptedException {
        awaitSent(LINGER);
        connection.disconnect();
    }

    @Override
    public void close() {
        connection.disconnect();
        region.close();
        connection.close();
        arena.close();
    }

    private CommandFailure lost(String when) {
        return new CommandFailure("the peer at " + peer() + " closed the connection " + when);
    }
}
