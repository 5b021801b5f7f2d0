// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionStatus;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A peer that disappears ends each queue pair with one failed completion, in bounded time. */
class PeerGoneTest {
    /** Generous for a busy machine; what is usual is far less. */
    private static final Duration BOUND = Duration.ofSeconds(15);

    @Test
    void twoProcessesMoveDataAndAKillEndsBusyAndIdleQueuePairs() throws IOException, InterruptedException {
        PeerProcess peer = new PeerProcess();
        try (TwoDevices devices = new TwoDevices()) {
            TwoDevices.Side side = devices.a;
            QueuePair busy = side.keep(side.domain.createQueuePair(side.options()));
            QueuePair idle = side.keep(side.domain.createQueuePair(side.options()));
            peer.connect(List.of(busy, idle));
            for (long i = 0; i < 1 << 18; i += 8) {
                side.memory.set(JAVA_LONG, i, i * 0x9E3779B97F4A7C15L);
            }
            busy.postWrite(1, side.region, 0, 1 << 18, peer.address, peer.rkey, SendFlags.SIGNALED);
            busy.postRead(2, side.region, 1 << 19, 1 << 18, peer.address, peer.rkey, SendFlags.SIGNALED);
            side.next().orThrow();
            side.next().orThrow();
            assertThat(side.memory.asSlice(1 << 19, 1 << 18).mismatch(side.memory.asSlice(0, 1 << 18)))
                    .isEqualTo(-1);
            idle.postWrite(3, side.region, 0, 8, peer.address, peer.rkey, SendFlags.SIGNALED);
            side.next().orThrow();

            long posted = 100;
            for (int i = 0; i < 100; i++) {
                busy.postWrite(posted++, side.region, 0, 1 << 20, peer.address, peer.rkey, SendFlags.SIGNALED);
            }
            peer.kill();
            assertOneFailureThenFlushes(side, busy, 100, 100);
            assertThat(idle.state()).as("it does not know yet").isEqualTo(QueuePairState.RTS);

            idle.postWrite(1000, side.region, 0, 8, peer.address, peer.rkey, SendFlags.NONE);
            assertOneFailureThenFlushes(side, idle, 1000, 1);
            // The device itself is well.
            devices.a.qp.postWrite(
                    5, side.region, 0, 8, devices.b.region.address(), devices.b.region.rkey(), SendFlags.SIGNALED);
            side.next().orThrow();
        } finally {
            peer.kill();
        }
    }

    /**
     * Of {@code count} requests some succeed, one fails because the peer is gone, the rest is flushed; all in order.
     */
    private static void assertOneFailureThenFlushes(TwoDevices.Side side, QueuePair qp, long first, int count)
            throws InterruptedException {
        WorkCompletion completion = new WorkCompletion();
        int failures = 0;
        for (int i = 0; i < count; i++) {
            assertThat(side.cq.await(completion, BOUND)).as("completion %d", i).isTrue();
            assertThat(completion.wrId()).isEqualTo(first + i);
            if (completion.status() == WorkCompletionStatus.RETRY_EXC_ERR) {
                failures++;
            } else {
                assertThat(completion.status())
                        .isEqualTo(failures == 0 ? WorkCompletionStatus.SUCCESS : WorkCompletionStatus.WR_FLUSH_ERR);
            }
        }
        assertThat(failures).isEqualTo(1);
        assertThat(qp.state()).isEqualTo(QueuePairState.ERR);
        assertThat(side.cq.await(completion, Duration.ofMillis(200)))
                .as("a completion too many")
                .isFalse();
    }

    @Test
    void aPeerWhoseDeviceIsClosedEndsFasterThanAllRetries() throws InterruptedException {
        try (TwoDevices devices = new TwoDevices()) {
            // Retries alone would take 8 * 4.096 us * 2^19 = 17 s.
            devices.reconnect(new QueuePairAttributes().timeout(19));
            devices.b.close();
            long start = System.nanoTime();
            devices.a.qp.postWrite(1, devices.a.region, 0, 8, 4096, 1, SendFlags.SIGNALED);
            assertThat(devices.a.next().status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
            long milliseconds = (System.nanoTime() - start) / 1_000_000;
            System.out.println("unreachable after " + milliseconds + " ms");
            if (System.getProperty("os.name").equals("Linux")) {
                assertThat(milliseconds).isLessThan(8_000);
                assertThat(devices.a.context.counters().get("unreachable_reports"))
                        .isPositive();
            }
        }
    }

    @Test
    void aPeerThatTakesEverythingAndAnswersNothingEndsWithAllRetries() throws Exception {
        DeviceContext probe = TwoDevices.openFree();
        String silent = probe.device().name().substring("rocev2:".length());
        probe.close();
        try (TwoDevices devices = new TwoDevices()) {
            try (DatagramSocket sink = new DatagramSocket(new InetSocketAddress(silent, 4791))) {
                assertThat(sink.isBound()).isTrue();
                QueuePair qp = devices.a.keep(devices.a.domain.createQueuePair(devices.a.options()));
                var nobody = new io.verbena.verbs.QueuePairEndpoint(
                        0, 0x123456, 7, io.verbena.verbs.Gid.of(sink.getLocalAddress()));
                qp.connect(nobody, new QueuePairAttributes().timeout(12).retryCount(3));
                long start = System.nanoTime();
                qp.postWrite(1, devices.a.region, 0, 8, 4096, 1, SendFlags.SIGNALED);
                qp.postSend(2, devices.a.region, 0, 8, SendFlags.SIGNALED);
                assertThat(devices.a.next().status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
                // 4 * 4.096 us * 2^12
                assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(4L * (4_096 << 12));
                assertThat(devices.a.next().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
                assertThat(devices.a.context.counters().get("timeouts")).isEqualTo(4);
            }
        }
    }

    @Test
    void aPeerWhoseQueuePairIsClosedEndsWithAllRetries() throws InterruptedException {
        try (TwoDevices devices = new TwoDevices()) {
            devices.reconnect(new QueuePairAttributes().timeout(10).retryCount(2));
            devices.b.qp.close();
            devices.a.qp.postWrite(1, devices.a.region, 0, 8, 4096, 1, SendFlags.SIGNALED);
            assertThat(devices.a.next().status()).isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
            assertThat(devices.b.context.counters().get("drop.no_queue_pair")).isEqualTo(3);
        }
    }
}
