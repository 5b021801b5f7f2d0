// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.cm.CmEvents;
import io.verbena.transport.cm.CmPort;
import io.verbena.transport.cm.ConnectionManager;
import io.verbena.transport.encap.Encapsulation;
import io.verbena.transport.encap.Path;
import io.verbena.transport.memory.KeyTable;
import io.verbena.transport.queue.CompletionRing;
import io.verbena.transport.queue.SeededRandom;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import io.verbena.wire.Frame;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The transport of one port: finds the queue pair of each arriving frame, takes turns among queue pairs that have
 * something to send, keeps their deadlines. The sans-I/O line is {@link #onFrame}, {@link #pollFrame},
 * {@link #onTimeout}, {@link #nextDeadline} and {@link #pollEvents}; time comes in as an argument.
 *
 * <p>Everything but {@link Doorbells} belongs to one owner at a time, which the caller sees to.
 */
public final class IbPort {
    /**
     * Queue pair numbers: the lower 16 bits are the handle, the upper 8 are random, so that an old number finds nobody.
     */
    private static final int HANDLE_BITS = 16;

    public static final int QUEUE_PAIRS_MAX = 1 << HANDLE_BITS;
    private static final int FIRST_QP_NUMBER = 16;
    /** After so many numbers that connections hold, one of them is taken nevertheless. */
    private static final int HELD_NUMBERS_MAX = 1000;

    private static final int MULTICAST_QP = 0xffffff;
    /** Frames that one queue pair may send before the next has its turn. */
    private static final int BURST = 16;

    private final Encapsulation encapsulation;
    private final PortEvents events;
    private final SeededRandom random;
    private final KeyTable keys;
    private final Doorbells doorbells = new Doorbells(QUEUE_PAIRS_MAX);
    private final DeadlineHeap deadlines = new DeadlineHeap();
    private final QueuePairFifo active = new QueuePairFifo();
    private final Map<Long, Map<Long, PathWindow>> windows = new HashMap<>();
    private final List<CompletionRing> dirtyRings = new ArrayList<>();
    private final List<CompletionRing> overrunRings = new ArrayList<>();
    private final long[] counters = new long[Counter.values().length];
    private volatile @Nullable IbQueuePair[] queuePairs = new IbQueuePair[64];
    /** The upper 8 bits of the number that each handle had last. */
    private byte[] lastTags = new byte[64];

    private final NumberedSharedReceives numbered = new NumberedSharedReceives();
    private final AddressHandles addressHandles = new AddressHandles();
    private final MulticastGroups multicastGroups = new MulticastGroups();
    private final GeneralServices generalServices;
    private final MemorySegment scratch = Arena.ofAuto().allocate(64, 8);
    private int queuePairCount;
    private int burst;
    private long time;

    public IbPort(Encapsulation encapsulation, PortEvents events, CmPort identity, long seed, int regionsMax) {
        this.encapsulation = encapsulation;
        this.events = events;
        this.random = new SeededRandom(seed);
        this.keys = new KeyTable(random, regionsMax);
        this.generalServices = new GeneralServices(this, identity, new SeededRandom(~seed));
    }

    public KeyTable keys() {
        return keys;
    }

    public SeededRandom random() {
        return random;
    }

    public AddressHandles addressHandles() {
        return addressHandles;
    }

    public MulticastGroups multicastGroups() {
        return multicastGroups;
    }

    /** The connection manager, whose datagrams pass through queue pair 1 of this port. */
    public ConnectionManager connections() {
        return generalServices.connections();
    }

    /**
     * Makes the port part of connection management.
     *
     * @param localPort the UDP source port of its datagrams
     * @param sink is told of connections during {@link #pollEvents}, and may give commands to {@link #connections}
     */
    public void manageConnections(int localPort, CmEvents sink) {
        generalServices.start(localPort, sink);
    }

    /** The time of the present call into the engine, for completions. */
    void time(long now) {
        time = now;
    }

    /** A few bytes for whoever needs them until it returns. */
    MemorySegment scratch() {
        return scratch;
    }

    /**
     * Creates a shared receive queue. One of an XRC domain gets a random number of 24 bits.
     *
     * @param completions where an XRC queue reports, else null
     */
    public SharedReceives createSharedReceives(
            int protectionDomain, WorkQueue queue, int xrcDomain, @Nullable CompletionRing completions) {
        int number = xrcDomain == 0 ? 0 : numbered.free(random);
        SharedReceives created = new SharedReceives(this, protectionDomain, queue, number, xrcDomain, completions);
        if (xrcDomain != 0) {
            numbered.add(created);
        }
        return created;
    }

    /** Takes a shared receive queue away. An XRC target with a message half in one of its receives cannot go on. */
    public void destroySharedReceives(SharedReceives queue) {
        if (queue.number() == 0) {
            return;
        }
        numbered.remove(queue);
        for (IbQueuePair queuePair : queuePairs) {
            if (queuePair != null && queuePair.receives.lose(queue)) {
                queuePair.enterError();
            }
        }
    }

    @Nullable
    SharedReceives sharedReceives(int number) {
        return numbered.find(number);
    }

    Encapsulation encapsulation() {
        return encapsulation;
    }

    PortEvents events() {
        return events;
    }

    Doorbells doorbells() {
        return doorbells;
    }

    /** Creates a queue pair in RESET, or returns null when there are {@link #QUEUE_PAIRS_MAX}. */
    public @Nullable IbQueuePair createQueuePair(QueuePairSetup setup) {
        if (queuePairCount >= QUEUE_PAIRS_MAX - FIRST_QP_NUMBER - 1) {
            return null;
        }
        if (2 * queuePairCount >= queuePairs.length && queuePairs.length < QUEUE_PAIRS_MAX) {
            grow();
        }
        @Nullable IbQueuePair[] table = queuePairs;
        int handle;
        int qpNumber;
        // There are more numbers than connections can hold, but perhaps not in a table that is still small.
        int tries = 0;
        do {
            handle = random.nextInt(table.length);
            // Any tag but the one before, so that late packets for the predecessor find nobody.
            qpNumber = ((lastTags[handle] + 1 + random.nextInt(0xff)) & 0xff) << HANDLE_BITS | handle;
        } while (table[handle] != null
                || qpNumber < FIRST_QP_NUMBER
                || qpNumber == MULTICAST_QP
                || (tries++ < HELD_NUMBERS_MAX && connections().holdsQueuePair(qpNumber)));
        IbQueuePair created = switch (setup.type()) {
            case RC, XRC_INI, XRC_TGT -> new RcQueuePair(this, handle, qpNumber, setup);
            case UC -> new UcQueuePair(this, handle, qpNumber, setup);
            case UD -> new UdQueuePair(this, handle, qpNumber, setup);
        };
        table[handle] = created;
        lastTags[handle] = (byte) (qpNumber >>> HANDLE_BITS);
        queuePairCount++;
        return created;
    }

    private void grow() {
        @Nullable IbQueuePair[] larger = new IbQueuePair[queuePairs.length * 2];
        System.arraycopy(queuePairs, 0, larger, 0, queuePairs.length);
        queuePairs = larger;
        lastTags = Arrays.copyOf(lastTags, larger.length);
    }

    /** Takes a queue pair out: late packets for it find nobody, nothing of it is sent or completed any more. */
    public void destroyQueuePair(IbQueuePair queuePair) {
        queuePair.disarmAll();
        deadlines.remove(queuePair);
        queuePair.releasePath();
        leavePath(queuePair);
        queuePair.state = QueuePairState.RESET;
        queuePairs[queuePair.handle] = null;
        queuePairCount--;
    }

    /** Any thread: gives send slots back to the queue pair whose completion was polled. */
    public void releaseSendSlots(int handle, int qpNumber, long index) {
        IbQueuePair queuePair = queuePairs[handle];
        if (queuePair != null && queuePair.qpNumber == qpNumber) {
            queuePair.sendQueue.release(index);
        }
    }

    /** Any thread: whether a queue pair rang for service. */
    public boolean serviceRequested() {
        return doorbells.pending();
    }

    /** Looks at the queues of all queue pairs that rang. */
    public int answerDoorbells(long now) {
        time = now;
        int answered = 0;
        for (int handle = doorbells.answer(); handle >= 0; handle = doorbells.answer()) {
            IbQueuePair queuePair = queuePairs[handle];
            if (queuePair != null) {
                if (queuePair.state == QueuePairState.ERR || queuePair.state == QueuePairState.SQE) {
                    queuePair.flush();
                } else {
                    activate(queuePair);
                }
            }
            answered++;
        }
        return answered;
    }

    /** A frame arrived. It is valid during the call only. */
    public void onFrame(long now, Frame frame) {
        time = now;
        counters[Counter.FRAMES_RECEIVED.ordinal()]++;
        counters[Counter.BYTES_RECEIVED.ordinal()] += frame.length();
        MemorySegment in = frame.buffer();
        long bth = frame.offset() + encapsulation.headroom();
        int bytes = frame.length() - encapsulation.headroom() - encapsulation.trailer();
        if (bytes < Bth.BYTES) {
            count(Counter.DROP_TOO_SHORT);
            return;
        }
        if (Bth.version(in, bth) != 0) {
            count(Counter.DROP_BAD_VERSION);
            return;
        }
        Opcode opcode = Opcode.of(Bth.opcode(in, bth));
        if (opcode == null) {
            count(Counter.DROP_UNKNOWN_OPCODE);
            return;
        }
        int payload = bytes - opcode.headerBytes() - Bth.padCount(in, bth);
        if (payload < 0 || (payload > 0 && !opcode.hasPayload())) {
            count(Counter.DROP_TOO_SHORT);
            return;
        }
        int destination = Bth.destinationQp(in, bth);
        if (destination == MULTICAST_QP) {
            onMulticast(now, frame, bth, opcode, payload);
            return;
        }
        if (MulticastGroups.isGroup(frame.localHigh(), frame.localLow())) {
            count(Counter.DROP_WRONG_ADDRESS);
            return;
        }
        if (destination == Mad.QUEUE_PAIR) {
            generalServices.onFrame(now, frame, bth, opcode, payload);
            return;
        }
        IbQueuePair queuePair = find(destination);
        Counter drop = judge(frame, bth, opcode, queuePair);
        if (drop == null && !encapsulation.open(frame)) {
            drop = Counter.DROP_BAD_ICRC;
        }
        if (drop != null || queuePair == null) {
            count(drop == null ? Counter.DROP_NO_QUEUE_PAIR : drop);
            return;
        }
        queuePair.onPacket(now, frame, bth, opcode, payload);
    }

    /** Hands a frame for a group to all queue pairs that are attached to it. */
    private void onMulticast(long now, Frame frame, long bth, Opcode opcode, int payload) {
        List<UdQueuePair> members = multicastGroups.members(frame.localHigh(), frame.localLow());
        if (members.isEmpty()) {
            count(Counter.DROP_NO_GROUP_MEMBER);
            return;
        }
        if (!encapsulation.open(frame)) {
            count(Counter.DROP_BAD_ICRC);
            return;
        }
        for (int i = 0; i < members.size(); i++) {
            UdQueuePair member = members.get(i);
            Counter drop = judge(frame, bth, opcode, member);
            if (drop == null) {
                member.onPacket(now, frame, bth, opcode, payload);
            } else {
                count(drop);
            }
        }
    }

    /** Why a frame whose headers make sense is dropped, or null. The checksum is looked at after this: it costs. */
    private @Nullable Counter judge(Frame frame, long bth, Opcode opcode, @Nullable IbQueuePair queuePair) {
        if (opcode.service() == Opcode.Service.CNP) {
            return Counter.DROP_CONGESTION_NOTIFICATION;
        }
        if (queuePair == null) {
            return Counter.DROP_NO_QUEUE_PAIR;
        }
        if (opcode.service() != queuePair.service()) {
            return Counter.DROP_WRONG_SERVICE;
        }
        if (!queuePair.listens()) {
            return Counter.DROP_WRONG_STATE;
        }
        if (!Bth.isDefaultPartition(Bth.partitionKey(frame.buffer(), bth))) {
            return Counter.DROP_WRONG_PARTITION;
        }
        return queuePair.refuses(frame, bth, opcode);
    }

    private @Nullable IbQueuePair find(int qpNumber) {
        int handle = qpNumber & (QUEUE_PAIRS_MAX - 1);
        @Nullable IbQueuePair[] table = queuePairs;
        IbQueuePair queuePair = handle < table.length ? table[handle] : null;
        return queuePair != null && queuePair.qpNumber == qpNumber ? queuePair : null;
    }

    /** Whether {@link #pollFrame} may have something. */
    public boolean wantsToSend() {
        return !active.isEmpty() || generalServices.wantsToSend();
    }

    /** Writes the next frame to send into the space that {@code frame} describes; false when there is none now. */
    public boolean pollFrame(long now, Frame frame) {
        time = now;
        if (generalServices.emit(frame)) {
            countSent(frame);
            return true;
        }
        for (IbQueuePair queuePair = active.peek(); queuePair != null; queuePair = active.peek()) {
            boolean sent = find(queuePair.qpNumber) != null && queuePair.emit(now, frame);
            if (sent) {
                countSent(frame);
                if (++burst >= BURST) {
                    burst = 0;
                    queuePair.windowTurn = false;
                    active.poll();
                    active.add(queuePair);
                }
                return true;
            }
            burst = 0;
            active.poll();
            retire(queuePair);
        }
        return false;
    }

    private void countSent(Frame frame) {
        counters[Counter.FRAMES_SENT.ordinal()]++;
        counters[Counter.BYTES_SENT.ordinal()] += frame.length();
    }

    /** A queue pair has nothing to send now, or must wait for room on its path; who waits may have what it left. */
    private void retire(IbQueuePair queuePair) {
        queuePair.active = false;
        queuePair.windowTurn = false;
        if (queuePair.windowBlocked && !queuePair.waitingForWindow) {
            queuePair.waitingForWindow = true;
            queuePair.window.await(queuePair);
        }
        wakeNext(queuePair.window);
    }

    /** Acts on all deadlines that have come. */
    public void onTimeout(long now) {
        time = now;
        for (IbQueuePair due = deadlines.pollDue(now); due != null; due = deadlines.pollDue(now)) {
            due.onTimeout(now);
        }
        connections().onTimeout(now);
    }

    /** When {@link #onTimeout} wants to be called next; {@link Long#MAX_VALUE} for never. */
    public long nextDeadline() {
        long first = deadlines.first();
        long connecting = connections().nextDeadline();
        if (first == Long.MAX_VALUE || connecting == Long.MAX_VALUE) {
            return Math.min(first, connecting);
        }
        return connecting - first < 0 ? connecting : first;
    }

    /** Hands out what happened since the last call. */
    public void pollEvents() {
        generalServices.pollEvents();
        for (int i = 0; i < overrunRings.size(); i++) {
            overrun(overrunRings.get(i));
        }
        overrunRings.clear();
        for (int i = 0; i < dirtyRings.size(); i++) {
            CompletionRing ring = dirtyRings.get(i);
            ring.clearDirty();
            events.completions(ring);
        }
        dirtyRings.clear();
    }

    /** All queue pairs that report to the ring are lost. */
    private void overrun(CompletionRing ring) {
        for (IbQueuePair queuePair : queuePairs) {
            if (queuePair != null && (queuePair.sendRing == ring || queuePair.receives.reportsTo(ring))) {
                queuePair.enterError();
            }
        }
        events.completionQueueOverrun(ring);
    }

    /**
     * The network says that nobody listens at an address: work on its way there fails now rather than after all
     * retries.
     */
    public void onUnreachable(long remoteHigh, long remoteLow) {
        count(Counter.UNREACHABLE_REPORTS);
        connections().onUnreachable(time, remoteHigh, remoteLow);
        for (IbQueuePair queuePair : queuePairs) {
            if (queuePair != null
                    && queuePair.path.remoteLow() == remoteLow
                    && queuePair.path.remoteHigh() == remoteHigh) {
                queuePair.onUnreachable();
            }
        }
    }

    void connect(IbQueuePair queuePair, Path path) {
        leavePath(queuePair);
        PathWindow window = windows.computeIfAbsent(path.remoteHigh(), h -> new HashMap<>())
                .computeIfAbsent(path.remoteLow(), l -> new PathWindow());
        window.retain();
        queuePair.path = path;
        queuePair.window = window;
    }

    /** What the queue pair had under way is off the account already; who waits for that room may have it. */
    private void leavePath(IbQueuePair queuePair) {
        wakeAll(queuePair.window);
        Map<Long, PathWindow> byLow = windows.get(queuePair.path.remoteHigh());
        if (byLow != null
                && byLow.get(queuePair.path.remoteLow()) == queuePair.window
                && queuePair.window.releaseReference()) {
            byLow.remove(queuePair.path.remoteLow());
            if (byLow.isEmpty()) {
                windows.remove(queuePair.path.remoteHigh());
            }
        }
        queuePair.window = new PathWindow();
        queuePair.waitingForWindow = false;
    }

    /**
     * Puts a queue pair into the list of those that may have something to send. When there is new room on its path, the
     * one that has waited longest comes first, and wakes the next when it is done: with thousands waiting and room for
     * a few, waking all would cost more than sending does.
     */
    void activate(IbQueuePair queuePair) {
        if (queuePair.window.takeRoomMade()) {
            wakeNext(queuePair.window);
        }
        queuePair.windowBlocked = false;
        if (!queuePair.active) {
            queuePair.active = true;
            active.add(queuePair);
        }
    }

    /** Wakes the first of those that wait for the path and find room now. */
    private void wakeNext(PathWindow window) {
        for (IbQueuePair next = window.next(); next != null; next = window.next()) {
            if (wake(next)) {
                return;
            }
        }
    }

    private void wakeAll(PathWindow window) {
        for (IbQueuePair next = window.any(); next != null; next = window.any()) {
            wake(next);
        }
    }

    /** Gives a queue pair its turn; false when it is gone. */
    private boolean wake(IbQueuePair waiting) {
        waiting.waitingForWindow = false;
        waiting.windowBlocked = false;
        if (find(waiting.qpNumber) == null) {
            return false;
        }
        waiting.windowTurn = true;
        if (!waiting.active) {
            waiting.active = true;
            active.add(waiting);
        }
        return true;
    }

    void schedule(IbQueuePair queuePair, long deadline) {
        deadlines.schedule(queuePair, deadline);
    }

    void complete(
            CompletionRing ring,
            IbQueuePair queuePair,
            long wrId,
            WorkCompletionStatus status,
            WorkCompletionOpcode opcode,
            int flags,
            boolean solicited,
            int immediate,
            long byteLength,
            int sourceQp,
            int vendorError,
            long sendIndex) {
        boolean overrunBefore = ring.overrun();
        boolean pushed = ring.push(
                wrId,
                status,
                opcode,
                flags,
                solicited,
                immediate,
                byteLength,
                queuePair.qpNumber,
                sourceQp,
                vendorError,
                queuePair.handle,
                sendIndex,
                time);
        if (pushed && ring.markDirty()) {
            dirtyRings.add(ring);
        } else if (!pushed && !overrunBefore) {
            overrunRings.add(ring);
        }
    }

    void count(Counter counter) {
        counters[counter.ordinal()]++;
    }

    public long counter(Counter counter) {
        return counters[counter.ordinal()];
    }
}
