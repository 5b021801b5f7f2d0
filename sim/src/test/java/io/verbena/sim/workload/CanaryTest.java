// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.sim.FaultPlan;
import io.verbena.sim.SimFrame;
import io.verbena.wire.ib.Opcode;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Plants faults that no requester and responder can repair, to prove that the checkers see them. */
class CanaryTest {
    private static final ValueLayout.OfInt NET_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int PSN_OFFSET = 8;

    /** Under a fresh PSN and with a right ICRC it is a new request for the responder, which nobody waits for. */
    @Test
    void anAtomicCarriedOutTwiceIsCaught() {
        int caught = 0;
        for (long seed = 0; seed < 20; seed++) {
            boolean[] planted = {false};
            Verdict verdict = simulate(seed, 1, frame -> frame.opcode() == Opcode.RC_FETCH_ADD, frame -> {
                planted[0] = true;
                sendAgainAsNew(frame);
            });
            if (planted[0]) {
                caught++;
                assertThat(verdict.failure()).contains("an atomic operation was lost or carried out twice");
            } else {
                assertThat(verdict.failure()).isNull();
            }
        }
        assertThat(caught).isPositive();
    }

    @Test
    void aByteChangedUnderARightChecksumIsCaught() {
        Verdict verdict = simulate(1, 400, frame -> frame.opcode() == Opcode.RC_WRITE_MIDDLE, frame -> {
            long last = frame.offset() + frame.length() - 5;
            byte old = frame.buffer().get(ValueLayout.JAVA_BYTE, last);
            frame.buffer().set(ValueLayout.JAVA_BYTE, last, (byte) ~old);
            frame.reseal();
        });
        assertThat(verdict.failure()).contains("memory written by flow", "must be 0x");
    }

    @Test
    void aByteOfAConnectionsMessageChangedUnderARightChecksumIsCaught() {
        Verdict verdict = new Simulation(1, Workload.CM, FaultPlan.none(), 20)
                .intercept(frame -> {
                    if (frame.opcode() == Opcode.RC_SEND_ONLY) {
                        long last = frame.offset() + frame.length() - 5;
                        byte old = frame.buffer().get(ValueLayout.JAVA_BYTE, last);
                        frame.buffer().set(ValueLayout.JAVA_BYTE, last, (byte) ~old);
                        frame.reseal();
                    }
                })
                .run();
        assertThat(verdict.failure()).contains("the message of attempt 0 is wrong");
    }

    private static Verdict simulate(long seed, int operations, Predicate<SimFrame> which, Consumer<SimFrame> fault) {
        return new Simulation(seed, Workload.RC, FaultPlan.none(), operations)
                .intercept(frame -> {
                    if (which.test(frame)) {
                        fault.accept(frame);
                    }
                })
                .run();
    }

    private static void sendAgainAsNew(SimFrame frame) {
        int psn = frame.psn();
        setPsn(frame, psn + 1 & 0xffffff);
        frame.reseal();
        frame.sendCopy(1);
        setPsn(frame, psn);
        frame.reseal();
    }

    private static void setPsn(SimFrame frame, int psn) {
        long at = frame.offset() + PSN_OFFSET;
        int old = frame.buffer().get(NET_INT, at);
        frame.buffer().set(NET_INT, at, (old & 0xff000000) | psn);
    }
}
