// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.ib.AddressHandles;
import io.verbena.transport.ib.SharedReceives;
import io.verbena.transport.memory.Region;
import io.verbena.transport.memory.Window;
import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.SharedReceiveQueueOptions;
import io.verbena.verbs.XrcDomain;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A protection domain: a number that regions and queue pairs share. */
final class SoftProtectionDomain implements ProtectionDomain {
    private final SoftContext context;
    private final int number;
    /** Everything open that was made from it; guarded by the agent's owner lock. */
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

    /** Inside the owner lock: whether something made from it is open. */
    boolean busy() {
        return children > 0;
    }

    @Override
    public DeviceContext context() {
        return context;
    }

    @Override
    public MemoryRegion register(MemorySegment segment, AccessFlag... access) {
        int mask = AccessFlag.mask(access);
        Registrations.check(Objects.requireNonNull(segment, "segment"), mask);
        Region region = new Region(segment, mask, number);
        return agent().call(() -> {
            requireOpen();
            context.memoryRegions().take();
            if (!agent().port().keys().add(region)) {
                throw new AssertionError("the table of keys has room for as many regions as the quota");
            }
            children++;
            return new SoftMemoryRegion(this, region);
        });
    }

    @Override
    public QueuePair createQueuePair(QueuePairOptions options) {
        QueuePairFactory factory = new QueuePairFactory(this, options);
        return agent().call(factory::create);
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueOptions options) {
        limit("maxWr", options.maxWr(), 1, Limits.MAX_SRQ_WR, "maxSrqWr");
        limit("maxSge", options.maxSge(), 0, Limits.MAX_SGE, "maxSrqSge");
        SoftXrcDomain xrcDomain = own(options.xrcDomain());
        SoftCompletionQueue completions = own(options.completionQueue());
        WorkQueue queue = new WorkQueue(options.maxWr(), ReceiveSlot.bytes(options.maxSge()));
        return agent().call(() -> {
            requireOpen();
            if (xrcDomain != null) {
                xrcDomain.requireOpen();
            }
            if (completions != null) {
                completions.requireOpen();
            }
            context.sharedReceiveQueues().take();
            if (xrcDomain != null) {
                xrcDomain.usersChanged(1);
            }
            if (completions != null) {
                completions.attach();
            }
            SharedReceives engine = agent().port()
                    .createSharedReceives(
                            number,
                            queue,
                            xrcDomain == null ? 0 : xrcDomain.number(),
                            completions == null ? null : completions.ring());
            children++;
            return new SoftSharedReceiveQueue(this, engine, options, xrcDomain, completions);
        });
    }

    @Override
    public AddressHandle createAddressHandle(AddressVector vector) {
        return agent().call(() -> {
            requireOpen();
            int handle = agent().port().addressHandles().add(context.paths().resolve(vector, 0, 0), number);
            if (handle < 0) {
                throw new RdmaException(
                        RdmaException.Reason.RESOURCE_EXHAUSTED,
                        "the device holds no more than " + AddressHandles.MAX + " address handles (maxAh)");
            }
            children++;
            return new SoftAddressHandle(this, vector, handle);
        });
    }

    @Override
    public MemoryWindow allocateMemoryWindow(MemoryWindowType type) {
        Window window = new Window(Objects.requireNonNull(type, "type"), number);
        return agent().call(() -> {
            requireOpen();
            context.memoryWindows().take();
            agent().port().keys().add(window);
            children++;
            return new SoftMemoryWindow(this, type, window);
        });
    }

    /**
     * Checks a size that the caller asks for.
     *
     * @param attribute the limit's name in {@link io.verbena.verbs.DeviceAttributes}
     */
    static void limit(String name, long value, long min, long max, String attribute) {
        if (value < min || value > max) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    name + " is " + value + "; " + min + " to " + max + " (" + attribute + ") is possible");
        }
    }

    /** The queue as this device's own; null stays null. */
    @Nullable
    SoftCompletionQueue own(@Nullable CompletionQueue queue) {
        if (queue == null) {
            return null;
        }
        if (queue instanceof SoftCompletionQueue own && own.context() == context) {
            return own;
        }
        throw new IllegalArgumentException("the completion queue belongs to another device");
    }

    /** The domain as this device's own; null stays null. */
    @Nullable
    SoftXrcDomain own(@Nullable XrcDomain domain) {
        if (domain == null) {
            return null;
        }
        if (domain instanceof SoftXrcDomain own && own.context() == context) {
            return own;
        }
        throw new IllegalArgumentException("the XRC domain belongs to another device");
    }

    int number() {
        return number;
    }

    /** Inside the owner lock. */
    void requireOpen() {
        context.requireOpen();
        if (closed) {
            throw new RdmaException(RdmaException.Reason.CLOSED, "the protection domain is closed");
        }
    }

    boolean closed() {
        return closed;
    }

    @Override
    public void close() {
        agent().run(this::closeOwned);
    }

    private void closeOwned() {
        if (closed) {
            return;
        }
        if (children > 0) {
            throw new RdmaException(
                    RdmaException.Reason.BUSY,
                    "the protection domain still has " + children
                            + " memory regions, windows, address handles, shared receive queues or queue pairs;"
                            + " close them first");
        }
        closed = true;
        context.protectionDomains().giveBack();
        context.childChanged(-1);
    }
}
