// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.ib.MulticastGroups;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.RdmaException;
import java.io.IOException;

/** The multicast groups that a queue pair hears. The device joins a group with its first queue pair. */
final class MulticastMembership {
    private static final System.Logger LOGGER = System.getLogger("io.verbena.soft");

    private final SoftQueuePair qp;

    MulticastMembership(SoftQueuePair qp) {
        this.qp = qp;
    }

    void attach(Gid group) {
        check(group);
        qp.agent().run(() -> {
            qp.requireOpen();
            attachOwned(new MulticastGroups.Group(group.high(), group.low()), group);
        });
    }

    private void attachOwned(MulticastGroups.Group group, Gid gid) {
        MulticastGroups groups = qp.agent().port().multicastGroups();
        if (groups.isAttached(group, qp.engine())) {
            return;
        }
        int members = groups.count(group);
        if (members == MulticastGroups.QUEUE_PAIRS_MAX) {
            throw exhausted("queue pairs in one multicast group (maxMulticastQps)", MulticastGroups.QUEUE_PAIRS_MAX);
        }
        if (members == 0) {
            if (groups.groups() == MulticastGroups.GROUPS_MAX) {
                throw exhausted("multicast groups (maxMulticastGroups)", MulticastGroups.GROUPS_MAX);
            }
            try {
                qp.agent().link().joinGroup(group.high(), group.low());
            } catch (IOException e) {
                throw new RdmaException(
                        RdmaException.Reason.IO, "cannot join the multicast group " + gid + ": " + e.getMessage(), e);
            }
        }
        groups.attach(group, qp.engine());
    }

    private static RdmaException exhausted(String what, int max) {
        return new RdmaException(
                RdmaException.Reason.RESOURCE_EXHAUSTED, "the device has no more than " + max + " " + what);
    }

    private void check(Gid group) {
        if (qp.type() != QueuePairType.UD) {
            throw invalid("only datagram queue pairs hear multicast groups, not " + qp.type());
        }
        boolean ofDevice = group.isIpv4() == qp.localGid().isIpv4();
        if (!group.toAddress().isMulticastAddress() || !ofDevice) {
            throw invalid(group + " is no multicast group of the family of this device's address " + qp.localGid());
        }
    }

    private static RdmaException invalid(String message) {
        return new RdmaException(RdmaException.Reason.INVALID_ARGUMENT, message);
    }

    void detach(Gid gid) {
        MulticastGroups.Group group = new MulticastGroups.Group(gid.high(), gid.low());
        qp.agent().run(() -> {
            qp.requireOpen();
            if (!qp.agent().port().multicastGroups().isAttached(group, qp.engine())) {
                throw invalid("the queue pair is not attached to " + gid);
            }
            leave(group);
        });
    }

    /** Inside the owner lock: the queue pair goes. */
    void leaveAll() {
        for (MulticastGroups.Group group : qp.agent().port().multicastGroups().of(qp.engine())) {
            leave(group);
        }
    }

    private void leave(MulticastGroups.Group group) {
        MulticastGroups groups = qp.agent().port().multicastGroups();
        groups.detach(group, qp.engine());
        if (groups.count(group) == 0) {
            try {
                qp.agent().link().leaveGroup(group.high(), group.low());
            } catch (IOException gone) {
                // Nobody hears the group any more: what still arrives is dropped and counted.
                LOGGER.log(System.Logger.Level.DEBUG, "cannot leave a multicast group", gone);
            }
        }
    }
}
