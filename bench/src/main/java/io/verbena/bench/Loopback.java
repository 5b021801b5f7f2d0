// SPDX-License-Identifier: Apache-2.0
package io.verbena.bench;

import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Devices;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Two software devices of this process, connected. The second one's application does nothing. */
final class Loopback implements AutoCloseable {
    private static final AccessFlag[] ALL = {
        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC
    };
    private static final int CQ_ENTRIES = 1024;

    final End initiator;
    final End target;
    final WorkCompletion completion = new WorkCompletion();

    Loopback(long bytes) {
        initiator = new End("rocev2:127.91.0.1", bytes);
        target = new End("rocev2:127.91.0.2", bytes);
        initiator.queuePair.connect(target.queuePair.endpoint());
        target.queuePair.connect(initiator.queuePair.endpoint());
    }

    /** Polls until a completion is there, and checks it. */
    void awaitCompletion() {
        while (!initiator.completions.poll(completion)) {
            Thread.onSpinWait();
        }
        completion.orThrow();
    }

    @Override
    public void close() {
        initiator.close();
        target.close();
    }

    static final class End implements AutoCloseable {
        final DeviceContext context;
        final ProtectionDomain domain;
        final CompletionQueue completions;
        final MemorySegment memory;
        final MemoryRegion region;
        final QueuePair queuePair;

        End(String device, long bytes) {
            context = Devices.open(device);
            domain = context.allocateProtectionDomain();
            completions = context.createCompletionQueue(CQ_ENTRIES);
            memory = Arena.ofAuto().allocate(bytes, 4096);
            region = domain.register(memory, ALL);
            queuePair = domain.createQueuePair(QueuePairOptions.rc(completions));
        }

        @Override
        public void close() {
            queuePair.close();
            region.close();
            completions.close();
            domain.close();
            context.close();
        }
    }
}
