// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.cm;

import io.verbena.transport.encap.Path;
import io.verbena.transport.queue.SeededRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All conversations, and how many there are of what is bounded. */
final class ConversationTable {
    private final SeededRandom random;
    private final Map<Integer, Conversation> byLocalId = new HashMap<>();
    /** Passive ones by the number that the other side gave them, until the end of their timewait. */
    private final Map<RemoteKey, Conversation> byRemoteId = new HashMap<>();
    /** Those that are not over by the other side's queue pair. */
    private final Map<RemoteKey, Conversation> byRemoteQp = new HashMap<>();

    private final Map<Integer, List<Conversation>> byLocalQp = new HashMap<>();
    /** In the order in which they entered. */
    private final LinkedHashSet<Conversation> timewaits = new LinkedHashSet<>();
    /** Those that wait for the RTU, in the order in which they began to. */
    private final LinkedHashSet<Conversation> replied = new LinkedHashSet<>();

    private int halfOpen;

    ConversationTable(SeededRandom random) {
        this.random = random;
    }

    /** Conversations that are not over. */
    int size() {
        return byLocalId.size() - timewaits.size();
    }

    /** Passive conversations that are not established. */
    int halfOpen() {
        return halfOpen;
    }

    int timewaits() {
        return timewaits.size();
    }

    /** Everything that is remembered, for tests: 0 when nothing is. */
    int entries() {
        return byLocalId.size()
                + byRemoteId.size()
                + byRemoteQp.size()
                + byLocalQp.size()
                + timewaits.size()
                + replied.size()
                + halfOpen;
    }

    /** Those with the other end at this address, in a copy: they may be ended. */
    List<Conversation> with(long remoteHigh, long remoteLow) {
        List<Conversation> found = new ArrayList<>();
        for (Conversation one : byLocalId.values()) {
            if (one.path.remoteLow() == remoteLow && one.path.remoteHigh() == remoteHigh) {
                found.add(one);
            }
        }
        return found;
    }

    /** Those whose DREQ went out once and was not answered yet, in a copy. */
    List<Conversation> freshReleases() {
        List<Conversation> found = new ArrayList<>();
        for (Conversation one : byLocalId.values()) {
            if (one.state == ConversationState.DREQ_SENT && one.repeats == 0) {
                found.add(one);
            }
        }
        return found;
    }

    Conversation oldestTimewait() {
        return timewaits.getFirst();
    }

    /** The one that has waited for its RTU for the longest time, or null. */
    @Nullable
    Conversation oldestReplied() {
        return replied.isEmpty() ? null : replied.getFirst();
    }

    Conversation create(boolean active, long serviceId, Path path) {
        int id;
        do {
            id = random.nextInt();
        } while (id == 0 || byLocalId.containsKey(id));
        Conversation created = new Conversation(active, serviceId, path, id);
        byLocalId.put(id, created);
        return created;
    }

    void localQueuePair(Conversation conversation, int queuePair) {
        conversation.localQp = queuePair;
        byLocalQp.computeIfAbsent(queuePair, number -> new ArrayList<>(1)).add(conversation);
    }

    void remote(Conversation conversation, int id, int queuePair) {
        conversation.remoteId = id;
        conversation.remoteQp = queuePair;
        byRemoteQp.put(RemoteKey.of(conversation.path, queuePair), conversation);
        if (!conversation.active) {
            byRemoteId.put(RemoteKey.of(conversation.path, id), conversation);
        }
    }

    @Nullable
    Conversation local(int id) {
        return byLocalId.get(id);
    }

    /** The passive conversation to which the other end of the path gave this number. */
    @Nullable
    Conversation remote(Path path, int id) {
        return byRemoteId.get(RemoteKey.of(path, id));
    }

    @Nullable
    Conversation remoteQueuePair(Path path, int queuePair) {
        return byRemoteQp.get(RemoteKey.of(path, queuePair));
    }

    boolean holdsQueuePair(int queuePair) {
        return byLocalQp.containsKey(queuePair);
    }

    /** The conversation of a queue pair that is in this state. */
    @Nullable
    Conversation localQueuePair(int queuePair, ConversationState state) {
        for (Conversation one : byLocalQp.getOrDefault(queuePair, List.of())) {
            if (one.state == state) {
                return one;
            }
        }
        return null;
    }

    /** All changes of state come here, for they are counted. */
    void enter(Conversation conversation, ConversationState state) {
        ConversationState before = conversation.state;
        conversation.state = state;
        halfOpen += (state.isHalfOpen() ? 1 : 0) - (before.isHalfOpen() ? 1 : 0);
        if (before == ConversationState.REQ_RECEIVED) {
            CmListener.answered(conversation);
        } else if (before == ConversationState.REP_SENT) {
            replied.remove(conversation);
        }
        if (state == ConversationState.REP_SENT) {
            replied.add(conversation);
        } else if (state == ConversationState.TIMEWAIT) {
            timewaits.add(conversation);
            byRemoteQp.remove(RemoteKey.of(conversation.path, conversation.remoteQp), conversation);
        } else if (state == ConversationState.CLOSED) {
            remove(conversation);
        }
    }

    private void remove(Conversation conversation) {
        timewaits.remove(conversation);
        byLocalId.remove(conversation.localId, conversation);
        byRemoteQp.remove(RemoteKey.of(conversation.path, conversation.remoteQp), conversation);
        byRemoteId.remove(RemoteKey.of(conversation.path, conversation.remoteId), conversation);
        List<Conversation> sharing = byLocalQp.get(conversation.localQp);
        if (sharing != null && sharing.remove(conversation) && sharing.isEmpty()) {
            byLocalQp.remove(conversation.localQp);
        }
    }
}
