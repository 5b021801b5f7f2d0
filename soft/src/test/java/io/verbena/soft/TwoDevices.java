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
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Two software devices on free loopback addresses, each with a domain, a queue, 1 MiB of memory and a connected queue pair. */
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
        a.qp.connect(b.qp.endpoint());
        b.qp.connect(a.qp.endpoint());
    }

    static final class Side implements AutoCloseable {
        final DeviceContext context = openFree();
        final ProtectionDomain domain = context.allocateProtectionDomain();
        final CompletionQueue cq = context.createCompletionQueue(4096);
        final MemorySegment memory;
        final MemoryRegion region;
        final WorkCompletion completion = new WorkCompletion();
        QueuePair qp;

        Side(long bytes) {
            memory = Arena.ofAuto().allocate(bytes, 64);
            region = domain.register(memory, ALL);
            qp = domain.createQueuePair(QueuePairOptions.rc(cq).withMaxSge(32, 32));
        }

        /** The next completion, whatever its status. */
        WorkCompletion next() throws InterruptedException {
            assertThat(cq.await(completion, TIMEOUT)).as("a completion in time").isTrue();
            return completion;
        }

        @Override
        public void close() {
            qp.close();
            region.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    static DeviceContext openFree() {
        for (int attempt = 0; ; attempt++) {
            String address = "127." + ThreadLocalRandom.current().nextInt(64, 250) + "."
                    + ThreadLocalRandom.current().nextInt(1, 250) + "."
                    + ThreadLocalRandom.current().nextInt(1, 250);
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
