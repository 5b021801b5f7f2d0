// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.sideband;

import io.verbena.tools.cli.CommandFailure;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A sideband over TCP.
 *
 * <p>A thread of its own reads ahead into a small buffer. So the end of the connection is known at once, also while
 * this program is busy with RDMA and not reading: {@link #peerGone()}.
 */
public final class TcpSideband implements Sideband {
    /**
     * More than a peer that keeps to any of the protocols ever has in flight; one that sends more is not read further.
     */
    static final int BUFFER_BYTES = 1 << 16;

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    /** A server that is just being started gets this long to listen. */
    private static final Duration REFUSED_RETRY = Duration.ofMillis(1500);

    private static final long RETRY_PAUSE_MILLIS = 100;
    private static final Duration LINGER = Duration.ofSeconds(2);

    private final Socket socket;
    private final OutputStream output;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int first;
    private int count;
    private boolean ended;
    private boolean closed;
    private long endedAtNanos;
    private @Nullable IOException failure;

    TcpSideband(Socket socket) throws IOException {
        this.socket = socket;
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        output = socket.getOutputStream();
        InputStream input = socket.getInputStream();
        Thread.ofVirtual().name("verbena-sideband").start(() -> readAhead(input));
    }

    /**
     * Connects to a server. A refused connection is tried again for a moment.
     *
     * @param hint what to say when nothing listens there, such as a command to run
     */
    public static TcpSideband connect(String host, int port, String hint) throws InterruptedException {
        InetAddress[] addresses = resolve(host);
        long deadline = System.nanoTime() + REFUSED_RETRY.toNanos();
        while (true) {
            IOException last = null;
            for (InetAddress address : addresses) {
                try {
                    return new TcpSideband(open(new InetSocketAddress(address, port)));
                } catch (IOException e) {
                    // Rather the refusal of one address than "no route" of a second one.
                    last = last instanceof ConnectException ? last : e;
                }
            }
            if (!isRefused(last) || System.nanoTime() - deadline > 0) {
                throw cannotConnect(host, port, hint, last);
            }
            Thread.sleep(RETRY_PAUSE_MILLIS);
        }
    }

    /** Resolves a name or a literal address. */
    public static InetAddress[] resolve(String host) {
        try {
            return InetAddress.getAllByName(host);
        } catch (UnknownHostException e) {
            throw new CommandFailure(
                    "cannot resolve \"" + host + "\": no such host; give a name that is known here, or an address", e);
        }
    }

    private static Socket open(InetSocketAddress address) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(address, (int) CONNECT_TIMEOUT.toMillis());
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private static boolean isRefused(@Nullable IOException failure) {
        return failure instanceof ConnectException && reason(failure).contains("refused");
    }

    private static CommandFailure cannotConnect(String host, int port, String hint, @Nullable IOException failure) {
        String where = "cannot connect to " + host + " port " + port + ": ";
        if (failure == null) {
            return new CommandFailure(where + "it has no address");
        }
        if (failure instanceof SocketTimeoutException) {
            return new CommandFailure(
                    where + "no answer in " + CONNECT_TIMEOUT.toSeconds()
                            + " s; is the host up, and does a firewall let TCP port " + port + " through?",
                    failure);
        }
        if (failure instanceof NoRouteToHostException) {
            return new CommandFailure(
                    where + "no route to host; is the address right, and is the network up?", failure);
        }
        return new CommandFailure(
                where + (isRefused(failure) ? "connection refused; " + hint : reason(failure)), failure);
    }

    private static String reason(IOException failure) {
        String message = failure.getMessage();
        return message == null ? failure.getClass().getSimpleName() : message.toLowerCase(Locale.ROOT);
    }

    /** This side's address of the connection: the one that routes to the peer. */
    public InetAddress localAddress() {
        return socket.getLocalAddress();
    }

    public InetAddress remoteAddress() {
        return socket.getInetAddress();
    }

    @Override
    public void send(byte[] message) {
        try {
            output.write(message);
            output.flush();
        } catch (IOException e) {
            throw lost("while it was told something", e);
        }
    }

    @Override
    public synchronized byte[] receive(int length, String what, @Nullable Duration timeout)
            throws InterruptedException {
        long start = System.nanoTime();
        while (count < length) {
            if (ended) {
                throw lost("before it sent " + what, failure);
            }
            if (timeout == null) {
                wait();
            } else {
                long left = timeout.toNanos() - (System.nanoTime() - start);
                if (left <= 0) {
                    throw new CommandFailure("the peer at " + peer() + " is silent: " + what + " did not come in "
                            + timeout.toSeconds() + " s; is it the same test, and of the same kind?");
                }
                wait(left / 1_000_000 + 1);
            }
        }
        byte[] message = new byte[length];
        for (int i = 0; i < length; i++) {
            message[i] = buffer[first];
            first = (first + 1) % BUFFER_BYTES;
        }
        count -= length;
        notifyAll();
        return message;
    }

    @Override
    public synchronized boolean peerGone() {
        return ended;
    }

    @Override
    public synchronized boolean hasUnread() {
        return count > 0;
    }

    @Override
    public synchronized long nanosSincePeerGone() {
        return ended ? System.nanoTime() - endedAtNanos : 0;
    }

    @Override
    public String peer() {
        return remoteAddress().getHostAddress();
    }

    @Override
    public void finish() throws InterruptedException {
        try {
            socket.shutdownOutput();
        } catch (IOException e) {
            return; // The peer was faster.
        }
        long deadline = System.nanoTime() + LINGER.toNanos();
        synchronized (this) {
            while (!ended) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return;
                }
                wait(left / 1_000_000 + 1);
            }
        }
    }

    @Override
    public void close() throws IOException {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        socket.close();
    }

    private CommandFailure lost(String when, @Nullable IOException cause) {
        return new CommandFailure("the peer at " + peer() + " closed the connection " + when, cause);
    }

    private void readAhead(InputStream input) {
        byte[] chunk = new byte[4096];
        @Nullable IOException broken = null;
        try {
            int got = input.read(chunk);
            while (got >= 0 && store(chunk, got)) {
                got = input.read(chunk);
            }
        } catch (IOException e) {
            broken = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        synchronized (this) {
            failure = broken;
            ended = true;
            endedAtNanos = System.nanoTime();
            notifyAll();
        }
    }

    /** Waits for room; false once closed. */
    private synchronized boolean store(byte[] chunk, int length) throws InterruptedException {
        while (!closed && count + length > BUFFER_BYTES) {
            wait();
        }
        for (int i = 0; i < length; i++) {
            buffer[(first + count++) % BUFFER_BYTES] = chunk[i];
        }
        notifyAll();
        return !closed;
    }
}
