// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.UnaryOperator;

/**
 * Two software devices on free loopback addresses, each with a domain, a queue, 1 MiB of memory and a connected queue
 * pair.
 */
final class TwoDevices implements AutoCloseable {
    static final AccessFlag[] ALL = {
        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC
    };
    static final Duration TIMEOUT = Duration.ofSeconds(20);

    final Side a;
    final Side b;

    TwoDevices() {
        this(1 << 20);
    }

    TwoDevices(long bytes) {
        a = new Side(bytes);
        b = new Side(bytes);
        connect();
    }

    void connect() {
        connect(new QueuePairAttributes());
    }

    /** Connects both queue pairs, from RESET, with these attributes in place of the usual values. */
    void connect(QueuePairAttributes overrides) {
        connect(a.qp, b.qp, overrides);
    }

    static void connect(QueuePair one, QueuePair other, QueuePairAttributes overrides) {
        one.connect(other.endpoint(), overrides);
        other.connect(one.endpoint(), overrides);
    }

    /** New queue pairs in place of both, not connected. */
    void replaceQueuePairs(UnaryOperator<QueuePairOptions> options) {
        a.replaceQueuePair(options.apply(a.options()));
        b.replaceQueuePair(options.apply(b.options()));
    }

    /** Moves queue pairs from any state through RESET to RTS. */
    void reconnect(QueuePairAttributes overrides) {
        a.qp.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        b.qp.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        connect(overrides);
    }

    static final class Side implements AutoCloseable {
        final DeviceContext context = openFree();
        final ProtectionDomain domain = context.allocateProtectionDomain();
        final CompletionQueue cq = context.createCompletionQueue(4096);
        final MemorySegment memory;
        MemoryRegion region;
        final WorkCompletion completion = new WorkCompletion();
        private final Deque<AutoCloseable> kept = new ArrayDeque<>();
        private boolean abandoned;
        QueuePair qp;

        Side(long bytes) {
            memory = Arena.ofAuto().allocate(bytes, 64);
            region = domain.register(memory, ALL);
            qp = domain.createQueuePair(options());
        }

        /** The next completion, whatever its status. */
        WorkCompletion next() throws InterruptedException {
            assertThat(cq.await(completion, TIMEOUT)).as("a completion in time").isTrue();
            return completion;
        }

        /** Closes it before the rest of this side, the newest first. */
        <T extends AutoCloseable> T keep(T closeable) {
            kept.push(closeable);
            return closeable;
        }

        /** Leaves the device open for the rest of the test run: an object of it was lost and can never be closed. */
        void abandon() {
            abandoned = true;
        }

        QueuePairOptions options() {
            return QueuePairOptions.rc(cq).withMaxSge(32, 32);
        }

        /** Puts this side's queue pair in the place of one made with other options; the caller connects it. */
        QueuePair replaceQueuePair(QueuePairOptions options) {
            qp.close();
            qp = domain.createQueuePair(options);
            return qp;
        }

        @Override
        @SuppressWarnings("try")
        public void close() {
            while (!kept.isEmpty()) {
                try {
                    kept.pop().close();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
            qp.close();
            if (abandoned) {
                return;
            }
            region.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    static DeviceContext openFree() {
        for (int attempt = 0; ; attempt++) {
            String address = TestAddresses.free().getHostAddress();
            try {
                return Devices.open("rocev2:" + address);
            } catch (RdmaException e) {
                if (attempt == 20 || e.reason() != RdmaException.Reason.ADDRESS_IN_USE) {
                    throw e;
                }
            }
        }
    }

    @Override
    public void close() {
        a.close();
        b.close();
    }
}
