// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.fuzz.FuzzInput;
import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.memory.Region;
import io.verbena.transport.queue.CompletionRing;
import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.wire.BigEndian;
import io.verbena.wire.ib.Bth;
import io.verbena.wire.ib.Deth;
import io.verbena.wire.ib.Opcode;
import io.verbena.wire.ib.XrcEth;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Carries out a fuzz input as steps of a peer, an application and time, on one queue pair. */
final class QueuePairProgram {
    /** What a step begins with; the numbers are those in the corpus. */
    enum Step {
        /** A request of this kind of queue pair, PSN near the one expected. */
        REQUEST,
        /** An answer to a packet sent before. */
        ANSWER,
        /** Any opcode, any PSN. */
        ANYTHING,
        /** Headers as they come, with number, PSN and keys set right where a flag says so. */
        HEADERS,
        POST_SEND,
        POST_RECEIVE,
        TIME,
        /** The link takes some frames. */
        TAKE,
        POLL,
        CHANGE_STATE,
        /** The last packet once more. */
        AGAIN,
        /** The memory that packets name is registered anew. */
        REGISTER,
        /** A frame as it is, without an ICRC that is right. */
        NOISE,
        UNREACHABLE,
        /** A peer that behaves answers all that was sent. */
        ANSWER_ALL,
        /** A peer that behaves sends a message of several packets. */
        MESSAGE,
        /** A memory window is bound, or its rights are taken back. */
        WINDOW,
        /** The shared receive queue is armed, grows, or gives way to another one. */
        SHARED_RECEIVES;

        private static final Step[] ALL = values();
    }

    private static final Opcode[] OPCODES = Opcode.values();
    private static final int READ_RESPONSE_FIRST = Opcode.RC_READ_RESPONSE_FIRST.code();
    private static final int READ_RESPONSE_MIDDLE = Opcode.RC_READ_RESPONSE_MIDDLE.code();
    private static final int READ_RESPONSE_LAST = Opcode.RC_READ_RESPONSE_LAST.code();
    private static final int READ_RESPONSE_ONLY = Opcode.RC_READ_RESPONSE_ONLY.code();
    private static final int ACKNOWLEDGE = Opcode.RC_ACKNOWLEDGE.code();
    private static final int ATOMIC_ACKNOWLEDGE = Opcode.RC_ATOMIC_ACKNOWLEDGE.code();
    private static final int SENT_KEPT = 64;
    private static final int XRC_DOMAIN = 5;
    private static final int SHARED_DEPTH = 16;
    /** What may be posted in the order of the corpus; binding has a step of its own. */
    private static final SendOpcode[] WORK = {
        SendOpcode.SEND,
        SendOpcode.RDMA_WRITE,
        SendOpcode.RDMA_READ,
        SendOpcode.ATOMIC_FETCH_AND_ADD,
        SendOpcode.ATOMIC_CMP_AND_SWP,
        SendOpcode.SEND_WITH_IMM,
        SendOpcode.RDMA_WRITE_WITH_IMM,
        SendOpcode.SEND_WITH_INV,
        SendOpcode.FLUSH,
        SendOpcode.ATOMIC_WRITE
    };

    final QueuePairFuzz.Kind kind;
    final TestQueuePair end;
    final long remoteLow;
    private final FuzzPeer peer;
    private final FuzzMemory memory;
    private final FuzzInput input;
    private final Settings settings = new Settings();
    private final List<Packet> sent = new ArrayList<>();
    private final Opcode[] requests;
    private final CompletionRing sharedRing;
    /** Null for a kind that has receives of its own. */
    private SharedReceives shared;

    /** Binds windows: this queue pair, or another one when this kind cannot. */
    private final TestQueuePair binder;

    private QueuePairState wanted = QueuePairState.RESET;
    private Packet last;
    /** The next packet has a wrong Q_Key, and a wrong number of a shared receive queue. */
    private boolean changedNames;

    QueuePairProgram(QueuePairFuzz.Kind kind, FuzzPeer peer, long remoteLow, FuzzInput input) {
        this.kind = kind;
        this.peer = peer;
        this.memory = peer.memory;
        this.remoteLow = remoteLow;
        this.input = input;
        requests = IntStream.range(0, 32)
                .mapToObj(kind::opcode)
                .filter(opcode -> opcode != null && opcode.isRequest())
                .toArray(Opcode[]::new);
        settings();
        sharedRing = new CompletionRing(settings.ringDepth);
        settings.type = kind.type;
        if (kind.shared) {
            shared = createShared();
        }
        end = new TestQueuePair(peer.host, settings);
        binder = FuzzMemory.canBind(end) ? end : new TestQueuePair(peer.host, new Settings());
        connect();
    }

