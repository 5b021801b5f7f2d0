// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.fuzz.FuzzInput;
import io.verbena.transport.cm.CmPeer.Datagram;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import io.verbena.wire.BigEndian;
import io.verbena.wire.cm.CmAttribute;
import io.verbena.wire.cm.Mad;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Whatever peers send and whenever, mixed with commands in any order: nothing is thrown, bounds hold, each conversation
 * is told of in an order that makes sense, and once everything is given up nothing is left.
 *
 * <p>Input: steps, each a byte for its kind and what {@link Step} says.
 */
public final class ConnectionManagerFuzz {
    /** The corpus counts on the order: a new kind goes to the end. */
    enum Step {
        /** An attribute and bytes of a message. */
        MESSAGE,
        /** A message of this side comes back: it plays both ends. */
        REFLECT,
        /** A message of this side comes back with another attribute, byte or source. */
        DISTORT,
        CONNECT,
        ACCEPT,
        REJECT,
        COMPLETE,
        ESTABLISHED,
        DISCONNECT,
        ABANDON,
        LISTEN,
        TIME,
        ASK,
        ANSWER,
        /** A message with the numbers of a conversation. */
        ABOUT,
        UNREACHABLE;

        static final Step[] ALL = values();
    }

    private static final int STEPS_MAX = 400;
    private static final CmBounds BOUNDS = new CmBounds(8, 4, 5, 1024, 1000);
    private static final long MS = 1_000_000L;

    private final FuzzInput input;
    private final Peer peer = new Peer();
    private long now = 1_000_000_000L;

    /** All conversations and what was told of them; all datagrams that were sent. */
    private static final class Peer extends CmConsumer {
        final CmPeer own = new CmPeer(1, 1, Mtu.MTU_4096, BOUNDS);
        final List<Conversation> conversations = new ArrayList<>();
        final List<SidrConversation> asked = new ArrayList<>();
        final List<Datagram> sent = new ArrayList<>();
        CmListener listener;

        static Story story(Conversation c) {
            return (Story) c.attachment();
        }

        private static void tell(Conversation c, String event) {
            story(c).tell(event);
        }

        @Override
        public void connectRequest(CmListener listener, Conversation c, RequestParameters parameters) {
            assertThat(parameters.privateData()).hasSize(92);
            c.attach(new Story());
            conversations.add(c);
            tell(c, "request");
        }

        @Override
        public void replied(Conversation c, AcceptParameters parameters) {
            tell(c, "replied");
        }

        @Override
        public void established(Conversation c, byte[] data) {
            assertThat(c.active()).isFalse();
            tell(c, "established");
        }

        @Override
        public void rejected(Conversation c, int reason, byte[] data) {
            tell(c, "rejected");
        }

        @Override
        public void unreachable(Conversation c) {
            tell(c, "unreachable");
        }

        @Override
        public void disconnected(Conversation c) {
            tell(c, "disconnected");
        }

        @Override
        public void timewaitExit(Conversation c) {
            tell(c, "timewait exit");
        }

        @Override
        public void sidrRequest(CmListener listener, SidrConversation s, byte[] data) {
            asked.add(s);
        }

        @Override
        public void sidrReplied(SidrConversation s, SidrReply answer) {
            tellOnce(s);
        }

        @Override
        public void sidrUnreachable(SidrConversation s) {
            tellOnce(s);
        }

        private static void tellOnce(SidrConversation s) {
            assertThat(s.attachment()).isNull();
            s.attach("told");
        }
    }

    private ConnectionManagerFuzz(FuzzInput input) {
        this.input = input;
    }

    public static void fuzzerTestOneInput(byte[] bytes) {
        FuzzInput input = new FuzzInput(bytes);
        ConnectionManagerFuzz fuzz = new ConnectionManagerFuzz(input);
        fuzz.peer.listener = fuzz.manager().listen(CmPeer.SERVICE, 3);
        for (int i = 0; i < STEPS_MAX && !input.atEnd(); i++) {
            fuzz.step(Step.ALL[input.below(Step.ALL.length)]);
            fuzz.settle();
        }
        fuzz.finish();
    }

    private ConnectionManager manager() {
        return peer.own.manager;
    }

    private void settle() {
        manager().pollEvents(peer);
        peer.sent.addAll(peer.own.send());
        assertThat(manager().conversations()).isLessThanOrEqualTo(8);
        assertThat(manager().timewaits()).isLessThanOrEqualTo(5);
        assertThat(peer.listener == null ? 0 : peer.listener.unanswered()).isBetween(0, 3);
    }

    private void step(Step step) {
        switch (step) {
            case MESSAGE -> {
                Datagram message = Forge.message(remote(), peer.own, CmAttribute.REQ);
                BigEndian.put16(message.segment(), 16, 0x10 + input.below(12));
                fill(message.segment(), Mad.HEADER_BYTES, input.u8());
                receive(message);
            }
            case REFLECT -> {
                if (!peer.sent.isEmpty()) {
                    receive(peer.sent.get(input.below(peer.sent.size())));
                }
            }
            case DISTORT -> distort();
            case CONNECT -> connect();
            case TIME -> {
                now += (1L << input.below(38)) - 1;
                manager().onTimeout(now);
            }
            case LISTEN -> {
                if (peer.listener != null) {
                    manager().close(peer.listener);
                    peer.listener = null;
                } else {
                    peer.listener = manager().listen(CmPeer.SERVICE, 3);
                }
            }
            case ASK -> {
                SidrParameters parameters =
                        new SidrParameters(CmPeer.SERVICE, peer.own.to(input.below(3)), input.bytes(3), now + 999 * MS);
                manager().sidrRequest(now, parameters);
            }
            case ANSWER -> answer();
            case ABOUT -> about();
            case UNREACHABLE -> manager().onUnreachable(now, CmPeer.HIGH, input.below(3));
            case ACCEPT, REJECT, COMPLETE, ESTABLISHED, DISCONNECT, ABANDON -> command(step);
        }
    }

