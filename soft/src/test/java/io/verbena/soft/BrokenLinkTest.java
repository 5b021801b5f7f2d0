// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.link.DatagramLink;
import io.verbena.link.FrameHandler;
import io.verbena.link.LinkCapabilities;
import io.verbena.link.LocalAddress;
import io.verbena.link.UnreachableHandler;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceInfo;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import io.verbena.wire.Frame;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** What happens to a program when the socket under its device breaks. */
class BrokenLinkTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @Test
    void wakesThreadsThatSleepAndTellsThem() throws Exception {
        BreakableLink link = new BreakableLink();
        SoftContext context = SoftContext.over(
                link,
                new DeviceInfo("rocev2:127.0.0.1", "soft", "RoCE v2", "lo"),
                new LocalAddress(InetAddress.ofLiteral("127.0.0.1"), "lo", 65536, true, true));
        try (context) {
            CompletionChannel channel = context.createCompletionChannel();
            CompletionQueue queue = context.createCompletionQueue(4, channel);
            Sleeper onQueue = new Sleeper(() -> queue.await(new WorkCompletion(), LONG));
            Sleeper onChannel = new Sleeper(() -> channel.await(LONG));
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));

            link.broken = true;
            link.wakeup();

            onQueue.expectFailure();
            onChannel.expectFailure();
            assertThat(context.awaitAsyncEvent(LONG)).isInstanceOf(AsyncEvent.DeviceFatal.class);
            assertThatThrownBy(context::allocateProtectionDomain)
                    .isInstanceOfSatisfying(
                            RdmaException.class, e -> assertThat(e.reason()).isEqualTo(RdmaException.Reason.IO))
                    .hasMessageContaining("cable cut");
            queue.close();
            channel.close();
        }
    }

    @Test
    void endsAnAttemptToConnect() throws Exception {
        BreakableLink link = new BreakableLink();
        SoftContext context = SoftContext.over(
                link,
                new DeviceInfo("rocev2:127.0.0.1", "soft", "RoCE v2", "lo"),
                new LocalAddress(InetAddress.ofLiteral("127.0.0.1"), "lo", 65536, true, true));
        try (context;
                EventChannel channel = EventChannel.over(context)) {
            ConnectionId id = channel.createId(PortSpace.TCP);
            id.resolveAddress(null, new InetSocketAddress(context.localAddress(), 1), LONG);
            TwoIds.expect(channel, ConnectionEvent.AddressResolved.class);
            id.resolveRoute(LONG);
            TwoIds.expect(channel, ConnectionEvent.RouteResolved.class);
            id.connect(ConnectionParameters.defaults().withTimeout(Duration.ofDays(1)), 5, 1);

            link.broken = true;
            link.wakeup();

            TwoIds.expect(channel, ConnectionEvent.Unreachable.class);
            ConnectionId late = channel.createId(PortSpace.TCP);
            late.resolveAddress(null, new InetSocketAddress(context.localAddress(), 1), LONG);
            assertThat(TwoIds.expect(channel, ConnectionEvent.AddressFailed.class)
                            .cause())
                    .hasMessageContaining("cable cut");
        }
    }

    private interface Wait {
        Object await() throws Exception;
    }

    private static final class Sleeper {
        private final Thread thread;
        private volatile Exception end;

        Sleeper(Wait wait) throws InterruptedException {
            CountDownLatch started = new CountDownLatch(1);
            thread = Thread.ofPlatform().daemon().start(() -> {
                started.countDown();
                try {
                    wait.await();
                } catch (Exception e) {
                    end = e;
                }
            });
            started.await();
        }

        void expectFailure() throws InterruptedException {
            thread.join(LONG);
            assertThat(end).isInstanceOf(RdmaException.class).hasMessageContaining("cable cut");
        }
    }

    /** A link on which nothing ever arrives, until it breaks. */
    private static final class BreakableLink implements DatagramLink {
        volatile boolean broken;
        private volatile Thread waiting;

        private void check() throws IOException {
            if (broken) {
                throw new IOException("cable cut");
            }
        }

        @Override
        public LinkCapabilities capabilities() {
            return new LinkCapabilities(65536, false, false, true, false, 1);
        }

        @Override
        public int sourcePort(int flowHash) {
            return 0xc000;
        }

        @Override
        public int receive(FrameHandler handler, int framesMax) throws IOException {
            check();
            return 0;
        }

        @Override
        public boolean beginTransmit(Frame frame) {
            return false;
        }

        @Override
        public void commitTransmit(Frame frame) {}

        @Override
        public void flush() {}

        @Override
        public boolean transmitPending() {
            return false;
        }

        @Override
        public boolean await(long timeoutNanos) throws IOException {
            waiting = Thread.currentThread();
            LockSupport.parkNanos(Math.min(timeoutNanos, TimeUnit.MILLISECONDS.toNanos(20)));
            check();
            return false;
        }

        @Override
        public void wakeup() {
            LockSupport.unpark(waiting);
        }

        @Override
        public int pollUnreachable(UnreachableHandler handler) {
            return 0;
        }

        @Override
        public void close() {}
    }
}
