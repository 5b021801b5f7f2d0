// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SharedReceiveQueueOptions;
import io.verbena.verbs.XrcDomain;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An open device keeps nothing of objects that were destroyed: the garbage collector finds them all. */
class ChurnTest {
    private static final int CYCLES = 2_000;
    /** Collections until a weak reference must be clear. */
    private static final int COLLECTIONS = 10;

    private final TwoDevices devices = new TwoDevices();
    private final TwoDevices.Side a = devices.a;
    private final TwoDevices.Side b = devices.b;
    private final List<WeakReference<Object>> destroyed = new ArrayList<>();

    @AfterEach
    void close() {
        devices.close();
    }

    private void churn(Supplier<? extends AutoCloseable> create) {
        for (int i = 0; i < CYCLES; i++) {
            destroy(create.get());
        }
    }

    private void destroy(AutoCloseable object) {
        try {
            object.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        destroyed.add(new WeakReference<>(object));
    }

    private long kept() {
        return destroyed.stream().filter(reference -> reference.get() != null).count();
    }

    private void expectNothingKept() {
        for (int i = 0; i < COLLECTIONS && kept() > 0; i++) {
            System.gc();
        }
        assertThat(kept()).as("objects kept of %d destroyed", destroyed.size()).isZero();
    }

    @Test
    void simpleObjects() {
        AddressVector vector = AddressVector.to(b.qp.endpoint().gid());
        churn(a.context::allocateProtectionDomain);
        churn(() -> a.domain.register(a.memory));
        churn(() -> a.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2));
        churn(() -> a.domain.createAddressHandle(vector));
        churn(a.context::openXrcDomain);
        churn(a.context::createCompletionChannel);
        churn(() -> a.context.createCompletionQueue(4));
        expectNothingKept();
    }

    @Test
    void queuesThatWereArmed() {
        try (CompletionChannel channel = a.context.createCompletionChannel()) {
            churn(() -> {
                CompletionQueue queue = a.context.createCompletionQueue(4, channel);
                queue.requestNotify(false);
                return queue;
            });
            expectNothingKept();
        }
    }

    @Test
    void sharedReceiveQueues() {
        try (XrcDomain xrc = a.context.openXrcDomain()) {
            churn(() -> a.domain.createSharedReceiveQueue(SharedReceiveQueueOptions.of(4)));
            churn(() -> a.domain.createSharedReceiveQueue(
                    SharedReceiveQueueOptions.of(4).withXrc(xrc, a.cq)));
            churn(() -> a.domain.createQueuePair(QueuePairOptions.xrcTarget(xrc)));
            expectNothingKept();
        }
    }

    private QueuePair queuePair(TwoDevices.Side side, QueuePairOptions options) {
        return side.domain.createQueuePair(options.withQueueDepth(4, 4).withMaxSge(1, 1));
    }

    @Test
    void queuePairs() {
        churn(() -> queuePair(a, QueuePairOptions.uc(a.cq)));
        churn(() -> {
            QueuePair datagrams = queuePair(a, QueuePairOptions.ud(a.cq));
            datagrams.activate(1);
            return datagrams;
        });
        for (int i = 0; i < CYCLES; i++) {
            QueuePair one = queuePair(a, QueuePairOptions.rc(a.cq));
            QueuePair other = queuePair(b, QueuePairOptions.rc(b.cq));
            TwoDevices.connect(one, other, new QueuePairAttributes());
            destroy(one);
            destroy(other);
        }
        expectNothingKept();
    }

    /** They are destroyed with work under way, timers armed, and waiting for room on the path. */
    @Test
    void busyQueuePairs() {
        List<QueuePair> busy = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            QueuePair one = queuePair(a, QueuePairOptions.rc(a.cq));
            // Nobody has this number: nothing is answered.
            one.connect(b.qp.endpoint());
            busy.add(one);
        }
        for (int n = 0; n < 4; n++) {
            busy.forEach(queuePair -> queuePair.postSend(1, a.region, 0, 60_000, SendFlags.SIGNALED));
        }
        while (!busy.isEmpty()) {
            destroy(busy.removeLast());
        }
        expectNothingKept();
    }

    @Test
    void wholeDomains() {
        for (int i = 0; i < CYCLES / 10; i++) {
            ProtectionDomain domain = a.context.allocateProtectionDomain();
            CompletionQueue queue = a.context.createCompletionQueue(4);
            QueuePair queuePair = domain.createQueuePair(QueuePairOptions.rc(queue));
            destroy(queuePair);
            destroy(queue);
            destroy(domain);
        }
        expectNothingKept();
    }
}
