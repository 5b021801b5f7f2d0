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
import java.net.InetAddress;
import java.nio.channels.ClosedChannelException;
import java.util.List;
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

    /** Wait after ENOBUFS: the device queue is full, which no readiness tells of. */
    private static final long DEVICE_BACK_OFF_NS = 1_000_000L;
    // Wake-up states.
    private static final int IDLE = 0;
    private static final int WAITING = 1;
    private static final int SIGNALLED = 2;

    private final LocalEnd local;
    private final long localHigh;
    private final long localLow;
    private final int port;
    private final boolean ipv4;
    private final LinkOptions options;
    private final LinkCapabilities capabilities;
    private final LinkCounters counters = new LinkCounters();
    private final UnreachableReports reports = new UnreachableReports(counters);
    private final ErrorQueue errorQueue;

    private final LinuxReceiver receiver;
    private final GroupSockets<LinuxReceiver> groupSockets;
    private final LinuxGroups groups;
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
    private final PollSet polls;
    private final MemorySegment wakeCount;
    private final Frame received = new Frame();
    private final Frame stamp = new Frame();
    private final IcrcStamp icrc = new IcrcStamp();

    // What is left of the last datagram, or run of them, taken from the receiving socket.
    private long receivedOffset;
    private int receivedLeft;
    private int receivedFrameBytes;
    private int receivedTrafficClass;
    private LinuxReceiver receivedFrom;
    private boolean groupsTurn;

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
        local = LocalEnd.find(wanted);
        this.options = options;
        localHigh = local.high();
        localLow = local.low();
        ipv4 = local.ipv4();
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
        polls = new PollSet(arena, 2 + options.sourcePorts() + GroupSockets.CAPACITY);
        wakeCount = arena.allocate(JAVA_LONG);
        errorQueue = new ErrorQueue(arena);
        senders = new LinuxSender[options.sourcePorts()];
        errorSuspected = new boolean[senders.length];

        receiver = LinuxReceiver.open(local, wantedPort, options);
        port = receiver.port;
        receivedFrom = receiver;
        groupSockets =
                new GroupSockets<>(local, (high, low) -> LinuxReceiver.openGroup(local, high, low, port, options));
        groups = new LinuxGroups(groupSockets, arena);
        int event = -1;
        try {
            event = LinuxSender.check(
                    LinuxSockets.eventfd(0, LinuxSockets.EFD_NONBLOCK | LinuxSockets.EFD_CLOEXEC), "eventfd");
            firstSender = LinuxSender.open(local, 0, options);
        } catch (IOException | RuntimeException e) {
            receiver.close();
            if (event >= 0) {
                LinuxSockets.close(event);
            }
            throw e;
        }
        waker = event;
        senders[0] = firstSender;
        capabilities = new LinkCapabilities(local.mtu(), false, true, receiver.zeroChecksum, true, Run.FRAMES_MAX);
    }

    private static MemorySegment message(Arena arena, MemorySegment name, MemorySegment control) {
        MemorySegment message = arena.allocate(MsgHdr.BYTES, 8);
        MsgHdr.init(message, name, control);
        return message;
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
        descriptorLock.lock();
        try {
            checkOpen();
            int bytes = LinuxSockets.getsockopt(receiver.fd, LinuxSockets.SOL_SOCKET, LinuxSockets.SO_RCVBUF);
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
                sender = LinuxSender.open(local, index, options);
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
            groups.look();
            while (count < framesMax && !closed && (receivedLeft > 0 || receiveNext())) {
                int length = Math.min(receivedFrameBytes, receivedLeft);
                received.wrap(receiveSpace, receivedOffset, length);
                received.local(receivedFrom.high, receivedFrom.low, port);
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

    /** The groups and the address of the link take turns. */
    private boolean receiveNext() throws IOException {
        if (!groups.ready()) {
            return receiveRun(receiver);
        }
        groupsTurn = !groupsTurn;
        return groupsTurn ? receiveGroupRun() || receiveRun(receiver) : receiveRun(receiver) || receiveGroupRun();
    }

    private boolean receiveGroupRun() throws IOException {
        for (LinuxReceiver group = groups.next(); group != null; group = groups.next()) {
            if (receiveRun(group)) {
                return true;
            }
            group.ready = false;
        }
        return false;
    }

    /** Takes the next datagram, or run of datagrams that the kernel has put together. */
    private boolean receiveRun(LinuxReceiver from) throws IOException {
        MsgHdr.lengths(receiveMessage, SockAddr.IN6_BYTES, CONTROL_BYTES);
        long bytes = LinuxSockets.recvmsgQuick(from.fd, receiveMessage.address(), LinuxSockets.MSG_DONTWAIT);
        if (bytes < 0 && (++emptyReceives & EMPTY_RECEIVES_UNCHECKED) == 0) {
            bytes = LinuxSockets.recvmsg(from.fd, receiveMessage, LinuxSockets.MSG_DONTWAIT);
        } else if (bytes < 0) {
            return false;
        }
        if (bytes < 0) {
            if (bytes != -Errno.EAGAIN && bytes != -Errno.EINTR) {
                LinuxSender.check((int) bytes, "recvmsg");
            }
            return false;
        }
        receivedFrom = from;
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
        return (high >>> 54) == (0xfe80L >>> 6) ? local.scopeId() : 0;
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
        polls.set(0, receiver.fd, LinuxSockets.POLLIN);
        polls.set(1, waker, LinuxSockets.POLLIN);
        LinuxSender waiting = blocked && !deviceFull ? run.sender : null;
        int count = 2;
        for (LinuxSender sender : senders) {
            int events = sender != null && waiting != null && waiting.port == sender.port ? LinuxSockets.POLLOUT : 0;
            polls.set(count++, sender == null ? -1 : sender.fd, events);
        }
        List<LinuxReceiver> joined = groupSockets.all();
        for (int i = 0; i < joined.size(); i++) {
            polls.set(count++, joined.get(i).fd, LinuxSockets.POLLIN);
        }
        boolean backOff = blocked && deviceFull && timeoutNanos > DEVICE_BACK_OFF_NS;
        int ready = polls.poll(count, backOff ? DEVICE_BACK_OFF_NS : timeoutNanos);
        if (ready > 0 && polls.returned(1) != 0) {
            LinuxSockets.read(waker, wakeCount, Long.BYTES);
        }
        for (int i = 0; i < senders.length; i++) {
            errorSuspected[i] = ready > 0 && (polls.returned(2 + i) & LinuxSockets.POLLERR) != 0;
        }
        // A signal counts as a wake-up: it is rare, and who awaits looks again.
        return ready != 0 || backOff;
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
    public void joinGroup(long groupHigh, long groupLow) throws IOException {
        descriptorLock.lock();
        try {
            checkOpen();
            groupSockets.join(groupHigh, groupLow);
        } finally {
            descriptorLock.unlock();
        }
        // Whoever sleeps in await does not look at the new socket.
        wakeup();
    }

    @Override
    public void leaveGroup(long groupHigh, long groupLow) throws IOException {
        descriptorLock.lock();
        try {
            checkOpen();
            if (groupSockets.leave(groupHigh, groupLow) == receivedFrom) {
                receivedLeft = 0;
            }
        } finally {
            descriptorLock.unlock();
        }
        // A socket that somebody sleeps on stays a member until he wakes.
        wakeup();
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
            receiver.close();
            groupSockets.close();
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
        return "LinuxDatagramLink[" + local.address().getHostAddress() + ", port " + port + "]";
    }
}
