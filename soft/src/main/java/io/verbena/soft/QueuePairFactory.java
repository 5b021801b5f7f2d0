// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.ib.IbQueuePair;
import io.verbena.transport.ib.QueuePairSetup;
import io.verbena.transport.queue.CompletionRing;
import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.SendSlot;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SharedReceiveQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Checks what a queue pair is asked to be, and makes it. */
final class QueuePairFactory {
    private final SoftProtectionDomain domain;
    private final QueuePairOptions options;
    final @Nullable SoftCompletionQueue sends;
    final @Nullable SoftCompletionQueue receives;
    final @Nullable SoftSharedReceiveQueue shared;
    final @Nullable SoftXrcDomain xrcDomain;

    QueuePairFactory(SoftProtectionDomain domain, QueuePairOptions options) {
        this.domain = domain;
        this.options = options;
        SoftProtectionDomain.limit("maxSendWr", options.maxSendWr(), 0, Limits.MAX_QP_WR, "maxQpWr");
        SoftProtectionDomain.limit("maxReceiveWr", options.maxReceiveWr(), 0, Limits.MAX_QP_WR, "maxQpWr");
        SoftProtectionDomain.limit("maxSendSge", options.maxSendSge(), 0, Limits.MAX_SGE, "maxSge");
        SoftProtectionDomain.limit("maxReceiveSge", options.maxReceiveSge(), 0, Limits.MAX_SGE, "maxSge");
        SoftProtectionDomain.limit("maxInlineData", options.maxInlineData(), 0, Limits.MAX_INLINE, "maxInlineData");
        sends = domain.own(options.sendCompletionQueue());
        receives = domain.own(options.receiveCompletionQueue());
        shared = own(options.sharedReceiveQueue());
        xrcDomain = domain.own(options.xrcDomain());
    }

    private @Nullable SoftSharedReceiveQueue own(@Nullable SharedReceiveQueue queue) {
        if (queue == null) {
            return null;
        }
        if (queue instanceof SoftSharedReceiveQueue own
                && own.belongsTo(domain.softContext())
                && own.engine().number() == 0) {
            return own;
        }
        throw new IllegalArgumentException(
                "the shared receive queue belongs to another device or to an XRC domain, whose initiators name it");
    }

    /** Inside the owner lock. */
    SoftQueuePair create() {
        requireOpen();
        QueuePairSetup setup = setup();
        domain.softContext().queuePairs().take();
        IbQueuePair engine = domain.agent().port().createQueuePair(setup);
        if (engine == null) {
            domain.softContext().queuePairs().giveBack();
            throw new RdmaException(
                    RdmaException.Reason.RESOURCE_EXHAUSTED, "the device has no queue pair left (maxQp)");
        }
        if (sends != null) {
            sends.attach();
        }
        if (receives != null && receives != sends) {
            receives.attach();
        }
        if (shared != null) {
            shared.queuePairsChanged(1);
        }
        if (xrcDomain != null) {
            xrcDomain.usersChanged(1);
        }
        domain.childChanged(1);
        return new SoftQueuePair(domain, engine, options, this);
    }

    private void requireOpen() {
        domain.requireOpen();
        if (sends != null) {
            sends.requireOpen();
        }
        if (receives != null) {
            receives.requireOpen();
        }
        if (shared != null) {
            shared.requireOpen();
        }
        if (xrcDomain != null) {
            xrcDomain.requireOpen();
        }
    }

    private QueuePairSetup setup() {
        int sendSlot = SendSlot.bytes(options.maxSendSge(), options.maxInlineData());
        int receiveSlot = ReceiveSlot.bytes(options.maxReceiveSge());
        boolean ownReceives = options.type().hasReceiveQueue() && shared == null;
        // Both rings in one allocation: what the JVM keeps for each would be much of what a small queue pair costs.
        long sendBytes = WorkQueue.bytes(options.maxSendWr(), sendSlot);
        long receiveBytes = ownReceives ? WorkQueue.bytes(options.maxReceiveWr(), receiveSlot) : 0;
        MemorySegment rings = Arena.ofAuto().allocate(sendBytes + receiveBytes, 64);
        return new QueuePairSetup(
                options.type(),
                domain.number(),
                options.signalAll(),
                new WorkQueue(rings.asSlice(0, sendBytes), options.maxSendWr(), sendSlot),
                ownReceives ? new WorkQueue(rings.asSlice(sendBytes), options.maxReceiveWr(), receiveSlot) : null,
                shared == null ? null : shared.engine(),
                xrcDomain == null ? 0 : xrcDomain.number(),
                ringOf(sends),
                ringOf(receives));
    }

    /** A ring where nothing will ever be put, for a queue that the type does not have. */
    private static CompletionRing ringOf(@Nullable SoftCompletionQueue queue) {
        return queue == null ? new CompletionRing(1) : queue.ring();
    }

    /** Inside the owner lock: the queue pair is gone. */
    void release(int handle, int qpNumber) {
        if (sends != null) {
            sends.detach(handle, qpNumber);
        }
        if (receives != null && receives != sends) {
            receives.detach(handle, qpNumber);
        }
        if (shared != null) {
            shared.queuePairsChanged(-1);
        }
        if (xrcDomain != null) {
            xrcDomain.usersChanged(-1);
        }
        domain.softContext().queuePairs().giveBack();
        domain.childChanged(-1);
    }

    /** Inside the owner lock: the queue pair forgets all its completions. */
    void forgetCompletions(int handle, int qpNumber) {
        if (sends != null) {
            sends.remove(handle, qpNumber);
        }
        if (receives != null) {
            receives.remove(handle, qpNumber);
        }
    }

    CompletionQueue requireSends() {
        if (sends == null) {
            throw new IllegalStateException(options.type() + " queue pairs send nothing");
        }
        return sends;
    }

    CompletionQueue requireReceives() {
        if (receives == null) {
            throw new IllegalStateException(
                    options.type() + " queue pairs have no receives; a shared receive queue reports its own");
        }
        return receives;
    }
}