    /** An XRC target names queues by number, others belong to theirs. */
    private SharedReceives createShared() {
        WorkQueue queue = new WorkQueue(SHARED_DEPTH, ReceiveSlot.bytes(Settings.MAX_SGE));
        boolean target = kind == QueuePairFuzz.Kind.XRC_TARGET;
        settings.xrcDomain = target ? XRC_DOMAIN : 0;
        SharedReceives created = peer.host.port.createSharedReceives(
                TestHost.DOMAIN, queue, settings.xrcDomain, target ? sharedRing : null);
        settings.shared = target ? null : created;
        return created;
    }

    /** The state that the application has asked for. */
    QueuePairState wanted() {
        return wanted;
    }

    CompletionRing receiveRing() {
        return kind == QueuePairFuzz.Kind.XRC_TARGET ? sharedRing : end.receiveRing;
    }

    /** Four bytes: flags, timeout and retries, depths, access. */
    private void settings() {
        int flags = input.u8();
        settings.mtu = (flags & 1) == 0 ? Mtu.MTU_1024 : Mtu.MTU_256;
        settings.rqPsn = (flags & 2) == 0 ? 0x2000 : 0xfffffe;
        settings.sqPsn = (flags & 4) == 0 ? 0x1000 : 0xfffffe;
        settings.signalAll = (flags & 8) != 0;
        settings.ringDepth = (flags & 0x10) != 0 ? 4 : 1024;
        int retries = input.u8();
        settings.timeout = retries % 16;
        settings.retryCount = retries / 16 % 8;
        settings.rnrRetry = retries / 32;
        int depths = input.u8();
        settings.maxDestRdAtomic = 4 - depths % 5;
        settings.maxRdAtomic = 4 - depths / 5 % 5;
        settings.minRnrTimer = depths % 32;
        settings.accessFlags = TestHost.ALL & ~(input.u8() << 1);
    }

    private void connect() {
        end.connect(peer.now, FuzzPeer.HIGH, remoteLow, FuzzPeer.PEER_QP);
        wanted = QueuePairState.RTS;
    }

    void reconnect() {
        change(QueuePairState.RESET);
        poll();
        connect();
        take(Integer.MAX_VALUE);
    }

    private void change(QueuePairState state) {
        end.modify(peer.now, state, null, new QueuePairAttributes());
        wanted = state;
        sent.clear();
    }

    void step() {
        switch (Step.ALL[input.below(Step.ALL.length)]) {
            case REQUEST -> deliver(request());
            case ANSWER -> answer();
            case ANYTHING -> deliver(fields(Packet.of(OPCODES[input.below(OPCODES.length)], input.i32())));
            case HEADERS -> headers();
            case POST_SEND -> postSend();
            case POST_RECEIVE -> postReceive();
            case TIME -> peer.advance(1L << input.below(34));
            case TAKE -> take(input.u8());
            case POLL -> poll();
            case CHANGE_STATE -> changeState();
            case AGAIN -> again();
            case REGISTER -> memory.register((input.u8() & 1) != 0);
            case NOISE -> noise();
            case UNREACHABLE -> peer.host.port.onUnreachable(FuzzPeer.HIGH, remoteLow);
            case ANSWER_ALL -> answerAll();
            case MESSAGE -> message();
            case WINDOW -> window();
            case SHARED_RECEIVES -> sharedReceives();
        }
    }

    void poll() {
        end.completions();
        end.receiveCompletions(receiveRing());
    }

    /** Lets a packet arrive that names this queue pair and what belongs to it. */
    void deliver(Packet packet) {
        last = packet;
        if (!changedNames) {
            packet.datagram(settings.qkey, FuzzPeer.PEER_QP);
            packet.sharedReceiveQueue(shared == null ? 1 : shared.number());
        }
        changedNames = false;
        peer.deliver(packet, end.any.qpNumber(), remoteLow);
    }

    private Packet request() {
        Packet packet = Packet.of(requests[input.below(requests.length)], end.any.expectedPsn() + input.i8() / 16);
        return fields(packet);
    }

