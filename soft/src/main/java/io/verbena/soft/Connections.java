// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.cm.AcceptParameters;
import io.verbena.transport.cm.CmEvents;
import io.verbena.transport.cm.CmListener;
import io.verbena.transport.cm.ConnectionManager;
import io.verbena.transport.cm.Conversation;
import io.verbena.transport.cm.RequestParameters;
import io.verbena.transport.cm.SidrConversation;
import io.verbena.transport.cm.SidrReply;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.RejectReason;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one device: routes what the engine's connection manager tells to the ids that it concerns. All of
 * it inside the owner lock, but {@link #protectionDomain}.
 */
final class Connections implements CmEvents {
    private static final int PORT_FIRST = 49152;
    private static final int PORT_LAST = 65535;
    /** How often a farewell is said, and how long each time is waited for the answer. */
    private static final int FAREWELLS = 3;

    private static final long FAREWELL_NS = 10_000_000;
    private static final long FAREWELL_PAUSE_NS = 100_000;

    private final SoftContext context;
    /** Ids whose queue pair had something to tell during the present cycle. */
    private final ArrayDeque<Runnable> later = new ArrayDeque<>();

    /** Ids with a connection, or on the way to one. */
    private final Set<SoftConnectionId> ids = new LinkedHashSet<>();

    private int uses;
    private @Nullable SoftProtectionDomain shared;

    Connections(SoftContext context) {
        this.context = context;
    }

    ConnectionManager engine() {
        return context.agent().port().connections();
    }

    /** An id uses the device from now on. */
    void use() {
        boolean unused = context.agent().call(() -> {
            context.requireOpen();
            useOwned();
            return true;
        });
    }

    /** The same inside the owner lock. */
    void useOwned() {
        if (uses++ == 0) {
            context.childChanged(1);
        }
    }

    /** A port that nobody listens to here, most likely; of the range that IANA leaves to programs. */
    int freePort() {
        return context.agent()
                .call(() -> PORT_FIRST + context.agent().port().random().nextInt(PORT_LAST - PORT_FIRST + 1));
    }

    /** Ends a use; whether it was the last, and nothing of the connection manager is left. */
    boolean release() {
        return context.agent().call(this::releaseOwned);
    }

    /** The same inside the owner lock. */
    boolean releaseOwned() {
        if (--uses > 0) {
            return false;
        }
        context.childChanged(-1);
        closeIdleDomain();
        return shared == null;
    }

    /** Inside the owner lock: closes the shared protection domain unless it is in use. */
    void closeIdleDomain() {
        SoftProtectionDomain domain = shared;
        if (domain != null && uses == 0 && !domain.busy()) {
            shared = null;
            domain.close();
        }
    }

    /** The id is told when the device fails. */
    void watch(SoftConnectionId id) {
        ids.add(id);
    }

    void forget(SoftConnectionId id) {
        ids.remove(id);
    }

    /** Nothing will ever arrive or be sent any more. */
    void deviceFailed(String why) {
        boolean unused = context.agent().locked(() -> {
            ids.forEach(id -> id.onDeviceFailure(why));
            return true;
        });
    }

    /**
     * Before the device closes: waits until the other sides know of connections that were ended just now, and tells
     * them again, for a device that is gone repeats nothing. It takes 30 ms when nobody answers, and no time when the
     * last DREQ is answered, or so old that it was repeated anyway.
     */
    void farewell() {
        PortAgent agent = context.agent();
        List<Conversation> releases = agent.closed() ? List.of() : agent.call(engine()::freshReleases);
        for (int said = 1; said <= FAREWELLS; said++) {
            long start = agent.driver().nanoTime();
            while (!releases.isEmpty() && agent.driver().nanoTime() - start < FAREWELL_NS) {
                agent.driver().pause(FAREWELL_PAUSE_NS);
                releases = agent.call(engine()::freshReleases);
            }
            if (releases.isEmpty() || said == FAREWELLS) {
                return;
            }
            List<Conversation> unheard = releases;
            agent.run(() -> unheard.forEach(engine()::repeatRelease));
        }
    }

    /** A protection domain that all ids of the device share. */
    ProtectionDomain protectionDomain() {
        return context.agent().call(() -> {
            SoftProtectionDomain domain = shared;
            if (domain == null || domain.closed()) {
                domain = (SoftProtectionDomain) context.allocateProtectionDomain();
                shared = domain;
            }
            return domain;
        });
    }

    /** A queue pair went to ERR by itself. */
    void queuePairFailed(SoftQueuePair queuePair) {
        SoftConnectionId id = queuePair.connection();
        if (id != null) {
            later.add(id::onQueuePairFailure);
        }
    }

    /** The engine may be called again: acts on what queue pairs told. */
    void settle() {
        for (Runnable action = later.poll(); action != null; action = later.poll()) {
            action.run();
        }
    }

    private static @Nullable SoftConnectionId idOf(Conversation conversation) {
        return conversation.attachment() instanceof SoftConnectionId id ? id : null;
    }

    @Override
    public void connectRequest(CmListener listener, Conversation conversation, RequestParameters parameters) {
        if (!(listener.attachment() instanceof SoftConnectionId listening)
                || !listening.onRequest(context, conversation, parameters)) {
            boolean unused = engine().reject(
                            context.agent().now(), conversation, RejectReason.UNSUPPORTED.number(), new byte[0]);
        }
    }

    @Override
    public void replied(Conversation conversation, AcceptParameters parameters) {
        SoftConnectionId id = idOf(conversation);
        if (id != null) {
            id.onReply(parameters);
        }
    }

    @Override
    public void established(Conversation conversation, byte[] privateData) {
        SoftConnectionId id = idOf(conversation);
        if (id != null) {
            id.onEstablished();
        }
    }

    @Override
    public void rejected(Conversation conversation, int reason, byte[] privateData) {
        SoftConnectionId id = idOf(conversation);
        if (id != null) {
            id.onRejected(reason, privateData);
        }
    }

    @Override
    public void unreachable(Conversation conversation) {
        SoftConnectionId id = idOf(conversation);
        if (id != null) {
            id.onUnreachable();
        }
    }

    @Override
    public void disconnected(Conversation conversation) {
        SoftConnectionId id = idOf(conversation);
        if (id != null) {
            id.onDisconnected();
        }
    }

    @Override
    public void timewaitExit(Conversation conversation) {
        SoftConnectionId id = idOf(conversation);
        if (id != null) {
            id.onTimewaitExit();
        }
    }

    @Override
    public void sidrRequest(CmListener listener, SidrConversation conversation, byte[] privateData) {
        if (!(listener.attachment() instanceof SoftConnectionId listening)
                || !listening.onQuestion(context, conversation, privateData)) {
            boolean unused = engine().sidrReply(
                            context.agent().now(),
                            conversation,
                            SidrReply.refused(SidrReply.SERVICE_NOT_SUPPORTED, new byte[0]));
        }
    }

    @Override
    public void sidrReplied(SidrConversation conversation, SidrReply reply) {
        if (conversation.attachment() instanceof SoftConnectionId id) {
            id.onAnswer(reply);
        }
    }

    @Override
    public void sidrUnreachable(SidrConversation conversation) {
        if (conversation.attachment() instanceof SoftConnectionId id) {
            id.onUnreachable();
        }
    }

    /** Too many conversations, which a peer cannot cause, but this program can. */
    static RdmaException tooMany() {
        return new RdmaException(
                RdmaException.Reason.RESOURCE_EXHAUSTED,
                "the device has as many connections under way as it can; close some first");
    }
}
