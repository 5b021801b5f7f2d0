// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.ffi.ErrorQueue;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/** A sending socket of a link: the source port of some flows. */
final class Sender implements AutoCloseable {
    /** Where source ports start: RoCE v2 takes them from 0xC000..0xFFFF (IBTA A17.9.2.1, RFC 6335 dynamic ports). */
    static final int PORT_FIRST = 0xc000;

    static final int PORTS = 0x4000;
    static final int BIND_ATTEMPTS_MAX = 256;
    static final int ERRORS_PER_DRAIN_MAX = 64;
    /** Errors come back at once, or after a round trip, or after ARP gave up; each send renews the attention. */
    static final int POLLS_AFTER_SEND = 64;

    private static final int GUARDED_SENDS_AFTER_ERROR = 1024;
    private static final Integer[] TRAFFIC_CLASSES = new Integer[256];

    static {
        for (int i = 0; i < TRAFFIC_CLASSES.length; i++) {
            TRAFFIC_CLASSES[i] = i;
        }
    }

    final DatagramChannel channel;
    final int port;
    private final int fd;
    private final boolean quiet;
    private @Nullable SelectionKey key;
    private int trafficClass;
    private int pollsLeft;
    private int guardedSends;
    private boolean errorSuspected;

    private Sender(DatagramChannel channel, int port, int fd, boolean quiet) {
        this.channel = channel;
        this.port = port;
        this.fd = fd;
        this.quiet = quiet;
    }

    /** Binds to the port that the index of the pool suggests, or the next that is free. */
    static Sender open(LocalEnd local, int index, LinkOptions options) throws IOException {
        DatagramChannel channel = channel(local.family());
        try {
            channel.setOption(StandardSocketOptions.SO_SNDBUF, options.sendBufferBytes());
            sendGroupsThrough(channel, local.network());
            int port = bind(channel, local.address(), index * (PORTS / options.sourcePorts()));
            int fd = -1;
            boolean quiet = false;
            if (options.nativeExtras()) {
                fd = NativeExtras.descriptor(local.high(), local.low(), port);
            }
            if (fd >= 0) {
                quiet = NativeExtras.dropIncoming(fd);
                if (!NativeExtras.queueErrors(fd, local.ipv4())) {
                    fd = -1;
                }
            }
            return new Sender(channel, port, fd, quiet);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** Some systems refuse it for an interface without multicast, which can do all the rest. */
    private static void sendGroupsThrough(DatagramChannel channel, NetworkInterface network) {
        try {
            channel.setOption(StandardSocketOptions.IP_MULTICAST_IF, network);
        } catch (IOException e) {
            System.getLogger("io.verbena.link")
                    .log(System.Logger.Level.DEBUG, "no multicast through " + network.getName(), e);
        }
    }

    /**
     * A socket whose datagrams carry IPv4 identification 0, always: Linux counts identifications per connected socket,
     * or per destination where a datagram may be fragmented, and uses 0 for what is neither. The ICRC covers the
     * identification.
     */
    static DatagramChannel channel(ProtocolFamily family) throws IOException {
        DatagramChannel channel = DatagramChannel.open(family);
        try {
            channel.configureBlocking(false);
            channel.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static int bind(DatagramChannel channel, InetAddress local, int portOffset) throws IOException {
        for (int attempt = 0; ; attempt++) {
            int port = PORT_FIRST + (portOffset + attempt) % PORTS;
            try {
                channel.bind(new InetSocketAddress(local, port));
                return port;
            } catch (BindException e) {
                if (attempt == BIND_ATTEMPTS_MAX) {
                    throw e;
                }
            }
        }
    }

    boolean errorsQueued() {
        return fd >= 0;
    }

    /** A quiet socket is readable only when it has errors, so the selector may watch it all the time. */
    void register(Selector selector) throws IOException {
        if (errorsQueued() && quiet) {
            key = channel.register(selector, SelectionKey.OP_READ, this);
        }
    }

    void awaitWritable(Selector selector, boolean wanted) throws IOException {
        int idle = errorsQueued() && quiet ? SelectionKey.OP_READ : 0;
        int interest = wanted ? idle | SelectionKey.OP_WRITE : idle;
        try {
            if (key == null) {
                key = channel.register(selector, interest, this);
            } else if (key.interestOps() != interest) {
                key.interestOps(interest);
            }
        } catch (CancelledKeyException e) {
            throw closed(e);
        }
    }

    static ClosedChannelException closed(RuntimeException cause) {
        ClosedChannelException exception = new ClosedChannelException();
        exception.initCause(cause);
        return exception;
    }

    void trafficClass(int wanted) throws IOException {
        if (trafficClass != wanted) {
            channel.setOption(StandardSocketOptions.IP_TOS, TRAFFIC_CLASSES[wanted & 0xff]);
            trafficClass = wanted;
        }
    }

    void sent() {
        pollsLeft = POLLS_AFTER_SEND;
    }

    /**
     * Whether to drain the error queue before the next send. The kernel hands a queued ECONNREFUSED to the next sendto
     * instead of sending, and DatagramChannel then reports the datagram as sent: after a first error the queue is
     * emptied before each send for a while, so that a dead peer costs its neighbours one frame and no more.
     */
    boolean guardSend() {
        if (guardedSends == 0) {
            return false;
        }
        guardedSends--;
        return true;
    }

    void suspectError() {
        errorSuspected = true;
    }

    boolean takeErrorSuspected() {
        boolean suspected = errorSuspected;
        errorSuspected = false;
        return suspected;
    }

    boolean takePoll() {
        if (pollsLeft == 0 || !errorsQueued()) {
            return false;
        }
        pollsLeft--;
        return true;
    }

    /** The caller makes sure that the descriptor is not closed, and so perhaps another's, meanwhile. */
    void drainErrors(ErrorQueue queue, UnreachableReports reports) {
        if (!errorsQueued()) {
            return;
        }
        for (int i = 0; i < ERRORS_PER_DRAIN_MAX && queue.next(fd); i++) {
            guardedSends = GUARDED_SENDS_AFTER_ERROR;
            if (queue.errno() != 0 && queue.origin() != ErrorQueue.ORIGIN_LOCAL) {
                reports.add(queue.remoteHigh(), queue.remoteLow(), queue.remotePort(), queue.errno());
            }
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            System.getLogger("io.verbena.link").log(System.Logger.Level.DEBUG, "close of a sending socket", e);
        }
    }
}