    /** Fills in what the headers of a packet's opcode need, and a payload. */
    private Packet fields(Packet packet) {
        int flags = input.u8();
        packet.ackRequest = (flags & 1) != 0;
        packet.solicited = (flags & 2) != 0;
        if (packet.opcode.hasPayload()) {
            boolean whole = packet.opcode.position() != Opcode.Position.ONLY && (flags & 4) == 0;
            packet.bytes(whole ? settings.mtu.bytes() : input.u16() % (settings.mtu.bytes() + 8));
        }
        if ((flags & 8) != 0) {
            packet.padOverride = flags >> 4 & 3;
        }
        if (packet.opcode.hasReth() || packet.opcode.hasAtomicEth()) {
            FuzzMemory.Kind what = FuzzMemory.Kind.ALL[input.below(FuzzMemory.Kind.ALL.length)];
            Region region = memory.region(what);
            int key = (flags & 0x40) == 0 ? memory.rkey(what) : region.lkey() ^ input.u8();
            long length = (flags & 0x80) == 0 ? packet.payload.length : input.i32() & 0xffff_ffffL;
            packet.reth(region.address() + offset(region), key, length);
            packet.swapOrAdd = input.u8();
            packet.compare = input.u8();
        }
        if (packet.opcode.hasAeth()) {
            packet.aeth(input.u8(), input.u16());
        }
        if (packet.opcode.hasIeth()) {
            packet.invalidate(memory.rkey(FuzzMemory.Kind.ALL[input.below(FuzzMemory.Kind.ALL.length)]));
        }
        if (packet.opcode.hasFlushEth()) {
            packet.flush(input.u8(), input.u8());
        }
        if ((packet.opcode.hasXrcEth() || packet.opcode.hasDeth()) && input.below(8) == 7) {
            packet.datagram(input.i32(), input.u16()).sharedReceiveQueue(input.i32());
            changedNames = true;
        }
        return packet;
    }

    /** Aligned and inside, at an edge, or anywhere. */
    private long offset(Region region) {
        int choice = input.u8();
        return switch (choice & 3) {
            case 0, 1 -> choice & ~7;
            case 2 -> region.length() - (choice >> 2);
            default -> input.i64();
        };
    }

    private void answer() {
        Packet to =
                sent.isEmpty() ? Packet.of(Opcode.RC_SEND_ONLY, settings.sqPsn) : sent.get(input.below(sent.size()));
        int ahead = input.i8() / 8;
        int choice = input.u8();
        Opcode opcode = kind.opcode((choice & 0x80) != 0 ? ACKNOWLEDGE : READ_RESPONSE_FIRST + choice % 6);
        if (opcode != null) {
            deliver(fields(Packet.of(opcode, to.psn + ahead)));
        }
    }

    private void answerAll() {
        take(Integer.MAX_VALUE);
        List<Packet> all = List.copyOf(sent);
        sent.clear();
        for (Packet packet : kind.isReliable() ? all : List.<Packet>of()) {
            switch (packet.opcode.operation()) {
                case READ_REQUEST -> answerRead(packet, packet.length);
                case FLUSH, ATOMIC_WRITE -> answerRead(packet, 0);
                case COMPARE_SWAP, FETCH_ADD ->
                    deliver(Packet.of(kind.opcode(ATOMIC_ACKNOWLEDGE), packet.psn)
                            .aeth(0x1f, 0));
                default ->
                    deliver(Packet.of(kind.opcode(ACKNOWLEDGE), packet.psn).aeth(0x1f, 0));
            }
        }
    }

    private void answerRead(Packet request, long length) {
        int mtu = settings.mtu.bytes();
        int packets = (int) Math.max(1, (length + mtu - 1) / mtu);
        for (int i = 0; i < packets; i++) {
            boolean ends = i == packets - 1;
            int operation = i == 0
                    ? ends ? READ_RESPONSE_ONLY : READ_RESPONSE_FIRST
                    : ends ? READ_RESPONSE_LAST : READ_RESPONSE_MIDDLE;
            int bytes = (int) Math.min(mtu, length - (long) i * mtu);
            deliver(Packet.of(kind.opcode(operation), request.psn + i)
                    .aeth(0x1f, 0)
                    .bytes(bytes));
        }
    }

