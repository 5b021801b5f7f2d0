// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.ib.SharedReceives;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.ReceiveRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.SharedReceiveQueueOptions;
import org.jspecify.annotations.Nullable;

/** Receives that many queue pairs take from. */
final class SoftSharedReceiveQueue implements SharedReceiveQueue, ReceivePoster.Target {
    private final SoftProtectionDomain domain;
    private final SharedReceives engine;
    private final int maxSge;
    private final @Nullable SoftXrcDomain xrcDomain;
    private final @Nullable SoftCompletionQueue completionQueue;
    private final ReceivePoster poster;
    private volatile boolean closed;
    /** Guarded by the agent's owner lock. */
    private int queuePairs;

    SoftSharedReceiveQueue(
            SoftProtectionDomain domain,
            SharedReceives engine,
            SharedReceiveQueueOptions options,
            @Nullable SoftXrcDomain xrcDomain,
            @Nullable SoftCompletionQueue completionQueue) {
        this.domain = domain;
        this.engine = engine;
        this.maxSge = options.maxSge();
        this.xrcDomain = xrcDomain;
        this.completionQueue = completionQueue;
        this.poster = new ReceivePoster(this, maxSge);
        engine.owner(this);
    }

    SharedReceives engine() {
        return engine;
    }

    boolean belongsTo(SoftContext context) {
        return domain.softContext() == context;
    }

    /** Inside the owner lock: a queue pair that takes from here came or went. */
    void queuePairsChanged(int change) {
        queuePairs += change;
    }

    void requireOpen() {
        if (closed) {
            throw new RdmaException(RdmaException.Reason.CLOSED, "the shared receive queue is closed");
        }
    }

    @Override
    public WorkQueue queue() {
        return engine.queue();
    }

    @Override
    public void requirePostable() {
        requireOpen();
    }

    /** Receives wait for a message; nobody need be told. */
    @Override
    public void posted() {}

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int maxWr() {
        return engine.queue().depth();
    }

    @Override
    public int maxSge() {
        return maxSge;
    }

    @Override
    public int number() {
        if (xrcDomain == null) {
            throw new IllegalStateException("only a shared receive queue of an XRC domain has a number");
        }
        return engine.number();
    }

    @Override
    public void post(ReceiveRequest request) {
        poster.post(request);
    }

    @Override
    public void postReceive(long wrId, long address, int length, int lkey) {
        poster.post(wrId, address, length, lkey);
    }

    @Override
    public void resize(int maxWr) {
        SoftProtectionDomain.limit("maxWr", maxWr, 1, Limits.MAX_SRQ_WR, "maxSrqWr");
        poster.exclusively(() -> domain.agent().run(() -> {
            requireOpen();
            if (maxWr < engine.posted()) {
                throw new RdmaException(
                        RdmaException.Reason.INVALID_ARGUMENT,
                        "the shared receive queue holds " + engine.posted() + " receives; it cannot shrink to "
                                + maxWr);
            }
            if (maxWr < engine.limit()) {
                throw new RdmaException(
                        RdmaException.Reason.INVALID_ARGUMENT,
                        "a limit of " + engine.limit()
                                + " receives is armed; the shared receive queue cannot shrink to " + maxWr);
            }
            engine.resize(new WorkQueue(maxWr, engine.queue().slotBytes()));
        }));
    }

    @Override
    public void armLimit(int receives) {
        domain.agent().run(() -> {
            requireOpen();
            SoftProtectionDomain.limit("the limit", receives, 0, maxWr(), "maxWr");
            engine.armLimit(receives);
        });
    }

    @Override
    public int limit() {
        return domain.agent().call(() -> {
            requireOpen();
            return engine.limit();
        });
    }

    @Override
    public void close() {
        domain.agent().run(() -> {
            if (closed) {
                return;
            }
            if (queuePairs > 0) {
                throw new RdmaException(
                        RdmaException.Reason.BUSY,
                        "the shared receive queue is still used by " + queuePairs + " queue pairs; close them first");
            }
            closed = true;
            domain.agent().port().destroySharedReceives(engine);
            if (xrcDomain != null) {
                xrcDomain.usersChanged(-1);
            }
            if (completionQueue != null) {
                completionQueue.detach();
            }
            domain.softContext().sharedReceiveQueues().giveBack();
            domain.childChanged(-1);
        });
    }
}
