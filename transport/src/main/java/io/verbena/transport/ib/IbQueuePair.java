// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.verbena.transport.encap.Path;
import io.verbena.transport.queue.CompletionRing;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair in the engine, of any service: its attributes, its place in the port's lists, its state. What differs
 * between services is in the subclasses. All but {@link #requestService} belongs to the port's owner.
 */
public abstract class IbQueuePair {
    private static final int PARTITION_KEY = 0xffff;
    private static final long NOT_ARMED = Long.MAX_VALUE;

    final IbPort port;
    final int handle;
    final int qpNumber;
    final QueuePairType type;
    final int protectionDomain;
    final boolean signalAll;
    final WorkQueue sendQueue;
    final CompletionRing sendRing;
    final Receives receives;
    private final @Nullable WorkQueue receiveQueue;
    final ScatterGather scatterGather;

    /** Written by the owner; posting threads read it. */
    volatile QueuePairState state = QueuePairState.RESET;

    int accessFlags;
    int mtu = 1024;
    int destinationQp;
    int qkey;
    Path path = new Path(0, 0, 0, 0, 0, 0, 0, 0);
    PathWindow window = new PathWindow();

    /** The path has no room for this queue pair's next request. */
    boolean windowBlocked;
    /** What it was refused: room for a READ's answer or for a request, and what that costs. */
    boolean windowBlockedRead;

    long windowBlockedCost;
    /** It has waited for room, and may take it although others wait. */
    boolean windowTurn;
    /** In the port's list of queue pairs that may have something to send. */
    boolean active;
    /** In the path's list of queue pairs that wait for room. */
    boolean waitingForWindow;

    int heapIndex = -1;
    private final long[] deadlines = new long[Timer.COUNT];
    private boolean established;
    private boolean drainReported;
    private @Nullable Object owner;

    IbQueuePair(IbPort port, int handle, int qpNumber, QueuePairSetup setup) {
        this.port = port;
        this.handle = handle;
        this.qpNumber = qpNumber;
        this.type = setup.type();
        this.protectionDomain = setup.protectionDomain();
        this.signalAll = setup.signalAll();
        this.sendQueue = setup.sendQueue();
        this.sendRing = setup.sendRing();
        this.scatterGather = new ScatterGather(port.keys(), protectionDomain);
        this.receiveQueue = setup.receiveQueue();
        this.receives = new Receives(this, setup);
        Arrays.fill(deadlines, NOT_ARMED);
    }

    /** The service of the packets that this queue pair takes. */
    abstract Opcode.Service service();

    /** A packet of the right service, with good outer parts, from the right address. */
    abstract void onPacket(long now, Frame frame, long bth, Opcode opcode, int payload);

    /** Writes the next frame of this queue pair; false when there is none. */
    abstract boolean emit(long now, Frame frame);

    /** Why a packet is not for this queue pair although it has its number, or null. */
    @Nullable
    Counter refuses(Frame frame, long bth, Opcode opcode) {
        return path.matches(frame.remoteHigh(), frame.remoteLow(), frame.localHigh(), frame.localLow())
                ? null
                : Counter.DROP_WRONG_ADDRESS;
    }

    /** Takes in attributes that were checked against the transition table. */
    abstract void apply(QueuePairChange change);

    /** Forgets all work and all that was received. */
    abstract void resetService();

    /** Everything in the send queue comes back as flushed. */
    abstract void flushSends();

    /** The error state: what the peer has under way will not be finished. */
    void flushService() {}

    /** Gives back what is charged to the path. */
    void releasePath() {}

    /** Whether nothing that was begun is unfinished in the send queue. */
    abstract boolean idle();

    /** The network says that nobody listens where this queue pair sends to. */
    void onUnreachable() {}

    void onTimer(long now, Timer timer) {}

    /**
     * Asks an idle peer that was silent for so many nanoseconds whether it is there; after as long again without an
     * answer the queue pair is in error. 0 ends it. Only reliable connections do so, from RTS until they leave it.
     */
    public void keepAlive(long now, long interval) {}

    /** The PSN of the next packet that has none yet (sq_psn of a query). */
    public abstract int nextPsn();

    /** The PSN of the next request expected from the peer (rq_psn of a query); 0 where there is none. */
    public abstract int expectedPsn();

    /** Any thread: asks the port to look at this queue pair's queues. */
    public final void requestService() {
        port.doorbells().ring(handle);
    }

    public final int qpNumber() {
        return qpNumber;
    }

    public final QueuePairType type() {
        return type;
    }

    public final WorkQueue sendQueue() {
        return sendQueue;
    }

    /** Its own receives; null when it shares them or has none. */
    public final @Nullable WorkQueue receiveQueue() {
        return receiveQueue;
    }

    public final int handle() {
        return handle;
    }

    public final QueuePairState state() {
        return state;
    }

    /** Whether requests may be under way: in RTS, and in SQD until they are done. */
    final boolean sends() {
        return state == QueuePairState.RTS || state == QueuePairState.SQD;
    }

    /** Whether packets of the peer are taken. */
    final boolean listens() {
        return state == QueuePairState.RTR || state == QueuePairState.SQE || sends();
    }

    /** The handle above the sans-I/O line. */
    public final @Nullable Object owner() {
        return owner;
    }

    public final void owner(Object owner) {
        this.owner = owner;
    }

    /** Takes in attributes and a state that were checked against the transition table. */
    public final void modify(long now, QueuePairChange change) {
        port.time(now);
        apply(change);
        switch (change.state()) {
            case RESET -> reset();
            case ERR -> enterError();
            case RTR -> established = false;
            case SQD -> drainReported = drainReported && state == QueuePairState.SQD;
            default -> {}
        }
        if (change.state() != QueuePairState.ERR) {
            state = change.state();
        }
        reportDrained();
        port.activate(this);
    }

    private void reset() {
        disarmAll();
        releasePath();
        resetService();
        receives.reset();
        windowBlocked = false;
    }

    /** Goes to ERR, once: stops timers and flushes both queues. A NAK that waits to be sent still goes out. */
    final void enterError() {
        boolean first = state != QueuePairState.ERR;
        if (first) {
            state = QueuePairState.ERR;
            disarmAll();
            releasePath();
            port.events().queuePairFailed(this);
        }
        flush();
        if (first && receives.isShared()) {
            port.events().lastWqeReached(this);
        }
    }

    /** A send of an unreliable queue pair failed: the rest of them is flushed, receiving goes on (10.3.1.6). */
    final void enterSendQueueError() {
        state = QueuePairState.SQE;
        flushSends();
        port.activate(this);
    }

    /** Brings back what was posted in a state that carries nothing out. */
    final void flush() {
        flushSends();
        if (state == QueuePairState.ERR) {
            flushService();
            receives.flush();
        }
        port.activate(this);
    }

    final void communicationEstablished() {
        if (established) {
            return;
        }
        established = true;
        port.connections().dataArrived(qpNumber);
        if (state == QueuePairState.RTR) {
            port.events().communicationEstablished(this);
        }
    }

    final void accessError(RequestVerdict verdict) {
        port.events().accessError(this, verdict.name());
    }

    /** In SQD: tells once that what was under way is done. */
    final void reportDrained() {
        if (state == QueuePairState.SQD && !drainReported && idle()) {
            drainReported = true;
            port.events().sendQueueDrained(this);
        }
    }

    /** Writes the BTH, pads what follows it and seals the frame. */
    final void writeFrame(
            Frame frame, long bth, Opcode opcode, boolean solicited, boolean ackRequest, int psn, int bytes) {
        writeFrame(frame, path, destinationQp, bth, opcode, solicited, ackRequest, psn, bytes);
    }

    /** As above, to a destination of its own. */
    final void writeFrame(
            Frame frame,
            Path way,
            int remoteQp,
            long bth,
            Opcode opcode,
            boolean solicited,
            boolean ackRequest,
            int psn,
            int bytes) {
        int pad = -bytes & 3;
        MemorySegment out = frame.buffer();
        for (int i = 0; i < pad; i++) {
            out.set(JAVA_BYTE, bth + bytes + i, (byte) 0);
        }
        Bth.write(out, bth, opcode.code(), solicited, false, pad, PARTITION_KEY, remoteQp, ackRequest, psn);
        port.encapsulation().seal(frame, way, bytes + pad);
    }

    final boolean armed(Timer timer) {
        return deadlines[timer.ordinal()] != NOT_ARMED;
    }

    final void arm(Timer timer, long deadline) {
        deadlines[timer.ordinal()] = deadline;
        port.schedule(this, deadline);
    }

    final void disarm(Timer timer) {
        deadlines[timer.ordinal()] = NOT_ARMED;
    }

    final void disarmAll() {
        Arrays.fill(deadlines, NOT_ARMED);
    }

    /** Acts on what is due and files the rest again. */
    final void onTimeout(long now) {
        for (Timer timer : Timer.ALL) {
            if (takeDue(timer, now)) {
                onTimer(now, timer);
            }
        }
        for (long deadline : deadlines) {
            if (deadline != NOT_ARMED) {
                port.schedule(this, deadline);
            }
        }
    }

    private boolean takeDue(Timer timer, long now) {
        long deadline = deadlines[timer.ordinal()];
        if (deadline == NOT_ARMED || deadline - now > 0) {
            return false;
        }
        deadlines[timer.ordinal()] = NOT_ARMED;
        return true;
    }
}
