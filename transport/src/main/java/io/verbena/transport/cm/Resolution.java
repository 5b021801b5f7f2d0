// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import io.verbena.wire.cm.Mad;
import io.verbena.wire.cm.SidrRep;
import io.verbena.wire.cm.SidrReq;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Both sides of asking for the queue pair of a datagram service (IBTA volume 1, 12.11). */
final class Resolution {
    /** How long an answer is kept for when the question comes again. */
    private static final long KEPT = 5_000_000_000L;

    private final Core core;
    private final Map<Integer, SidrConversation> asked = new HashMap<>();
    private final Map<RemoteKey, SidrConversation> unanswered = new HashMap<>();
    /** In the order of the answers. */
    private final LinkedHashMap<RemoteKey, SidrConversation> answered = new LinkedHashMap<>();

    Resolution(Core core) {
        this.core = core;
    }

    @Nullable
    SidrConversation request(long now, SidrParameters parameters) {
        if (asked.size() >= core.bounds.conversations()) {
            return null;
        }
        int id;
        do {
            id = core.random.nextInt();
        } while (id == 0 || asked.containsKey(id));
        long transaction = core.random.nextLong();
        SidrConversation s = new SidrConversation(true, parameters.serviceId(), parameters.path(), id, transaction);
        asked.put(id, s);
        core.begin(now, s, Messages.sidrReq(s, parameters.privateData()), parameters.deadline());
        return s;
    }

    boolean reply(long now, SidrConversation s, SidrReply reply) {
        RemoteKey key = RemoteKey.of(s.path, s.requestId);
        if (!unanswered.remove(key, s)) {
            return false;
        }
        CmListener.answered(s);
        Message message = Messages.sidrRep(s.path, s.transaction, s.requestId, s.serviceId, reply);
        s.message = message;
        core.outbox.send(message);
        answered.put(key, s);
        core.timers.arm(s, now + KEPT);
        if (answered.size() > core.bounds.timewaits()) {
            forget(answered.firstEntry().getValue());
        }
        return true;
    }

    void abandon(long now, SidrConversation s) {
        s.abandoned = true;
        if (s.active) {
            finish(s);
        } else {
            reply(now, s, SidrReply.refused(SidrReply.REJECTED, PrivateData.NONE));
        }
    }

    void onTimeout(long now, SidrConversation s) {
        if (!s.active) {
            forget(s);
        } else if (!core.repeat(now, s, Integer.MAX_VALUE)) {
            unreachable(s);
        }
    }

    /** The network says that nobody listens at an address. */
    void onUnreachable(long remoteHigh, long remoteLow) {
        for (SidrConversation s : List.copyOf(asked.values())) {
            if (s.repeats >= Endings.REPEATS_TO_ABSENT
                    && s.path.remoteLow() == remoteLow
                    && s.path.remoteHigh() == remoteHigh) {
                unreachable(s);
            }
        }
    }

    private void unreachable(SidrConversation s) {
        finish(s);
        core.raise(s, sink -> sink.sidrUnreachable(s));
    }

    /** Everything that is remembered, for tests. */
    int entries() {
        return asked.size() + unanswered.size() + answered.size();
    }

    private void finish(SidrConversation s) {
        core.timers.disarm(s);
        s.message = null;
        asked.remove(s.requestId, s);
    }

    private void forget(SidrConversation s) {
        core.timers.disarm(s);
        s.message = null;
        answered.remove(RemoteKey.of(s.path, s.requestId), s);
    }

    void onRequest(long now, Path back, MemorySegment mad, long o) {
        int id = SidrReq.requestId(mad, o);
        RemoteKey key = RemoteKey.of(back, id);
        SidrConversation before = answered.get(key);
        if (before != null && before.message != null) {
            core.count(CmCounter.DUPLICATES);
            core.outbox.send(before.message);
            return;
        }
        if (unanswered.containsKey(key)) {
            core.count(CmCounter.DUPLICATES);
            return;
        }
        long serviceId = SidrReq.serviceId(mad, o);
        CmListener listener = core.listeners.get(serviceId);
        if (listener == null) {
            core.count(CmCounter.REQUESTS_REFUSED);
            SidrReply refusal = SidrReply.refused(SidrReply.SERVICE_NOT_SUPPORTED, PrivateData.NONE);
            core.reply(now, Messages.sidrRep(back, Mad.transaction(mad, o), id, serviceId, refusal));
            return;
        }
        if (listener.isFull() && listener.crowding(back) instanceof SidrConversation crowding) {
            core.count(CmCounter.DISPLACED);
            CmListener.answered(crowding);
            unanswered.remove(RemoteKey.of(crowding.path, crowding.requestId), crowding);
        }
        if (core.isFull() || listener.isFull() || unanswered.size() >= core.bounds.halfOpen()) {
            core.count(CmCounter.DROP_BACKLOG);
            return;
        }
        SidrConversation s = new SidrConversation(false, serviceId, back, id, Mad.transaction(mad, o));
        listener.asked(s);
        unanswered.put(key, s);
        byte[] privateData = PrivateData.read(mad, o + SidrReq.PRIVATE_DATA, SidrReq.PRIVATE_DATA_BYTES);
        core.raise(s, sink -> sink.sidrRequest(listener, s, privateData));
    }

    void onReply(Path back, MemorySegment mad, long o) {
        SidrConversation s = asked.get(SidrRep.requestId(mad, o));
        if (s == null) {
            core.count(CmCounter.DROP_UNKNOWN_CONVERSATION);
            return;
        }
        if (!s.path.matches(back.remoteHigh(), back.remoteLow(), back.localHigh(), back.localLow())) {
            core.count(CmCounter.DROP_WRONG_ADDRESS);
            return;
        }
        finish(s);
        SidrReply reply = new SidrReply(
                SidrRep.status(mad, o),
                SidrRep.queuePair(mad, o),
                SidrRep.queueKey(mad, o),
                PrivateData.read(mad, o + SidrRep.PRIVATE_DATA, SidrRep.PRIVATE_DATA_BYTES));
        core.raise(s, sink -> sink.sidrReplied(s, reply));
    }
}