    /** A SEND or WRITE of up to eight packets. */
    private void message() {
        int choice = input.u8();
        int packets = 1 + choice % 8;
        boolean write = (choice & 0x10) != 0;
        int tail = input.u16() % settings.mtu.bytes() + 1;
        int mtu = settings.mtu.bytes();
        long length = (long) (packets - 1) * mtu + tail;
        for (int i = 0; i < packets; i++) {
            boolean ends = i == packets - 1;
            int position = packets == 1 ? 4 : i == 0 ? 0 : ends ? 2 : 1;
            Opcode opcode = kind.opcode(write ? 6 + position : position);
            if (opcode == null) {
                return;
            }
            Packet packet = Packet.of(opcode, end.any.expectedPsn()).bytes(ends ? tail : mtu);
            packet.ackRequest = ends || (choice & 0x20) != 0;
            FuzzMemory.Kind what = FuzzMemory.Kind.ALL[choice / 64];
            deliver(packet.reth(memory.region(what).address(), memory.rkey(what), length));
        }
    }

    /** Flags, PSN, a number of header bytes, the headers from the BTH on, a number of payload bytes. */
    private void headers() {
        int flags = input.u8();
        int ahead = input.i8();
        byte[] headers = input.bytes(input.below(96));
        int payload = input.u16() % (settings.mtu.bytes() + 8);
        MemorySegment out = peer.buffer;
        out.fill((byte) 0);
        MemorySegment.copy(headers, 0, out, JAVA_BYTE, 0, headers.length);
        if ((flags & 1) == 0) {
            int tag = BigEndian.u8(out, Bth.VARIANT_BYTE);
            BigEndian.put32(out, Bth.VARIANT_BYTE, tag << 24 | end.any.qpNumber());
        }
        if ((flags & 2) == 0) {
            int asked = BigEndian.u8(out, 8);
            BigEndian.put32(out, 8, asked << 24 | Psn.add(end.any.expectedPsn(), ahead));
        }
        Opcode opcode = Opcode.of(Bth.opcode(out, 0));
        if ((flags & 4) == 0 && opcode != null) {
            names(out, opcode);
        }
        peer.deliver(headers.length + payload, remoteLow);
    }

    /** Writes into the headers of a packet what it has to name. */
    private void names(MemorySegment out, Opcode opcode) {
        int at = opcode.hasReth() ? opcode.rethOffset() : opcode.hasAtomicEth() ? opcode.atomicEthOffset() : -1;
        if (at >= 0) {
            BigEndian.put64(out, at, memory.named().address());
            BigEndian.put32(out, at + 8, memory.named().rkey());
        }
        if (opcode.hasDeth()) {
            Deth.write(out, opcode.dethOffset(), settings.qkey, FuzzPeer.PEER_QP);
        }
        if (opcode.hasXrcEth() && shared != null) {
            XrcEth.write(out, opcode.xrcEthOffset(), shared.number());
        }
    }

    /** What, flags, a number of bytes. */
    private void postSend() {
        SendOpcode opcode = WORK[input.below(WORK.length)];
        int choice = input.u8();
        int bytes = input.u16() % (32 << 10);
        if (!kind.type.hasSendQueue() || !end.hasRoom()) {
            return;
        }
        if (!opcode.isPossibleOn(kind.type)) {
            opcode = SendOpcode.SEND;
        }
        if (kind.type == QueuePairType.UD) {
            // Who posts more is refused before it comes here.
            bytes = Math.min(bytes, settings.mtu.bytes());
        }
        // Signalled, solicited, fenced, inline or not; or with a key that names nothing.
        boolean inline = (choice & SendFlags.INLINE) != 0 && opcode.isSend() && bytes <= Settings.MAX_INLINE;
        int flags = choice & (SendFlags.SIGNALED | SendFlags.SOLICITED | SendFlags.FENCE);
        Sge eight = Sge.of(peer.own, 32 << 10, 8);
        Sge entry = choice >> 4 == 0xf ? new Sge(peer.own.address(), bytes, choice) : Sge.of(peer.own, 32 << 10, bytes);
        Work work = switch (opcode) {
            case ATOMIC_FETCH_AND_ADD -> Work.fetchAdd(4, 0x1000, 5, 1, eight);
            case ATOMIC_CMP_AND_SWP -> Work.compareSwap(5, 0x1000, 5, 1, 2, eight);
            case FLUSH -> Work.flush(6, 0x1000, 5, bytes, 1, choice >> 4 & 1);
            case ATOMIC_WRITE -> Work.atomicWrite(7, 0x1000, 5, 1);
            default ->
                Work.send(1, inline ? Sge.of(peer.own, 0, bytes) : entry)
                        .as(opcode)
                        .at(0x1000, 5);
        };
        end.sharedReceiveQueue = 3;
        end.post(peer.addressed(work.flags(inline ? flags | SendFlags.INLINE : flags), end));
        peer.host.port.answerDoorbells(peer.now);
    }

