// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.ffi.Errno;
import io.verbena.ffi.ErrorQueue;
import io.verbena.wire.Frame;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A link of ordinary {@link DatagramChannel}s, which works on every platform: one that receives on the port of the
 * link, and a small pool that sends, each member a source port. All are unconnected and forbid fragments, so that Linux
 * sends IPv4 identification 0 and the sender can compute the ICRC, which covers it. One frame travels per system call.
 *
 * <p>On Linux, with native access granted to {@code verbena.ffi}, it takes datagrams with UDP checksum 0 over IPv6 and
 * reports ICMP errors; {@link #capabilities} tells.
 */
public non-sealed class NioDatagramLink implements UdpLink {
    private static final int RECEIVE_BYTES = 1 << 16;
    private static final int TRANSMIT_BYTES = 1 << 13;
    private static final int SOURCE_PORT_HASH_MASK = 0x3fff;
    // Wake-up states.
    private static final int IDLE = 0;
    private static final int WAITING = 1;
    private static final int SIGNALLED = 2;
    /** Wait after ENOBUFS: the device queue is full, which no readiness tells of. */
    private static final long DEVICE_BACK_OFF_MS = 1;

    private final LocalEnd local;
    private final long localHigh;
    private final long localLow;
    private final int port;
    private final LinkOptions options;
    private final LinkCapabilities capabilities;
    private final LinkCounters counters = new LinkCounters();

    private final NioReceiver receiver;
    private final GroupSockets<NioReceiver> groups;
    private final Selector selector;
    private final @Nullable Sender[] senders;
    private final Sender firstSender;
    private final PeerAddresses peers;

    private final MemorySegment receiveSpace;
    private final ByteBuffer receiveBuffer;
    private final MemorySegment transmitSpace;
    private final ByteBuffer transmitBuffer;
    private final Frame received = new Frame();
    private final ErrorQueue errorQueue;
    private final UnreachableReports reports = new UnreachableReports(counters);
    private final Consumer<SelectionKey> onReady = this::onReady;

    /** Whose turn it is to be read first: 0 is the receiver, the groups follow. */
    private int turn;

    // The one frame that the socket had no room for.
    private @Nullable Sender pendingSender;
    private @Nullable InetSocketAddress pendingTarget;
    private long pendingHigh;
    private long pendingLow;
    private boolean deviceFull;

    private final AtomicInteger wake = new AtomicInteger(IDLE);
    /**
     * Keeps descriptors from being closed, and used by another, while a system call is made on them below the channels.
     */
    private final ReentrantLock descriptorLock = new ReentrantLock();
    /** Held while await selects: who holds it cannot take a wake-up away from a thread that sleeps there. */
    private final ReentrantLock selectLock = new ReentrantLock();

    private volatile boolean closed;

    /** {@link #open(InetAddress, int, LinkOptions)} with defaults. */
    public static NioDatagramLink open(InetAddress local, int port) throws IOException {
        return open(local, port, LinkOptions.defaults());
    }

    /**
     * Opens a link on an address of this host.
     *
     * @param port the UDP port to receive on, for RoCE v2 4791; 0 for any that is free
     * @throws PortInUseException if another socket holds the port
     * @throws BindException if the address is not of this host, or the port is not permitted
     */
    public static NioDatagramLink open(InetAddress local, int port, LinkOptions options) throws IOException {
        return new NioDatagramLink(local, port, options);
    }

    /** For a subclass that {@linkplain #transmit sends} in its own way. */
    NioDatagramLink(InetAddress wanted, int wantedPort, LinkOptions options) throws IOException {
        local = LocalEnd.find(wanted);
        this.options = options;
        localHigh = local.high();
        localLow = local.low();
        peers = new PeerAddresses(local.ipv4(), local.scopeId());
        // Freed when the link is unreachable: a close in the middle of a call takes no memory from under it.
        Arena arena = Arena.ofAuto();
        receiveSpace = arena.allocate(RECEIVE_BYTES, 64);
        receiveBuffer = receiveSpace.asByteBuffer();
        transmitSpace = arena.allocate(TRANSMIT_BYTES, 64);
        transmitBuffer = transmitSpace.asByteBuffer();
        errorQueue = new ErrorQueue(arena);
        senders = new Sender[options.sourcePorts()];
        receiver = NioReceiver.open(local, wantedPort, options);
        port = receiver.port;
        groups = new GroupSockets<>(local, (high, low) -> NioReceiver.openGroup(local, high, low, port, options));
        Selector opened = null;
        Sender first = null;
        try {
            opened = Selector.open();
            receiver.channel.register(opened, SelectionKey.OP_READ);
            first = Sender.open(local, 0, options);
            first.register(opened);
        } catch (IOException | RuntimeException e) {
            receiver.close();
            if (opened != null) {
                opened.close();
            }
            if (first != null) {
                first.close();
            }
            throw e;
        }
        selector = opened;
        firstSender = first;
        senders[0] = first;
        capabilities = new LinkCapabilities(local.mtu(), false, false, receiver.zeroChecksum, first.errorsQueued(), 1);
    }

    @Override
    public LinkCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public LinkCounters counters() {
        return counters;
    }

    @Override
    public InetAddress localAddress() {
        return local.address();
    }

    @Override
    public int localPort() {
        return port;
    }

    @Override
    public int receiveBufferBytes() throws IOException {
        return receiver.channel.getOption(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public int sourcePort(int flowHash) {
        int index = (flowHash & SOURCE_PORT_HASH_MASK) % senders.length;
        Sender sender = senders[index];
        return sender != null ? sender.port : openSender(index).port;
    }

    private Sender openSender(int index) {
        Sender sender = firstSender;
        descriptorLock.lock();
        try {
            if (!closed) {
                sender = Sender.open(local, index, options);
                sender.register(selector);
            }
        } catch (IOException | ClosedSelectorException e) {
            // Fewer paths through the network, but it works.
            System.getLogger("io.verbena.link")
                    .log(System.Logger.Level.DEBUG, "no socket for another source port: shares one", e);
        } finally {
            descriptorLock.unlock();
        }
        senders[index] = sender;
        return sender;
    }

    private Sender sender(int sourcePort) {
        for (Sender sender : senders) {
            if (sender != null && sender.port == sourcePort) {
                return sender;
            }
        }
        throw new IllegalArgumentException("source port " + sourcePort + " is not one that sourcePort() gave");
    }

    @Override
    public int receive(FrameHandler handler, int framesMax) throws IOException {
        List<NioReceiver> joined = groups.all();
        if (joined.isEmpty()) {
            return receive(receiver, handler, framesMax);
        }
        int count = 0;
        turn = (turn + 1) % (joined.size() + 1);
        for (int i = 0; i <= joined.size() && count < framesMax; i++) {
            int index = (turn + i) % (joined.size() + 1);
            count += receive(index == 0 ? receiver : joined.get(index - 1), handler, framesMax - count);
        }
        return count;
    }

    private int receive(NioReceiver from, FrameHandler handler, int framesMax) throws IOException {
        int count = 0;
        while (count < framesMax && !from.left() && from.receive(receiveBuffer, received)) {
            received.wrap(receiveSpace, 0, receiveBuffer.position());
            received.ipId(Frame.IP_ID_UNKNOWN);
            received.trafficClass(0);
            count++;
            counters.framesReceived++;
            handler.onFrame(received);
        }
        return count;
    }

    @Override
    public boolean beginTransmit(Frame frame) {
        if (pendingSender != null && !retryPending()) {
            return false;
        }
        frame.wrap(transmitSpace, 0, TRANSMIT_BYTES);
        frame.local(localHigh, localLow, firstSender.port);
        frame.ipId(0);
        frame.trafficClass(0);
        return true;
    }

    @Override
    public void commitTransmit(Frame frame) throws IOException {
        int length = frame.length();
        if (frame.buffer().address() + frame.offset() != transmitSpace.address() || pendingSender != null) {
            throw new IllegalStateException("the frame is not one that beginTransmit() gave");
        }
        if (length <= 0 || length > TRANSMIT_BYTES) {
            throw new IllegalArgumentException("frame length " + length);
        }
        Sender sender = sender(frame.localPort());
        InetSocketAddress target = peers.get(frame.remoteHigh(), frame.remoteLow(), frame.remotePort());
        if (target == null) {
            counters.sendFailures++;
            reports.add(frame.remoteHigh(), frame.remoteLow(), frame.remotePort(), Errno.EAFNOSUPPORT);
            return;
        }
        sender.trafficClass(frame.trafficClass());
        transmitBuffer.clear().limit(length);
        send(sender, target, frame.remoteHigh(), frame.remoteLow());
    }

    /** Sends what is in the transmit buffer. It is left pending if there is no room, and gone otherwise. */
    private void send(Sender sender, InetSocketAddress target, long high, long low) throws IOException {
        boolean wasPending = pendingSender != null;
        pendingSender = null;
        deviceFull = false;
        if (sender.guardSend()) {
            drainErrors(sender);
        }
        boolean retried = false;
        while (true) {
            try {
                if (transmit(sender.channel, transmitBuffer, target) > 0) {
                    counters.framesSent++;
                    sender.sent();
                    return;
                }
                break;
            } catch (ClosedChannelException e) {
                throw e;
            } catch (IOException e) {
                int errno = SendErrors.errno(e);
                if (errno == Errno.ENOBUFS) {
                    deviceFull = true;
                    break;
                }
                drainErrors(sender);
                if (retried) {
                    counters.sendFailures++;
                    reports.add(high, low, target.getPort(), errno);
                    return;
                }
                // The error may be one of an earlier datagram to someone else.
                retried = true;
                counters.pendingErrors++;
            }
        }
        pendingSender = sender;
        pendingTarget = target;
        pendingHigh = high;
        pendingLow = low;
        if (!wasPending) {
            counters.backPressure++;
        }
    }

    /** One attempt to send; 0 if the socket is full. Tests stand in for a slow network here. */
    int transmit(DatagramChannel channel, ByteBuffer datagram, InetSocketAddress target) throws IOException {
        return channel.send(datagram, target);
    }

    /** Whether nothing is pending any more. */
    private boolean retryPending() {
        Sender sender = pendingSender;
        InetSocketAddress target = pendingTarget;
        if (sender == null || target == null) {
            return true;
        }
        try {
            send(sender, target, pendingHigh, pendingLow);
        } catch (IOException e) {
            // Closed, as the next receive or await will say.
            pendingSender = sender;
        }
        return pendingSender == null;
    }

    @Override
    public void flush() throws IOException {
        if (pendingSender != null) {
            retryPending();
        }
    }

    @Override
    public boolean transmitPending() {
        return pendingSender != null;
    }

    @Override
    public boolean await(long timeoutNanos) throws IOException {
        Sender blocked = deviceFull ? null : pendingSender;
        try {
            if (blocked != null) {
                blocked.awaitWritable(selector, true);
            }
            boolean ready;
            selectLock.lock();
            try {
                ready = select(timeoutNanos);
            } finally {
                selectLock.unlock();
            }
            drainSuspects();
            return ready;
        } catch (ClosedSelectorException e) {
            throw Sender.closed(e);
        } finally {
            if (blocked != null && !closed) {
                blocked.awaitWritable(selector, false);
            }
        }
    }

    private boolean select(long timeoutNanos) throws IOException {
        if (timeoutNanos <= 0) {
            boolean signalled = wake.getAndSet(IDLE) == SIGNALLED;
            return selector.selectNow(onReady) > 0 || signalled;
        }
        long startNanos = System.nanoTime();
        long leftNanos = timeoutNanos;
        while (wake.compareAndSet(IDLE, WAITING)) {
            if (closed) {
                throw new ClosedChannelException();
            }
            boolean ready = selector.select(onReady, timeoutMs(leftNanos)) > 0;
            if (wake.getAndSet(IDLE) == SIGNALLED || ready) {
                return true;
            }
            leftNanos = timeoutNanos - (System.nanoTime() - startNanos);
            // A select that returns early had a wake-up of the past in it, or the thread is interrupted and it always
            // will.
            if (leftNanos <= 0 || Thread.currentThread().isInterrupted()) {
                return deviceFull;
            }
            if (deviceFull) {
                return true;
            }
        }
        // An exchange, so that what the last caller of wakeup() has published is seen from here on.
        return wake.getAndSet(IDLE) == SIGNALLED;
    }

    private long timeoutMs(long nanos) {
        if (deviceFull) {
            return DEVICE_BACK_OFF_MS;
        }
        // 0 means without limit to a selector.
        return nanos == Long.MAX_VALUE ? 0 : TimeUnit.NANOSECONDS.toMillis(nanos - 1) + 1;
    }

    private void onReady(SelectionKey key) {
        if (key.attachment() instanceof Sender sender) {
            sender.suspectError();
        }
    }

    /** Empties error queues that made a socket ready: it would stay ready, and await would spin. */
    private void drainSuspects() {
        for (Sender sender : senders) {
            if (sender != null && sender.takeErrorSuspected()) {
                drainErrors(sender);
            }
        }
    }

    private void drainErrors(Sender sender) {
        descriptorLock.lock();
        try {
            if (!closed) {
                sender.drainErrors(errorQueue, reports);
            }
        } finally {
            descriptorLock.unlock();
        }
    }

    @Override
    public void joinGroup(long groupHigh, long groupLow) throws IOException {
        changeGroups(() -> {
            NioReceiver joined = groups.join(groupHigh, groupLow);
            if (joined != null) {
                joined.channel.register(selector, SelectionKey.OP_READ);
            }
        });
        // Whoever sleeps in await does not look at the new socket.
        wakeup();
    }

    @Override
    public void leaveGroup(long groupHigh, long groupLow) throws IOException {
        changeGroups(() -> groups.leave(groupHigh, groupLow));
        wakeup();
        // The selector keeps the descriptor until it selects: whoever sleeps in it does so now, or else this thread.
        if (selectLock.tryLock()) {
            try {
                selector.selectNow(onReady);
            } catch (ClosedSelectorException e) {
                throw Sender.closed(e);
            } finally {
                selectLock.unlock();
            }
        }
    }

    private interface GroupChange {
        void run() throws IOException;
    }

    private void changeGroups(GroupChange change) throws IOException {
        descriptorLock.lock();
        try {
            if (closed) {
                throw new ClosedChannelException();
            }
            change.run();
        } finally {
            descriptorLock.unlock();
        }
    }

    @Override
    public void wakeup() {
        // Always the exchange, never a look first: it is the fence between what the caller has published and our sleep.
        if (wake.getAndSet(SIGNALLED) == WAITING) {
            selector.wakeup();
        }
    }

    @Override
    public int pollUnreachable(UnreachableHandler handler) throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        for (int i = 0; i < senders.length; i++) {
            Sender sender = senders[i];
            if (sender != null && sender.takePoll()) {
                drainErrors(sender);
            }
        }
        return reports.drain(handler);
    }

    @Override
    public void close() {
        descriptorLock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            for (Sender sender : senders) {
                if (sender != null) {
                    sender.close();
                }
            }
            receiver.close();
            groups.close();
        } finally {
            descriptorLock.unlock();
        }
        try {
            // Wakes who selects, and waits for it.
            selector.close();
        } catch (IOException e) {
            System.getLogger("io.verbena.link").log(System.Logger.Level.DEBUG, "close of the selector", e);
        }
    }

    @Override
    public String toString() {
        return "NioDatagramLink[" + local.address().getHostAddress() + ", port " + port + "]";
    }
}
