// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Each side WRITEs into the other's memory and watches its own for the last byte to change; no completion tells the
 * receiver. The byte counts the messages.
 */
final class WriteLatency extends LatencyRun {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    /** How often the watch for the byte looks at anything else. */
    private static final int SPINS_PER_LOOK = 64;

    private final MemorySegment memory;
    private final long watched;
    private final long sent;

    WriteLatency(PerfContext context, int size, Patience patience) {
        super(context, size, patience);
        memory = context.memory();
        watched = context.receiveOffset(0) + size - 1;
        sent = context.sendOffset(0) + size - 1;
    }

    @Override
    void exchange() throws InterruptedException {
        timer().start();
        long posted = 0;
        long received = 0;
        while (timer().goesOn(posted) || timer().goesOn(received)) {
            // It is the server that starts, as in perftest; the client is ready for it since the last handshake.
            boolean first = posted == 0 && !parameters().client();
            if (timer().goesOn(received) && !first && !watch((byte) ++received)) {
                return;
            }
            if (timer().goesOn(posted)) {
                timer().posting();
                BYTE.setRelease(memory, sent, (byte) ++posted);
                post(posted);
                if (!await(context().sendQueue(), "RDMA_Write")) {
                    return;
                }
            }
        }
    }

    private boolean watch(byte expected) throws InterruptedException {
        int spins = 0;
        while ((byte) BYTE.getAcquire(memory, watched) != expected) {
            // Nothing of this side is under way, so there is nothing to take here; but polling lets the device work on
            // this thread.
            if (context().sendQueue().poll(completion())) {
                patience().checked(completion(), "RDMA_Write");
            }
            if (++spins % SPINS_PER_LOOK == 0 && timer().isOver()) {
                return false;
            }
            patience().pause();
        }
        patience().progressed();
        return true;
    }
}