    private void connect() {
        int queuePair = 2 + input.below(4);
        Conversation c = manager()
                .connect(
                        now,
                        new ConnectParameters(
                                CmPeer.SERVICE + input.below(2),
                                peer.own.to(input.below(3)),
                                QueuePairType.UC,
                                CmPeer.endpoint(queuePair),
                                input.u8(),
                                input.u8(),
                                Mtu.MTU_256,
                                input.bytes(2),
                                now + input.u8() * 100L * MS));
        if (c != null) {
            c.attach(new Story());
            peer.conversations.add(c);
        }
    }

    private void command(Step step) {
        if (peer.conversations.isEmpty()) {
            return;
        }
        Conversation c = peer.conversations.get(input.below(peer.conversations.size()));
        switch (step) {
            case ACCEPT -> manager().accept(now, c, CmPeer.acceptance(2 + input.below(4)));
            case REJECT -> {
                boolean done = manager().reject(now, c, input.u8(), input.bytes(1));
                Peer.story(c).abandoned |= done;
            }
            case COMPLETE -> manager().complete(now, c);
            case ESTABLISHED -> {
                if (input.below(2) == 0) {
                    manager().established(now, c);
                } else {
                    manager().dataArrived(c.localQueuePair());
                }
            }
            case DISCONNECT -> manager().disconnect(now, c, input.bytes(1));
            default -> {
                Peer.story(c).abandoned = true;
                manager().abandon(now, c);
            }
        }
    }

    private void answer() {
        if (!peer.asked.isEmpty()) {
            SidrConversation s = peer.asked.get(input.below(peer.asked.size()));
            if (input.below(4) == 0) {
                manager().abandon(now, s);
            } else {
                manager().sidrReply(now, s, new SidrReply(input.u8(), 5, 6, input.bytes(1)));
            }
        }
    }

    private void distort() {
        if (!peer.sent.isEmpty()) {
            Datagram original = peer.sent.get(input.below(peer.sent.size()));
            int choice = input.below(4);
            Datagram other = Forge.withByte(original, choice == 0 ? 17 : input.u8(), input.u8());
            receive(choice == 1 ? new Datagram(CmPeer.way(input.below(3), 1), other.segment()) : other);
        }
    }

    /** A message of any kind whose numbers are right. */
    private void about() {
        if (!peer.conversations.isEmpty()) {
            Conversation c = peer.conversations.get(input.below(peer.conversations.size()));
            CmPeer from = new CmPeer(c.path().remoteLow(), 1);
            Datagram message = Forge.message(from, peer.own, CmAttribute.REQ);
            BigEndian.put16(message.segment(), 16, 0x10 + input.below(12));
            BigEndian.put32(message.segment(), Mad.HEADER_BYTES, c.remoteId() == 0 ? input.u8() : c.remoteId());
            BigEndian.put32(message.segment(), Mad.HEADER_BYTES + 4, input.below(4) == 0 ? 0 : c.localId());
            BigEndian.put32(message.segment(), Mad.HEADER_BYTES + 8, c.localQueuePair() << 8);
            fill(message.segment(), Mad.HEADER_BYTES + 8 + input.below(8), input.below(32));
            receive(message);
        }
    }

    private CmPeer remote() {
        return new CmPeer(input.below(3), 1);
    }

    private void fill(MemorySegment mad, int offset, int bytes) {
        byte[] values = input.bytes(Math.min(bytes, Mad.BYTES - offset));
        MemorySegment.copy(MemorySegment.ofArray(values), 0, mad, offset, values.length);
    }

    private void receive(Datagram datagram) {
        manager().onMad(now, datagram.back(), datagram.segment(), 0);
    }

    /** Everybody gives up; after all times have passed nothing is left. */
    private void finish() {
        for (Conversation c : peer.conversations) {
            Peer.story(c).abandoned = true;
            manager().abandon(now, c);
        }
        for (SidrConversation s : peer.asked) {
            manager().abandon(now, s);
        }
        for (int i = 0; i < 100 && manager().nextDeadline() != Long.MAX_VALUE; i++) {
            now = manager().nextDeadline();
            manager().onTimeout(now);
            settle();
        }
        assertThat(manager().nextDeadline()).isEqualTo(Long.MAX_VALUE);
        assertThat(manager().conversations()).isZero();
        assertThat(manager().entries()).isZero();
        assertThat(manager().holdsQueuePair(0)).isFalse();
        for (int queuePair = 2; queuePair < 6; queuePair++) {
            assertThat(manager().holdsQueuePair(queuePair)).isFalse();
        }
        assertThat(peer.listener == null ? 0 : peer.listener.unanswered()).isZero();
    }
}
