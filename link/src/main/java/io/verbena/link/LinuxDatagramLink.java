// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.verbena.ffi.Errno;
import io.verbena.ffi.ErrorQueue;
import io.verbena.ffi.LinuxSockets;
import io.verbena.ffi.MsgHdr;
import io.verbena.ffi.SockAddr;
import io.verbena.wire.Frame;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A link of Linux sockets below the JDK. Runs of frames of one flow travel the stack as one packet (UDP_SEGMENT to
 * send, UDP_GRO to receive), which is worth a factor of four; the traffic class of what arrives is visible, and await
 * is precise.
 *
 * <p>Frame k of a run carries IPv4 identification k if the run is cut into packets on its way, and
 * {@link #beginTransmit} says k. Where a frame then turns out to belong to another run, and its last four bytes are an
 * ICRC, that is computed anew.
 */
public final class LinuxDatagramLink implements UdpLink {
    private static final int RECEIVE_BYTES = 1 << 16;
    private static final int TRANSMIT_BYTES = 3 << 16;
    private static final int FRAME_BYTES_MAX = 1 << 13;
    private static final int SOURCE_PORT_HASH_MASK = 0x3fff;
    private static final int CONTROL_BYTES = 128;
    /** A mask: so many empty receives in a row are taken for EAGAIN before one is looked at. */
    private static final int EMPTY_RECEIVES_UNCHECKED = 4095;

    private static final int POLLFD_BYTES = 8;
    private static final int POLLFD_EVENTS = 4;
    private static final int POLLFD_RETURNED = 6;
    private static final long SECOND_NS = 1_000_000_000L;
    /** Wait after ENOBUFS: the device queue is full, which no readiness tells of. */
    private static final long DEVICE_BACK_OFF_NS = 1_000_000L;
    // Wake-up states.
    private static final int IDLE = 0;
    private static final int WAITING = 1;
    private static final int SIGNALLED = 2;

    private final InetAddress local;
    private final long localHigh;
    private final long localLow;
    private final int scopeId;
    private final int port;
    private final boolean ipv4;
    private final LinkOptions options;
    private final LinkCapabilities capabilities;
    private final LinkCounters counters = new LinkCounters();
    private final UnreachableReports reports = new UnreachableReports(counters);
    private final ErrorQueue errorQueue;

    private final int receiver;
    private final int waker;
    private final @Nullable LinuxSender[] senders;
    private final LinuxSender firstSender;

    private final MemorySegment receiveSpace;
    private final MemorySegment receiveName;
    private final MemorySegment receiveControl;
    private final MemorySegment receiveMessage;
    private final MemorySegment transmitSpace;
    private final MemorySegment transmitName;
    private final MemorySegment transmitControl;
    private final MemorySegment transmitMessage;
    private final MemorySegment polls;
    private final MemorySegment timeout;
    private final MemorySegment wakeCount;
    private final Frame received = new Frame();
    private final Frame stamp = new Frame();
    private final IcrcStamp icrc = new IcrcStamp();

    // What is left of the last datagram, or run of them, taken from the receiving socket.
    private long receivedOffset;
    private int receivedLeft;
    private int receivedFrameBytes;
    private int receivedTrafficClass;

    /** Receives that failed: nearly always since nothing was there. One in a few asks whether that was why. */
    private int emptyReceives;

    private Run run = new Run();
    /** A frame that could not join the run while that had no room to leave. */
    private Run nextRun = new Run();

    private long offered;
    private int offeredIpId;
    private boolean blocked;
    private boolean deviceFull;
    private boolean segmentation = true;
    private final boolean[] errorSuspected;

    private final AtomicInteger wake = new AtomicInteger(IDLE);
    /** Held by the owner around system calls, so that no other thread closes a descriptor that is in use. */
    private final ReentrantLock descriptorLock = new ReentrantLock();
    /**
     * Held while await blocks, instead of the lock above: who takes over from a thread that sleeps there need not wait.
     */
    private final ReentrantLock awaitLock = new ReentrantLock();
    /** As the first, for the one descriptor that any thread writes to. */
    private final ReentrantLock wakerLock = new ReentrantLock();

    private volatile boolean closed;

    /** {@link #open(InetAddress, int, LinkOptions)} with defaults. */
    public static LinuxDatagramLink open(InetAddress local, int port) throws IOException {
        return open(local, port, LinkOptions.defaults());
    }

    /** As {@link UdpLink#open}; only where {@link LinuxSockets#available}. */
    public static LinuxDatagramLink open(InetAddress local, int port, LinkOptions options) throws IOException {
        if (!LinuxSockets.available()) {
            throw new UnsupportedOperationException(
                    "needs 64-bit Linux and --enable-native-access=verbena.ffi; NioDatagramLink does without");
        }
        return new LinuxDatagramLink(local, port, options);
    }

    private LinuxDatagramLink(InetAddress wanted, int wantedPort, LinkOptions options) throws IOException {
        if (wanted.isAnyLocalAddress()) {
            throw new IllegalArgumentException("a link needs one local address, not the wildcard");
        }
        LocalAddress found = LocalInterfaces.find(wanted).orElse(null);
        if (found == null) {
            throw BindErrors.notLocal(wanted);
        }
        this.options = options;
        local = found.address();
        localHigh = Addresses.high(local);
        localLow = Addresses.low(local);
        scopeId = Addresses.scopeId(local);
        ipv4 = local instanceof Inet4Address;
        // Freed when the link is unreachable: a close in the middle of a call takes no memory from under it.
        Arena arena = Arena.ofAuto();
        receiveSpace = arena.allocate(RECEIVE_BYTES, 64);
        receiveName = arena.allocate(SockAddr.IN6_BYTES, 8);
        receiveControl = arena.allocate(CONTROL_BYTES, 8);
        receiveMessage = message(arena, receiveName, receiveControl);
        MsgHdr.data(receiveMessage, receiveSpace.address(), RECEIVE_BYTES);
        transmitSpace = arena.allocate(TRANSMIT_BYTES, 64);
        transmitName = arena.allocate(SockAddr.IN6_BYTES, 8);
        transmitControl = arena.allocate(CONTROL_BYTES, 8);
        transmitMessage = message(arena, transmitName, transmitControl);
        polls = arena.allocate((long) POLLFD_BYTES * (2 + options.sourcePorts()), 8);
        timeout = arena.allocate(2L * Long.BYTES, 8);
        wakeCount = arena.allocate(JAVA_LONG);
        errorQueue = new ErrorQueue(arena);
        senders = new LinuxSender[options.sourcePorts()];
        errorSuspected = new boolean[senders.length];

        int fd = LinuxSender.socket(ipv4);
        int event = -1;
        try {
            boolean zeroChecksum = configure(fd);
            port = bind(fd, wantedPort, arena);
            event = LinuxSender.check(
                    LinuxSockets.eventfd(0, LinuxSockets.EFD_NONBLOCK | LinuxSockets.EFD_CLOEXEC), "eventfd");
            firstSender = LinuxSender.open(localHigh, localLow, scopeId, ipv4, 0, options);
            capabilities = new LinkCapabilities(found.mtu(), false, true, zeroChecksum, true, Run.FRAMES_MAX);
        } catch (IOException | RuntimeException e) {
            LinuxSockets.close(fd);
            if (event >= 0) {
                LinuxSockets.close(event);
            }
            throw e;
        }
        receiver = fd;
        waker = event;
        senders[0] = firstSender;
    }

    private static MemorySegment message(Arena arena, MemorySegment name, MemorySegment control) {
        MemorySegment message = arena.allocate(MsgHdr.BYTES, 8);
        MsgHdr.init(message, name, control);
        return message;
    }

    /** Whether UDP checksum 0 over IPv6 is accepted. */
    private boolean configure(int fd) throws IOException {
        int wanted = options.receiveBufferBytes();
        LinuxSender.set(fd, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_RCVBUF, wanted);
        if (LinuxSockets.getsockopt(fd, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_RCVBUF) < wanted) {
            NativeExtras.forceReceiveBuffer(fd, wanted);
        }
        // Before Linux 5.0 there is no UDP_GRO; single datagrams come as well.
        LinuxSockets.setsockopt(fd, LinuxSockets.IPPROTO_UDP, LinuxSockets.UDP_GRO, 1);
        if (ipv4) {
            LinuxSender.set(fd, LinuxSockets.IPPROTO_IP, LinuxSockets.IP_RECVTOS, 1);
            return false;
        }
        LinuxSender.set(fd, LinuxSockets.IPPROTO_IPV6, LinuxSockets.IPV6_RECVTCLASS, 1);
        return NativeExtras.acceptZeroChecksum(fd);
    }

    private int bind(int fd, int wantedPort, Arena arena) throws IOException {
        int result = LinuxSender.bind(fd, localHigh, localLow, scopeId, ipv4, wantedPort);
        if (result == -Errno.EADDRINUSE || result == -Errno.EACCES || result == -Errno.EPERM) {
            String text = result == -Errno.EADDRINUSE ? "Address already in use" : "Permission denied";
            throw BindErrors.explain(local, wantedPort, new BindException(text));
        }
        LinuxSender.check(result, "bind");
        MemorySegment length = arena.allocateFrom(JAVA_INT, SockAddr.IN6_BYTES);
        LinuxSender.check(LinuxSockets.getsockname(fd, receiveName, length), "getsockname");
        return SockAddr.port(receiveName, 0);
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
        return local;
    }

    @Override
    public int localPort() {
        return port;
    }

    @Override
    public int receiveBufferBytes() throws IOException {
        descriptorLock.lock();
        try {
            checkOpen();
            int bytes = LinuxSockets.getsockopt(receiver, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_RCVBUF);
            return LinuxSender.check(bytes, "getsockopt");
        } finally {
            descriptorLock.unlock();
        }
    }

    @Override
    public int sourcePort(int flowHash) {
        int index = (flowHash & SOURCE_PORT_HASH_MASK) % senders.length;
        LinuxSender sender = senders[index];
        return sender != null ? sender.port : openSender(index).port;
    }

    private LinuxSender openSender(int index) {
        LinuxSender sender = firstSender;
        descriptorLock.lock();
        try {
            if (!closed) {
                sender = LinuxSender.open(localHigh, localLow, scopeId, ipv4, index, options);
            }
        } catch (IOException e) {
            // Fewer paths through the network, but it works.
            System.getLogger("io.verbena.link")
                    .log(System.Logger.Level.DEBUG, "no socket for another source port: shares one", e);
        } finally {
            senders[index] = sender;
            descriptorLock.unlock();
        }
        return sender;
    }

    private LinuxSender sender(int sourcePort) {
        for (LinuxSender sender : senders) {
            if (sender != null && sender.port == sourcePort) {
                return sender;
            }
        }
        throw new IllegalArgumentException("source port " + sourcePort + " is not one that sourcePort() gave");
    }

    private void checkOpen() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public int receive(FrameHandler handler, int framesMax) throws IOException {
        int count = 0;
        descriptorLock.lock();
        try {
            checkOpen();
            while (count < framesMax && !closed && (receivedLeft > 0 || receiveRun())) {
                int length = Math.min(receivedFrameBytes, receivedLeft);
                received.wrap(receiveSpace, receivedOffset, length);
                received.local(localHigh, localLow, port);
                received.remote(
                        SockAddr.high(receiveName, 0), SockAddr.low(receiveName, 0), SockAddr.port(receiveName, 0));
                received.ipId(Frame.IP_ID_UNKNOWN);
                received.trafficClass(receivedTrafficClass);
                receivedOffset += length;
                receivedLeft -= length;
                count++;
                counters.framesReceived++;
                handler.onFrame(received);
            }
        } finally {
            descriptorLock.unlock();
        }
        return count;
    }

    /** Takes the next datagram, or run of datagrams that the kernel has put together. */
    private boolean receiveRun() throws IOException {
        MsgHdr.lengths(receiveMessage, SockAddr.IN6_BYTES, CONTROL_BYTES);
        long bytes = LinuxSockets.recvmsgQuick(receiver, receiveMessage.address(), LinuxSockets.MSG_DONTWAIT);
        if (bytes < 0 && (++emptyReceives & EMPTY_RECEIVES_UNCHECKED) == 0) {
            bytes = LinuxSockets.recvmsg(receiver, receiveMessage, LinuxSockets.MSG_DONTWAIT);
        } else if (bytes < 0) {
            return false;
        }
        if (bytes < 0) {
            if (bytes != -Errno.EAGAIN && bytes != -Errno.EINTR) {
                LinuxSender.check((int) bytes, "recvmsg");
            }
            return false;
        }
        receivedOffset = 0;
        receivedLeft = (int) bytes;
        receivedFrameBytes = (int) bytes;
        receivedTrafficClass = 0;
        long length = Math.min(MsgHdr.controlLength(receiveMessage), CONTROL_BYTES);
        for (long at = 0; at + MsgHdr.CMSG_HEADER_BYTES < length; at = MsgHdr.cmsgNext(receiveControl, at)) {
            int level = MsgHdr.cmsgLevel(receiveControl, at);
            int type = MsgHdr.cmsgType(receiveControl, at);
            long data = at + MsgHdr.CMSG_HEADER_BYTES;
            if (level == LinuxSockets.IPPROTO_UDP && type == LinuxSockets.UDP_GRO) {
                int frameBytes = receiveControl.get(JAVA_INT, data);
                receivedFrameBytes = frameBytes > 0 ? frameBytes : receivedFrameBytes;
            } else if (level == LinuxSockets.IPPROTO_IP && type == LinuxSockets.IP_TOS) {
                receivedTrafficClass = Byte.toUnsignedInt(receiveControl.get(JAVA_BYTE, data));
            } else if (level == LinuxSockets.IPPROTO_IPV6 && type == LinuxSockets.IPV6_TCLASS) {
                receivedTrafficClass = receiveControl.get(JAVA_INT, data) & 0xff;
            }
        }
        return true;
    }

    @Override
    public boolean beginTransmit(Frame frame) {
        if (blocked || nextRun.frames > 0 || (run.frames > 0 && !run.open()) || !spaceLeft()) {
            sendRuns();
            if (run.frames > 0) {
                return false;
            }
        }
        offered = run.frames > 0 ? run.start + run.bytes : 0;
        frame.wrap(transmitSpace, offered, FRAME_BYTES_MAX);
        frame.local(localHigh, localLow, firstSender.port);
        offeredIpId = segmentation ? run.frames : 0;
        frame.ipId(offeredIpId);
        frame.trafficClass(0);
        return true;
    }

    private boolean spaceLeft() {
        return run.frames == 0 || run.start + run.bytes + FRAME_BYTES_MAX <= TRANSMIT_BYTES;
    }

    @Override
    public void commitTransmit(Frame frame) throws IOException {
        int length = frame.length();
        if (frame.buffer().address() + frame.offset() != transmitSpace.address() + offered || nextRun.frames > 0) {
            throw new IllegalStateException("the frame is not one that beginTransmit() gave");
        }
        if (length <= 0 || length > FRAME_BYTES_MAX) {
            throw new IllegalArgumentException("frame length " + length);
        }
        LinuxSender sender = sender(frame.localPort());
        boolean wrongFamily = Frame.isIpv4Mapped(frame.remoteHigh(), frame.remoteLow()) != ipv4;
        if (wrongFamily || frame.remotePort() <= 0 || frame.remotePort() > 0xffff) {
            counters.sendFailures++;
            reports.add(frame.remoteHigh(), frame.remoteLow(), frame.remotePort(), Errno.EAFNOSUPPORT);
            return;
        }
        if (segmentation && run.joins(frame.localPort(), frame)) {
            run.add(frame);
        } else {
            sendRuns();
            Run free = run.frames == 0 ? run : nextRun;
            free.begin(sender, frame, offered);
            if (offeredIpId > 0) {
                restamp(free, offered, length, offeredIpId);
            }
        }
        if (!run.open()) {
            sendRuns();
        }
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    private void restamp(Run of, long offset, int length, int told) {
        LinuxSender sender = of.sender;
        if (ipv4 && sender != null) {
            stamp.wrap(transmitSpace, offset, length);
            stamp.local(localHigh, localLow, sender.port);
            stamp.remote(of.high, of.low, of.port);
            icrc.restamp(stamp, told, 0);
        }
    }

    /** Sends what there is, as far as there is room. */
    private void sendRuns() {
        if (run.frames == 0) {
            return;
        }
        descriptorLock.lock();
        try {
            while (run.frames > 0 && !closed) {
                if (!send(run)) {
                    counters.backPressure += blocked ? 0 : 1;
                    blocked = true;
                    return;
                }
                run.clear();
                Run sent = run;
                run = nextRun;
                nextRun = sent;
            }
            blocked = false;
            deviceFull = false;
        } finally {
            descriptorLock.unlock();
        }
    }

    /** Whether the run is gone: sent, or refused for good. */
    private boolean send(Run of) {
        LinuxSender sender = of.sender;
        if (sender == null) {
            return true;
        }
        boolean retried = false;
        while (of.frames > 0) {
            boolean one = of.single || of.frames == 1;
            int bytes = one ? Math.min(of.frameBytes, of.bytes) : of.bytes;
            int result = sendmsg(of, sender, bytes, one);
            if (result >= 0) {
                sender.sent();
                counters.framesSent += one ? 1 : of.frames;
                // What goes as a frame and not in a run shows that the way out cannot segment.
                segmentation &= !(of.single && bytes == of.frameBytes);
                if (!one) {
                    return true;
                }
                of.dropFirst();
                retried = false;
                continue;
            }
            if (result == -Errno.EAGAIN || result == -Errno.ENOBUFS) {
                deviceFull = result == -Errno.ENOBUFS;
                return false;
            }
            sender.drainErrors(errorQueue, reports);
            if (!retried) {
                // The error may be one of an earlier datagram to someone else: this one has not been looked at.
                retried = true;
                counters.pendingErrors++;
            } else if (!one && (result == -Errno.EINVAL || result == -Errno.EIO || result == -Errno.EMSGSIZE)) {
                // The device cannot segment, or a frame is longer than its MTU: each frame for itself tells which.
                single(of);
            } else {
                counters.sendFailures += one ? 1 : of.frames;
                reports.add(of.high, of.low, of.port, -result);
                if (!one) {
                    return true;
                }
                of.dropFirst();
                retried = false;
            }
        }
        return true;
    }

    private void single(Run of) {
        long offset = of.start;
        int left = of.bytes;
        for (int i = 0; i < of.frames; i++) {
            int length = Math.min(of.frameBytes, left);
            if (i > 0) {
                restamp(of, offset, length, i);
            }
            offset += length;
            left -= length;
        }
        of.single = true;
    }

    private int sendmsg(Run of, LinuxSender sender, int bytes, boolean one) {
        int nameBytes = SockAddr.write(transmitName, 0, !ipv4, of.high, of.low, of.port, scopeOf(of.high));
        int controlBytes = 0;
        if (!one) {
            MsgHdr.cmsg(transmitControl, 0, LinuxSockets.IPPROTO_UDP, LinuxSockets.UDP_SEGMENT, Short.BYTES);
            transmitControl.set(JAVA_SHORT, MsgHdr.CMSG_HEADER_BYTES, (short) of.frameBytes);
            controlBytes = MsgHdr.CMSG_HEADER_BYTES + Long.BYTES;
        }
        if (of.trafficClass != 0) {
            int level = ipv4 ? LinuxSockets.IPPROTO_IP : LinuxSockets.IPPROTO_IPV6;
            int type = ipv4 ? LinuxSockets.IP_TOS : LinuxSockets.IPV6_TCLASS;
            MsgHdr.cmsg(transmitControl, controlBytes, level, type, Integer.BYTES);
            transmitControl.set(JAVA_INT, (long) controlBytes + MsgHdr.CMSG_HEADER_BYTES, of.trafficClass & 0xff);
            controlBytes += MsgHdr.CMSG_HEADER_BYTES + Long.BYTES;
        }
        MsgHdr.lengths(transmitMessage, nameBytes, controlBytes);
        MsgHdr.data(transmitMessage, transmitSpace.address() + of.start, bytes);
        int sent = (int) LinuxSockets.sendmsgQuick(sender.fd, transmitMessage.address(), LinuxSockets.MSG_DONTWAIT);
        return sent >= 0 ? sent : (int) LinuxSockets.sendmsg(sender.fd, transmitMessage, LinuxSockets.MSG_DONTWAIT);
    }

    private int scopeOf(long high) {
        // Link-local, fe80::/10: goes out where the local address is.
        return (high >>> 54) == (0xfe80L >>> 6) ? scopeId : 0;
    }

    @Override
    public void flush() throws IOException {
        sendRuns();
    }

    @Override
    public boolean transmitPending() {
        return run.frames > 0;
    }

    @Override
    public boolean await(long timeoutNanos) throws IOException {
        boolean ready;
        awaitLock.lock();
        try {
            checkOpen();
            if (timeoutNanos <= 0 || receivedLeft > 0) {
                boolean signalled = wake.getAndSet(IDLE) == SIGNALLED;
                ready = poll(0) || signalled || receivedLeft > 0;
            } else if (!wake.compareAndSet(IDLE, WAITING)) {
                // An exchange, so that what the last caller of wakeup() has published is seen from here on.
                return wake.getAndSet(IDLE) == SIGNALLED;
            } else {
                ready = poll(timeoutNanos);
                ready |= wake.getAndSet(IDLE) == SIGNALLED;
            }
        } finally {
            awaitLock.unlock();
        }
        drainErrors();
        return ready;
    }

    private boolean poll(long timeoutNanos) {
        poll(0, receiver, LinuxSockets.POLLIN);
        poll(1, waker, LinuxSockets.POLLIN);
        LinuxSender waiting = blocked && !deviceFull ? run.sender : null;
        for (int i = 0; i < senders.length; i++) {
            LinuxSender sender = senders[i];
            // Errors are reported in any case. A descriptor of -1 is passed over.
            int events = sender != null && waiting != null && waiting.port == sender.port ? LinuxSockets.POLLOUT : 0;
            poll(2 + i, sender == null ? -1 : sender.fd, events);
        }
        boolean backOff = blocked && deviceFull && timeoutNanos > DEVICE_BACK_OFF_NS;
        long nanos = backOff ? DEVICE_BACK_OFF_NS : timeoutNanos;
        timeout.set(JAVA_LONG, 0, nanos / SECOND_NS);
        timeout.set(JAVA_LONG, Long.BYTES, nanos % SECOND_NS);
        long limit = nanos == Long.MAX_VALUE ? 0 : timeout.address();
        int ready = LinuxSockets.ppollQuick(polls.address(), 2L + senders.length, limit);
        if (ready > 0 && polls.get(JAVA_SHORT, POLLFD_BYTES + POLLFD_RETURNED) != 0) {
            LinuxSockets.read(waker, wakeCount, Long.BYTES);
        }
        for (int i = 0; i < senders.length; i++) {
            long at = (long) (2 + i) * POLLFD_BYTES + POLLFD_RETURNED;
            errorSuspected[i] = ready > 0 && (polls.get(JAVA_SHORT, at) & LinuxSockets.POLLERR) != 0;
        }
        // A signal counts as a wake-up: it is rare, and who awaits looks again.
        return ready != 0 || backOff;
    }

    private void poll(int index, int fd, int events) {
        long at = (long) index * POLLFD_BYTES;
        polls.set(JAVA_INT, at, fd);
        polls.set(JAVA_SHORT, at + POLLFD_EVENTS, (short) events);
        polls.set(JAVA_SHORT, at + POLLFD_RETURNED, (short) 0);
    }

    /** Empties error queues that made a socket ready: it would stay ready, and await would spin. */
    private void drainErrors() throws IOException {
        boolean any = false;
        for (int i = 0; i < senders.length; i++) {
            any |= errorSuspected[i];
        }
        if (!any) {
            return;
        }
        descriptorLock.lock();
        try {
            checkOpen();
            for (int i = 0; i < senders.length; i++) {
                LinuxSender sender = senders[i];
                if (errorSuspected[i] && sender != null) {
                    sender.drainErrors(errorQueue, reports);
                }
                errorSuspected[i] = false;
            }
        } finally {
            descriptorLock.unlock();
        }
    }

    @Override
    public void wakeup() {
        // Always the exchange, never a look first: it is the fence between what the caller has published and our sleep.
        if (wake.getAndSet(SIGNALLED) == WAITING) {
            signal();
        }
    }

    private void signal() {
        wakerLock.lock();
        try (Arena arena = Arena.ofConfined()) {
            if (!closed) {
                LinuxSockets.write(waker, arena.allocateFrom(JAVA_LONG, 1L), Long.BYTES);
            }
        } finally {
            wakerLock.unlock();
        }
    }

    @Override
    public int pollUnreachable(UnreachableHandler handler) throws IOException {
        descriptorLock.lock();
        try {
            checkOpen();
            for (LinuxSender sender : senders) {
                if (sender != null && sender.takePoll()) {
                    sender.drainErrors(errorQueue, reports);
                }
            }
        } finally {
            descriptorLock.unlock();
        }
        return reports.drain(handler);
    }

    @Override
    public void close() {
        wakerLock.lock();
        try (Arena arena = Arena.ofConfined()) {
            if (closed) {
                return;
            }
            closed = true;
            // Whoever sleeps in await leaves it, and with it the first lock below.
            LinuxSockets.write(waker, arena.allocateFrom(JAVA_LONG, 1L), Long.BYTES);
        } finally {
            wakerLock.unlock();
        }
        awaitLock.lock();
        descriptorLock.lock();
        try {
            LinuxSockets.close(receiver);
            LinuxSockets.close(waker);
            LinuxSockets.close(firstSender.fd);
            for (LinuxSender sender : senders) {
                // A sender can stand in for others.
                if (sender != null && sender.fd != firstSender.fd) {
                    LinuxSockets.close(sender.fd);
                }
            }
        } finally {
            descriptorLock.unlock();
            awaitLock.unlock();
        }
    }

    @Override
    public String toString() {
        return "LinuxDatagramLink[" + local.getHostAddress() + ", port " + port + "]";
    }
}