    private void postReceive() {
        int choice = input.u8();
        Region region = choice == 0xff ? memory.foreign() : peer.own;
        postReceive(7, Sge.of(region, 0, choice * 16 % 1024), Sge.of(region, 512, choice % 4 * 128));
        peer.host.port.answerDoorbells(peer.now);
    }

    /** Posts a receive to where this queue pair takes them from, if there is room. */
    void postReceive(long wrId, Sge... entries) {
        if (shared != null) {
            if (shared.queue().hasRoom(0)) {
                TestQueuePair.postReceive(shared.queue(), wrId, entries);
            }
        } else if (kind.type.hasReceiveQueue() && end.receives.hasRoom(0)) {
            end.postReceive(wrId, entries);
        }
    }

    private void window() {
        Work work = memory.windowWork(input.u8(), input.u8(), input.u16());
        if (binder != end) {
            // A bind that is refused is the end of a queue pair.
            binder.modify(peer.now, QueuePairState.RESET, null, new QueuePairAttributes());
            binder.completions();
            binder.connect(peer.now, FuzzPeer.HIGH, remoteLow, FuzzPeer.PEER_QP);
        }
        if (binder.hasRoom()) {
            binder.post(work);
            peer.host.port.answerDoorbells(peer.now);
        }
    }

    private void sharedReceives() {
        int choice = input.u8();
        if (shared == null) {
            return;
        }
        switch (choice % 3) {
            case 0 -> shared.armLimit(choice % (SHARED_DEPTH + 1));
            case 1 ->
                shared.resize(new WorkQueue(
                        SHARED_DEPTH << (choice & 1), shared.queue().slotBytes()));
            default -> {
                if (kind == QueuePairFuzz.Kind.XRC_TARGET) {
                    peer.host.port.destroySharedReceives(shared);
                    shared = createShared();
                }
            }
        }
        peer.host.port.pollEvents();
    }

    /** Takes back what is left in a shared receive queue, which a reset does not. */
    void emptySharedReceives() {
        if (shared != null) {
            MemorySegment scratch = MemorySegment.ofArray(new long[shared.slotBytes() / Long.BYTES]);
            int taken = 0;
            while (shared.take(scratch)) {
                assertThat(++taken).isLessThanOrEqualTo(2 * SHARED_DEPTH);
            }
        }
    }

    private void take(int frames) {
        for (FuzzPeer.Sent one : frames == Integer.MAX_VALUE ? peer.drain() : peer.drain(frames)) {
            if (one.packet().opcode.isRequest() && one.remoteLow() == remoteLow && sent.size() < SENT_KEPT) {
                sent.add(one.packet());
            }
        }
    }

    private void changeState() {
        switch (input.below(4)) {
            case 0 -> change(QueuePairState.ERR);
            case 1 -> reconnect();
            case 2 -> {
                change(QueuePairState.RESET);
                end.toInit(peer.now);
                end.toRtr(peer.now, FuzzPeer.HIGH, remoteLow, FuzzPeer.PEER_QP);
                wanted = QueuePairState.RTR;
            }
            default -> {
                QueuePairState state = end.any.state();
                if (state == QueuePairState.RTS && kind != QueuePairFuzz.Kind.XRC_TARGET) {
                    change(QueuePairState.SQD);
                } else if (state == QueuePairState.SQD || state == QueuePairState.SQE) {
                    change(QueuePairState.RTS);
                }
            }
        }
    }

    private void again() {
        if (last != null) {
            deliver(last);
        }
    }

    private void noise() {
        int flags = input.u8();
        byte[] bytes = input.bytes(input.below(128));
        MemorySegment.copy(bytes, 0, peer.buffer, JAVA_BYTE, 0, bytes.length);
        long from = remoteLow + (flags & 1);
        if ((flags & 2) == 0 || bytes.length < Bth.BYTES) {
            peer.deliverAsIs(bytes.length, from);
        } else {
            peer.deliver(bytes.length, from);
        }
    }
}
