// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.XrcDomain;

/** An XRC domain: a number that target queue pairs and shared receive queues have in common. */
final class SoftXrcDomain implements XrcDomain {
    private final SoftContext context;
    private final int number;
    /** Guarded by the agent's owner lock, as is all below. */
    private int users;

    private boolean closed;

    SoftXrcDomain(SoftContext context, int number) {
        this.context = context;
        this.number = number;
    }

    int number() {
        return number;
    }

    /** Inside the owner lock: a queue pair or a shared receive queue came or went. */
    void usersChanged(int change) {
        users += change;
    }

    void requireOpen() {
        if (closed) {
            throw new RdmaException(RdmaException.Reason.CLOSED, "the XRC domain is closed");
        }
    }

    @Override
    public DeviceContext context() {
        return context;
    }

    @Override
    public void close() {
        context.agent().run(() -> {
            if (closed) {
                return;
            }
            if (users > 0) {
                throw new RdmaException(
                        RdmaException.Reason.BUSY,
                        "the XRC domain is still used by " + users
                                + " queue pairs and shared receive queues; close them first");
            }
            closed = true;
            context.xrcDomains().giveBack();
            context.childChanged(-1);
        });
    }
}
