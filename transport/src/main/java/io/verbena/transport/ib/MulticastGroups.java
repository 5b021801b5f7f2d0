// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Which datagram queue pairs hear which multicast groups (IBTA volume 1, 10.5.2). Belongs to the port's owner. */
public final class MulticastGroups {
    /** How many groups a port can have. */
    public static final int GROUPS_MAX = 256;
    /** How many queue pairs can hear one group. */
    public static final int QUEUE_PAIRS_MAX = 1024;

    private static final int IPV4_MAPPED = 0xffff;

    /** A group's address. */
    public record Group(long high, long low) {}

    private record Membership(Group group, List<UdQueuePair> members) {}

    /** A list, because looking through it allocates nothing and groups are few. */
    private final List<Membership> memberships = new ArrayList<>();

    MulticastGroups() {}

    /** Whether an address is a group: {@code ff00::/8}, or IPv4-mapped {@code 224.0.0.0/4}. */
    static boolean isGroup(long high, long low) {
        return high >>> 56 == 0xff || (high == 0 && low >>> 32 == IPV4_MAPPED && ((int) low >>> 28) == 0xe);
    }

    /** How many queue pairs hear the group. */
    public int count(Group group) {
        Membership membership = find(group.high, group.low);
        return membership == null ? 0 : membership.members.size();
    }

    /** How many groups are heard. */
    public int groups() {
        return memberships.size();
    }

    public boolean isAttached(Group group, IbQueuePair queuePair) {
        Membership membership = find(group.high, group.low);
        return membership != null && queuePair instanceof UdQueuePair ud && membership.members.contains(ud);
    }

    /** Attaches a queue pair for datagrams; one that is attached already stays so. */
    public void attach(Group group, IbQueuePair queuePair) {
        if (queuePair instanceof UdQueuePair ud && !isAttached(group, queuePair)) {
            Membership membership = find(group.high, group.low);
            if (membership == null) {
                membership = new Membership(group, new ArrayList<>());
                memberships.add(membership);
            }
            membership.members.add(ud);
        }
    }

    public void detach(Group group, IbQueuePair queuePair) {
        Membership membership = find(group.high, group.low);
        if (membership != null && queuePair instanceof UdQueuePair ud) {
            membership.members.remove(ud);
            if (membership.members.isEmpty()) {
                memberships.remove(membership);
            }
        }
    }

    /** The groups that a queue pair hears. */
    public List<Group> of(IbQueuePair queuePair) {
        return memberships.stream()
                .map(Membership::group)
                .filter(group -> isAttached(group, queuePair))
                .toList();
    }

    List<UdQueuePair> members(long high, long low) {
        Membership membership = find(high, low);
        return membership == null ? List.of() : membership.members;
    }

    private @Nullable Membership find(long high, long low) {
        for (int i = 0; i < memberships.size(); i++) {
            Membership membership = memberships.get(i);
            if (membership.group.low == low && membership.group.high == high) {
                return membership;
            }
        }
        return null;
    }
}
