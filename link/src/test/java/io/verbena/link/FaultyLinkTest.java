// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static io.verbena.link.LinkTesting.LOCAL_A;
import static io.verbena.link.LinkTesting.LOCAL_B;
import static io.verbena.link.LinkTesting.SECOND;
import static io.verbena.link.LinkTesting.pattern;
import static io.verbena.link.LinkTesting.receive;
import static io.verbena.link.LinkTesting.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.link.LinkTesting.Received;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class FaultyLinkTest {
    private static final int FRAMES = 400;

    private static FaultOptions harsh(long seed) {
        return FaultOptions.seed(seed)
                .withLoss(0.1)
                .withDuplicate(0.1)
                .withReorder(0.1)
                .withCorrupt(0.1);
    }

    /** What arrives of frames sent one by one, so that the receiving side sees one sequence whatever the timing. */
    private static List<String> run(FaultOptions options, boolean atSender) throws IOException {
        try (DatagramLink plainA = NioDatagramLink.open(LOCAL_A, 0);
                NioDatagramLink plainB = NioDatagramLink.open(LOCAL_B, 0)) {
            DatagramLink a = atSender ? new FaultyLink(plainA, options) : plainA;
            DatagramLink b = atSender ? plainB : new FaultyLink(plainB, options);
            List<String> arrived = new ArrayList<>();
            for (int i = 0; i < FRAMES; i++) {
                send(a, pattern(100 + i, i), LOCAL_B, plainB.localPort());
                b.receive(
                        frame -> arrived.add(Arrays.toString(Received.of(frame).bytes())), 64);
            }
            a.await(0);
            while (b.await(50_000_000)) {
                b.receive(
                        frame -> arrived.add(Arrays.toString(Received.of(frame).bytes())), 64);
            }
            return arrived;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void seedReproducesFaults(boolean atSender) throws IOException {
        FaultOptions one = atSender ? harsh(7).transmitOnly() : harsh(7).receiveOnly();
        List<String> first = run(one, atSender);
        assertThat(run(one, atSender)).isEqualTo(first);
        FaultOptions other = atSender ? harsh(8).transmitOnly() : harsh(8).receiveOnly();
        assertThat(run(other, atSender)).isNotEqualTo(first);
        // Of 400 frames about 40 are lost and 36 doubled.
        assertThat(first.size()).isBetween(FRAMES - 60, FRAMES + 60);
    }

    @Test
    void noFaultsChangeNothing() throws IOException {
        List<String> arrived = run(FaultOptions.seed(1), true);
        assertThat(arrived).hasSize(FRAMES);
        for (int i = 0; i < FRAMES; i++) {
            assertThat(arrived.get(i)).isEqualTo(Arrays.toString(pattern(100 + i, i)));
        }
        assertThat(run(FaultOptions.seed(1), false)).isEqualTo(arrived);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void reorderLosesNothingNotEvenTheLastFrame(boolean atSender) throws IOException {
        List<String> arrived = run(FaultOptions.seed(3).withReorder(1.0), atSender);
        List<String> inOrder = new ArrayList<>();
        for (int i = 0; i < FRAMES; i++) {
            inOrder.add(Arrays.toString(pattern(100 + i, i)));
        }
        assertThat(arrived).isNotEqualTo(inOrder).containsExactlyInAnyOrderElementsOf(inOrder);
    }

    @Test
    void everyFaultIsCounted() throws IOException {
        try (NioDatagramLink plainA = NioDatagramLink.open(LOCAL_A, 0);
                NioDatagramLink b = NioDatagramLink.open(LOCAL_B, 0)) {
            FaultyLink a = new FaultyLink(plainA, harsh(11).transmitOnly());
            for (int i = 0; i < FRAMES; i++) {
                send(a, pattern(50, i), LOCAL_B, b.localPort());
            }
            a.await(0);
            long arrived =
                    receive(b, (int) (FRAMES - a.lost() + a.duplicated())).size();
            assertThat(arrived).isEqualTo(FRAMES - a.lost() + a.duplicated());
            assertThat(b.await(20_000_000)).isFalse();
            assertThat(a.lost()).isPositive();
            assertThat(a.duplicated()).isPositive();
            assertThat(a.reordered()).isPositive();
            assertThat(a.corrupted()).isPositive();
        }
    }

    @Test
    void corruptionFlipsOneBit() throws IOException {
        try (NioDatagramLink plainA = NioDatagramLink.open(LOCAL_A, 0);
                NioDatagramLink b = NioDatagramLink.open(LOCAL_B, 0)) {
            FaultyLink a = new FaultyLink(plainA, FaultOptions.seed(5).withCorrupt(1));
            for (int i = 0; i < 50; i++) {
                send(a, pattern(60 + i, i), LOCAL_B, b.localPort());
                byte[] arrived = receive(b, 1).getFirst().bytes();
                int bits = 0;
                for (int k = 0; k < arrived.length; k++) {
                    bits += Integer.bitCount((arrived[k] ^ pattern(60 + i, i)[k]) & 0xff);
                }
                assertThat(bits).isOne();
            }
        }
    }

    @Test
    void pollingOwnerGetsHeldFramesToo() throws IOException {
        try (NioDatagramLink plainA = NioDatagramLink.open(LOCAL_A, 0);
                NioDatagramLink plainB = NioDatagramLink.open(LOCAL_B, 0)) {
            FaultOptions options = FaultOptions.seed(2).withReorder(1);
            FaultyLink a = new FaultyLink(plainA, options);
            FaultyLink b = new FaultyLink(plainB, options);
            send(a, pattern(40, 1), LOCAL_B, plainB.localPort());
            int got = 0;
            long start = System.nanoTime();
            while (got == 0 && System.nanoTime() - start < 5 * SECOND) {
                a.receive(frame -> {}, 8);
                got = b.receive(frame -> {}, 8);
            }
            assertThat(got).isOne();
        }
    }

    @Test
    void ratesAreChecked() {
        assertThatThrownBy(() -> FaultOptions.seed(1).withLoss(1.5)).hasMessageContaining("loss");
        assertThatThrownBy(() -> FaultOptions.seed(1).withCorrupt(Double.NaN)).hasMessageContaining("corrupt");
    }
}
