// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which datagram queue pairs hear which multicast groups (IBTA volume 1, 10.5.2). Belongs to the port's owner. */
public final class MulticastGroups {
    /** How many groups a port can have. */
    public static final int GROUPS_MAX = 256;
    /** How many queue pairs can hear one group. */
    public static final int QUEUE_PAIRS_MAX = 1024;

    /** A group's address. */
    public record Group(long high, long low) {}

    private final Map<Group, List<UdQueuePair>> members = new HashMap<>();

    MulticastGroups() {}

    /** How many queue pairs hear the group. */
    public int count(Group group) {
        return members.getOrDefault(group, List.of()).size();
    }

    /** How many groups are heard. */
    public int groups() {
        return members.size();
    }

    public boolean isAttached(Group group, IbQueuePair queuePair) {
        return queuePair instanceof UdQueuePair ud
                && members.getOrDefault(group, List.of()).contains(ud);
    }

    /** Attaches a queue pair for datagrams. */
    public void attach(Group group, IbQueuePair queuePair) {
        if (queuePair instanceof UdQueuePair ud && !isAttached(group, queuePair)) {
            members.computeIfAbsent(group, g -> new ArrayList<>()).add(ud);
        }
    }

    public void detach(Group group, IbQueuePair queuePair) {
        List<UdQueuePair> list = members.get(group);
        if (list != null) {
            list.removeIf(member -> member == queuePair);
            if (list.isEmpty()) {
                members.remove(group);
            }
        }
    }

    /** The groups that a queue pair hears. */
    public List<Group> of(IbQueuePair queuePair) {
        return members.keySet().stream()
                .filter(group -> isAttached(group, queuePair))
                .toList();
    }

    List<UdQueuePair> members(long high, long low) {
        return members.isEmpty() ? List.of() : members.getOrDefault(new Group(high, low), List.of());
    }
}
