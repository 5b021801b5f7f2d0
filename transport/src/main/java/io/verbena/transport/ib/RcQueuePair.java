// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.verbena.transport.encap.Path;
import io.verbena.transport.queue.CompletionRing;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.QueuePairState;
import io.verbena.wire.Frame;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A reliable connection in the engine: its attributes, its timers and its three roles, {@link Requester},
 * {@link Completer} and {@link Responder}. All but {@link #requestService} belongs to the port's owner.
 */
public final class RcQueuePair {
    private static final int PARTITION_KEY = 0xffff;
    /** 4.096 us, the unit of the local ACK timeout (IBTA volume 1, 9.7.6.1.3). */
    private static final long ACK_TIMEOUT_UNIT_NS = 4_096;

    private static final long NOT_ARMED = Long.MAX_VALUE;

    final IbPort port;
    final int handle;
    final int qpNumber;
    final int protectionDomain;
    final boolean signalAll;
    final WorkQueue sendQueue;
    final WorkQueue receiveQueue;
    final CompletionRing sendRing;
    final CompletionRing receiveRing;
    final ScatterGather scatterGather;
    final SendState send;
    final Requester requester;
    final Completer completer;
    final Responder responder;

    /** Written by the owner; posting threads read it. */
    volatile QueuePairState state = QueuePairState.RESET;

    int accessFlags;
    int mtu = 1024;
    int destinationQp;
    int maxRdAtomic;
    int minRnrTimer;
    int timeout;
    int retryCount;
    int rnrRetry;
    Path path = new Path(0, 0, 0, 0, 0, 0, 0, 0);
    PathWindow window = new PathWindow();

    /** The path has no room for this queue pair's next request. */
    boolean windowBlocked;
    /** In the port's list of queue pairs that may have something to send. */
    boolean active;
    /** In the path's list of queue pairs that wait for room. */
    boolean waitingForWindow;
    /** The responder's turn when both roles have something to send. */
    private boolean responderFirst = true;

    int heapIndex = -1;
    private final long[] deadlines = {NOT_ARMED, NOT_ARMED};
    private boolean established;
    private @Nullable Object owner;

    RcQueuePair(IbPort port, int handle, int qpNumber, QueuePairSetup setup) {
        this.port = port;
        this.handle = handle;
        this.qpNumber = qpNumber;
        this.protectionDomain = setup.protectionDomain();
        this.signalAll = setup.signalAll();
        this.sendQueue = setup.sendQueue();
        this.receiveQueue = setup.receiveQueue();
        this.sendRing = setup.sendRing();
        this.receiveRing = setup.receiveRing();
        this.scatterGather = new ScatterGather(port.keys(), protectionDomain);
        this.send = new SendState(sendQueue);
        this.requester = new Requester(this, send);
        this.completer = new Completer(this, send);
        this.responder = new Responder(this, receiveQueue);
    }

    /** Any thread: asks the port to look at this queue pair's queues. */
    public void requestService() {
        port.doorbells().ring(handle);
    }

    public int qpNumber() {
        return qpNumber;
    }

    public WorkQueue sendQueue() {
        return sendQueue;
    }

    public WorkQueue receiveQueue() {
        return receiveQueue;
    }

    public int handle() {
        return handle;
    }

    public QueuePairState state() {
        return state;
    }

    /** Whether requests may be under way: in RTS, and in SQD until they are done. */
    boolean sends() {
        return state == QueuePairState.RTS || state == QueuePairState.SQD;
    }

    /** The PSN of the next packet that has none yet (sq_psn of a query). */
    public int nextPsn() {
        return send.nextPsn;
    }

    /** The PSN of the next request expected from the peer (rq_psn of a query). */
    public int expectedPsn() {
        return responder.expectedPsn;
    }

    /** The handle above the sans-I/O line. */
    public @Nullable Object owner() {
        return owner;
    }

    public void owner(Object owner) {
        this.owner = owner;
    }

    /** Takes in attributes and a state that were checked against the transition table. */
    public void modify(long now, QueuePairChange change) {
        change.applyTo(this);
        requester.pathChanged();
        switch (change.state()) {
            case RESET -> reset();
            case ERR -> enterError();
            case RTR -> established = false;
            default -> {}
        }
        if (change.state() != QueuePairState.ERR) {
            state = change.state();
        }
        port.activate(this);
    }

    private void reset() {
        disarmAll();
        completer.releaseAll();
        send.reset(0, 0, 0);
        responder.reset();
        windowBlocked = false;
    }

    /** Goes to ERR, once: stops timers and flushes both queues. A NAK that waits to be sent still goes out. */
    void enterError() {
        if (state == QueuePairState.RESET) {
            state = QueuePairState.ERR;
            return;
        }
        if (state != QueuePairState.ERR) {
            state = QueuePairState.ERR;
            disarmAll();
            completer.releaseAll();
            send.rnrWaiting = false;
            send.localError = null;
        }
        flush();
    }

    void flush() {
        completer.flush();
        responder.flush();
        port.activate(this);
    }

    void communicationEstablished() {
        if (!established) {
            established = true;
            port.events().communicationEstablished(this);
        }
    }

    void accessError(RequestVerdict verdict) {
        port.events().accessError(this, verdict.name());
    }

    /** Writes the next frame of this queue pair; false when there is none. */
    boolean emit(long now, Frame frame) {
        boolean sent = responderFirst
                ? responder.output().emit(frame) || requester.emit(now, frame)
                : requester.emit(now, frame) || responder.output().emit(frame);
        responderFirst = !responderFirst;
        return sent;
    }

    /** Writes the BTH, pads what follows it and seals the frame. */
    void writeFrame(Frame frame, long bth, Opcode opcode, boolean solicited, boolean ackRequest, int psn, int bytes) {
        int pad = -bytes & 3;
        MemorySegment out = frame.buffer();
        for (int i = 0; i < pad; i++) {
            out.set(JAVA_BYTE, bth + bytes + i, (byte) 0);
        }
        Bth.write(out, bth, opcode.code(), solicited, false, pad, PARTITION_KEY, destinationQp, ackRequest, psn);
        port.encapsulation().seal(frame, path, bytes + pad);
    }

    void armRetransmit(long now) {
        if (timeout != 0 && deadlines[Timer.RETRANSMIT.ordinal()] == NOT_ARMED) {
            arm(Timer.RETRANSMIT, now + (ACK_TIMEOUT_UNIT_NS << timeout));
        }
    }

    void arm(Timer timer, long deadline) {
        deadlines[timer.ordinal()] = deadline;
        port.schedule(this, deadline);
    }

    void disarm(Timer timer) {
        deadlines[timer.ordinal()] = NOT_ARMED;
    }

    void disarmAll() {
        for (int i = 0; i < Timer.COUNT; i++) {
            deadlines[i] = NOT_ARMED;
        }
    }

    /** Acts on what is due and files the rest again. */
    void onTimeout(long now) {
        if (takeDue(Timer.RNR_WAIT, now)) {
            completer.onRnrWaitOver();
        }
        if (takeDue(Timer.RETRANSMIT, now)) {
            completer.onRetransmitTimeout();
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
