// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.ib.QueuePairSetup;
import io.verbena.transport.ib.RcQueuePair;
import io.verbena.transport.memory.Region;
import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.SendSlot;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.RdmaException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** A protection domain: a number that regions and queue pairs share. */
final class SoftProtectionDomain implements ProtectionDomain {
    private static final int REMOTE_CHANGE = AccessFlag.mask(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);

    private final SoftContext context;
    private final int number;
    /** Open regions and queue pairs; guarded by the agent's owner lock. */
    private int children;

    private boolean closed;

    SoftProtectionDomain(SoftContext context, int number) {
        this.context = context;
        this.number = number;
    }

    PortAgent agent() {
        return context.agent();
    }

    SoftContext softContext() {
        return context;
    }

    /** Inside the owner lock. */
    void childChanged(int change) {
        children += change;
    }

    @Override
    public DeviceContext context() {
        return context;
    }

    @Override
    public MemoryRegion register(MemorySegment segment, AccessFlag... access) {
        checkSegment(Objects.requireNonNull(segment, "segment"));
        int mask = AccessFlag.mask(access);
        boolean localWrite = (mask & AccessFlag.LOCAL_WRITE.code()) != 0;
        if ((mask & REMOTE_CHANGE) != 0 && !localWrite) {
            throw new IllegalArgumentException("REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too");
        }
        if (localWrite && segment.isReadOnly()) {
            throw new IllegalArgumentException(
                    "the segment is read-only: it can be registered for REMOTE_READ and for sending,"
                            + " not with LOCAL_WRITE");
        }
        Region region = new Region(segment, mask, number);
        return agent().call(() -> {
            requireOpen();
            if (!agent().port().keys().add(region)) {
                throw new RdmaException(
                        RdmaException.Reason.RESOURCE_EXHAUSTED,
                        "the device holds no more than " + Limits.MAX_MR + " memory regions");
            }
            children++;
            return new SoftMemoryRegion(this, region);
        });
    }

    private static void checkSegment(MemorySegment segment) {
        if (!segment.isNative()) {
            throw new IllegalArgumentException(
                    "a heap segment cannot be registered, because the garbage collector moves it;"
                            + " allocate from Arena.ofShared() or Arena.ofAuto()");
        }
        if (!segment.scope().isAlive()) {
            throw new IllegalArgumentException("the segment's arena is closed");
        }
        if (!segment.isAccessibleBy(OTHER_THREAD)) {
            throw new IllegalArgumentException(
                    "a segment of a confined arena cannot be registered, because the device's thread could not"
                            + " touch it; use Arena.ofShared() or Arena.ofAuto()");
        }
        if (segment.byteSize() == 0) {
            throw new IllegalArgumentException("an empty segment cannot be registered");
        }
    }

    /** Some thread that owns no arena. */
    private static final Thread OTHER_THREAD = Thread.ofPlatform().unstarted(() -> {});

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        if (options.type() != QueuePairType.RC) {
            throw new RdmaException(
                    RdmaException.Reason.UNSUPPORTED,
                    "soft devices have reliable connections (RC) only, not " + options.type());
        }
        limit("maxSendWr", options.maxSendWr(), Limits.MAX_QP_WR);
        limit("maxReceiveWr", options.maxReceiveWr(), Limits.MAX_QP_WR);
        limit("maxSendSge", options.maxSendSge(), Limits.MAX_SGE);
        limit("maxReceiveSge", options.maxReceiveSge(), Limits.MAX_SGE);
        limit("maxInlineData", options.maxInlineData(), Limits.MAX_INLINE);
        SoftCompletionQueue sends = own(options.sendCompletionQueue());
        SoftCompletionQueue receives = own(options.receiveCompletionQueue());
        WorkQueue sendQueue =
                new WorkQueue(options.maxSendWr(), SendSlot.bytes(options.maxSendSge(), options.maxInlineData()));
        WorkQueue receiveQueue = new WorkQueue(options.maxReceiveWr(), ReceiveSlot.bytes(options.maxReceiveSge()));
        QueuePairSetup setup =
                new QueuePairSetup(number, options.signalAll(), sendQueue, receiveQueue, sends.ring(), receives.ring());
        return agent().call(() -> {
            requireOpen();
            sends.requireOpen();
            receives.requireOpen();
            RcQueuePair engine = agent().port().createQueuePair(setup);
            if (engine == null) {
                throw new RdmaException(RdmaException.Reason.RESOURCE_EXHAUSTED, "the device has no queue pair left");
            }
            sends.attach();
            if (receives != sends) {
                receives.attach();
            }
            children++;
            return new SoftQueuePair(this, engine, options, sends, receives);
        });
    }

    private static void limit(String name, int value, int max) {
        if (value < 0 || value > max) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT, name + " is " + value + "; 0 to " + max + " is possible");
        }
    }

    private SoftCompletionQueue own(CompletionQueue queue) {
        if (queue instanceof SoftCompletionQueue own && own.context() == context) {
            return own;
        }
        throw new IllegalArgumentException("the completion queue belongs to another device");
    }

    /** Inside the owner lock. */
    private void requireOpen() {
        context.requireOpen();
        if (closed) {
            throw new RdmaException(RdmaException.Reason.CLOSED, "the protection domain is closed");
        }
    }

    @Override
    public void close() {
        agent().run(() -> {
            if (closed) {
                return;
            }
            if (children > 0) {
                throw new RdmaException(
                        RdmaException.Reason.BUSY,
                        "the protection domain still has " + children
                                + " memory regions or queue pairs; close them first");
            }
            closed = true;
            context.childChanged(-1);
        });
    }
}
