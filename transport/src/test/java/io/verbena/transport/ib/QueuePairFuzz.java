// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.fuzz.FuzzInput;
import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.wire.ib.Opcode;
import java.util.List;

/**
 * Whatever a peer sends and whenever, mixed with an application's own work: nothing is thrown, nothing but the memory
 * that the peer may write is written, queues stay within their bounds, the queue pair is in a state that it may be in,
 * another one on the port works on, and this one works again after a reset.
 *
 * <p>Input: a kind of queue pair, four bytes of settings, then steps as {@link QueuePairProgram} reads them.
 */
public final class QueuePairFuzz {
    /** A kind of queue pair that programs are about. The corpus counts on the order: a new kind goes to the end. */
    enum Kind {
        RC(QueuePairType.RC, false),
        UC(QueuePairType.UC, false),
        UD(QueuePairType.UD, false),
        XRC_INITIATOR(QueuePairType.XRC_INI, false),
        XRC_TARGET(QueuePairType.XRC_TGT, true),
        RC_SHARED(QueuePairType.RC, true),
        UC_SHARED(QueuePairType.UC, true),
        UD_SHARED(QueuePairType.UD, true);

        static final Kind[] ALL = values();

        final QueuePairType type;
        /** Whether its receives come from a shared receive queue. */
        final boolean shared;

        Kind(QueuePairType type, boolean shared) {
            this.type = type;
            this.shared = shared;
        }

        boolean isReliable() {
            return type != QueuePairType.UC && type != QueuePairType.UD;
        }

        /** The opcode of this kind's service with these lower five bits, or null. */
        Opcode opcode(int operation) {
            int service = switch (type) {
                case RC -> 0x00;
                case UC -> 0x20;
                case UD -> 0x60;
                case XRC_INI, XRC_TGT -> 0xa0;
            };
            return Opcode.of(service | operation);
        }
    }

    private static final int STEPS_MAX = 400;
    private static final int SEND_ONLY = Opcode.RC_SEND_ONLY.code();
    private static final int ACKNOWLEDGE = Opcode.RC_ACKNOWLEDGE.code();
    private static final int GRH_BYTES = 40;

    private QueuePairFuzz() {}

    public static void fuzzerTestOneInput(byte[] bytes) {
        FuzzInput input = new FuzzInput(bytes);
        Kind kind = Kind.ALL[input.below(Kind.ALL.length)];
        FuzzPeer peer = new FuzzPeer();
        QueuePairProgram bystander =
                new QueuePairProgram(Kind.RC, peer, FuzzPeer.OTHER_LOW, new FuzzInput(new byte[0]));
        bystander.end.post(peer.memory.bindStrangers());
        peer.drain();
        assertThat(bystander.end.completions()).containsExactly("1 SUCCESS");
        QueuePairProgram program = new QueuePairProgram(kind, peer, FuzzPeer.LOW, input);
        for (int i = 0; i < STEPS_MAX && !input.atEnd(); i++) {
            program.step();
            checkBounds(program);
        }
        peer.memory.check();
        exchange(bystander, peer);
        program.reconnect();
        program.emptySharedReceives();
        if (!program.end.sendRing.overrun() && !program.receiveRing().overrun()) {
            exchange(program, peer);
        }
        finish(peer, program.end);
        peer.memory.check();
    }

    private static void checkBounds(QueuePairProgram program) {
        TestQueuePair end = program.end;
        if (end.qp != null) {
            assertThat(end.qp.responder.resources.unanswered()).isBetween(0, end.settings.maxDestRdAtomic);
            assertThat(end.qp.send.readsOutstanding()).isBetween(0, end.settings.maxRdAtomic);
        }
        assertThat(end.any.window.requestsInFlight()).isBetween(0L, PathWindow.REQUEST_LIMIT_MAX + (16 << 10));
        assertThat(end.any.window.readsInFlight()).isBetween(0L, 2 * PathWindow.READ_LIMIT_MAX);
        boolean sends = end.any.state() == QueuePairState.SQE && !program.kind.isReliable();
        assertThat(sends || end.any.state() == program.wanted() || end.any.state() == QueuePairState.ERR)
                .as("%s instead of %s", end.any.state(), program.wanted())
                .isTrue();
    }

    /** A message each way, as far as this kind sends and receives, when nothing is under way. */
    private static void exchange(QueuePairProgram program, FuzzPeer peer) {
        TestQueuePair end = program.end;
        Kind kind = program.kind;
        peer.drain();
        program.poll();
        if (kind.type.hasSendQueue()) {
            send(program, peer);
        }
        if (kind != Kind.XRC_INITIATOR) {
            program.postReceive(78, Sge.of(peer.own, 0, 200));
            program.deliver(
                    Packet.of(kind.opcode(SEND_ONLY), end.any.expectedPsn()).bytes(60));
            int bytes = kind.type == QueuePairType.UD ? 60 + GRH_BYTES : 60;
            assertThat(end.receiveCompletions(program.receiveRing()))
                    .singleElement()
                    .asString()
                    .startsWith("recv 78 SUCCESS RECV " + bytes);
        }
    }

    private static void send(QueuePairProgram program, FuzzPeer peer) {
        Kind kind = program.kind;
        program.end.post(peer.addressed(Work.send(77, Sge.of(peer.own, 0, 100)), program.end));
        Packet sent = peer.drain().stream()
                .filter(s -> s.remoteLow() == program.remoteLow)
                .map(FuzzPeer.Sent::packet)
                .filter(packet -> packet.opcode == kind.opcode(SEND_ONLY))
                .findFirst()
                .orElseThrow(() -> new AssertionError("nothing was sent"));
        if (kind.isReliable()) {
            program.deliver(Packet.of(kind.opcode(ACKNOWLEDGE), sent.psn).aeth(0x1f, 1));
        }
        assertThat(program.end.completions()).isEqualTo(List.of("77 SUCCESS"));
    }

    /** Ends a queue pair; nothing of it stays behind. */
    private static void finish(FuzzPeer peer, TestQueuePair end) {
        end.modify(peer.now, QueuePairState.ERR, null, new QueuePairAttributes());
        peer.drain();
        assertThat(end.any.window.requestsInFlight()).isZero();
        assertThat(end.any.window.readsInFlight()).isZero();
        peer.host.port.destroyQueuePair(end.any);
        assertThat(peer.drain()).isEmpty();
        assertThat(peer.host.port.nextDeadline()).isEqualTo(Long.MAX_VALUE);
    }
}
