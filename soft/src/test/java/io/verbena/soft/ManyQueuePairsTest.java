// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Thousands of queue pairs share one socket: all connect, and each carries its own message, in both directions. */
class ManyQueuePairsTest {
    private static final int PAIRS = 10_000;

    private final TwoDevices devices = new TwoDevices();

    @AfterEach
    void close() {
        devices.close();
    }

    @Test
    void tenThousandConnectionsCarryAMessageEachWay() throws InterruptedException {
        End a = new End(devices.a);
        End b = new End(devices.b);
        for (int i = 0; i < PAIRS; i++) {
            a.create();
            b.create();
            TwoDevices.connect(a.queuePairs.get(i), b.queuePairs.get(i), new QueuePairAttributes());
        }
        // All are posted before any is polled, many more than the path has room for.
        for (int i = 0; i < PAIRS; i++) {
            a.send(i, 0x0a00_0000 + i);
            b.send(i, 0x0b00_0000 + i);
        }
        a.expectAll(0x0b00_0000);
        b.expectAll(0x0a00_0000);
        a.close();
        b.close();
    }

    /** Queue pair i sends from words 2i of its side's memory and receives into word 2i + 1. */
    private static final class End {
        private final TwoDevices.Side side;
        private final CompletionQueue completions;
        private final List<QueuePair> queuePairs = new ArrayList<>();

        End(TwoDevices.Side side) {
            this.side = side;
            completions = side.context.createCompletionQueue(2 * PAIRS);
        }

        void create() {
            queuePairs.add(side.domain.createQueuePair(
                    QueuePairOptions.rc(completions).withQueueDepth(1, 1).withMaxSge(1, 1)));
        }

        void send(int i, int text) {
            side.memory.set(ValueLayout.JAVA_INT, 8L * i, text);
            QueuePair queuePair = queuePairs.get(i);
            queuePair.postReceive(i, side.region, 8L * i + 4, 4);
            queuePair.postSend(i, side.region, 8L * i, 4, SendFlags.SIGNALED);
        }

        void expectAll(int text) throws InterruptedException {
            boolean[] sent = new boolean[PAIRS];
            boolean[] received = new boolean[PAIRS];
            WorkCompletion completion = new WorkCompletion();
            for (int n = 0; n < 2 * PAIRS; n++) {
                assertThat(completions.await(completion, TwoDevices.TIMEOUT))
                        .as("completion %d", n)
                        .isTrue();
                int i = (int) completion.wrId();
                boolean receive = completion.opcode() == WorkCompletionOpcode.RECV;
                boolean[] seen = receive ? received : sent;
                assertThat(completion.isSuccess()).as("%s", completion).isTrue();
                assertThat(completion.qpNumber()).isEqualTo(queuePairs.get(i).qpNumber());
                assertThat(seen[i]).as("completed twice: %d", i).isFalse();
                seen[i] = true;
                if (receive) {
                    assertThat(side.memory.get(ValueLayout.JAVA_INT, 8L * i + 4))
                            .isEqualTo(text + i);
                }
            }
            assertThat(completions.poll(completion)).as("one more completion").isFalse();
        }

        void close() {
            queuePairs.forEach(QueuePair::close);
            completions.close();
        }
    }
}
