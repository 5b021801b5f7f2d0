// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static io.verbena.link.LinkTesting.LOCAL_A;
import static io.verbena.link.LinkTesting.LOCAL_B;
import static io.verbena.link.LinkTesting.SECOND;
import static io.verbena.link.LinkTesting.pattern;
import static io.verbena.link.LinkTesting.receive;
import static io.verbena.link.LinkTesting.trySend;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.link.LinkTesting.Received;
import io.verbena.wire.Frame;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class NioDatagramLinkTest extends UdpLinkContract {
    @Override
    UdpLink open(InetAddress local, int port, LinkOptions options) throws IOException {
        return NioDatagramLink.open(local, port, options);
    }

    @Test
    void burstThroughFullSocketsLosesNothing() throws IOException {
        AtomicInteger attempts = new AtomicInteger();
        try (NioDatagramLink b = NioDatagramLink.open(LOCAL_B, 0);
                NioDatagramLink a = new NioDatagramLink(LOCAL_A, 0, LinkOptions.defaults()) {
                    @Override
                    int transmit(DatagramChannel channel, ByteBuffer datagram, InetSocketAddress target)
                            throws IOException {
                        int attempt = attempts.incrementAndGet();
                        if (attempt % 7 == 0) {
                            throw new SocketException("No buffer space available");
                        }
                        return attempt % 3 == 0 ? 0 : super.transmit(channel, datagram, target);
                    }
                }) {
            Frame frame = new Frame();
            int sent = 0;
            int refused = 0;
            List<Received> arrived = new ArrayList<>();
            while (sent < 500) {
                if (trySend(a, frame, pattern(1000 + sent, sent), LOCAL_B, b.localPort(), sent)) {
                    sent++;
                } else {
                    refused++;
                    assertThat(a.transmitPending()).isTrue();
                    assertThat(a.await(SECOND)).isTrue();
                }
                b.receive(f -> arrived.add(Received.of(f)), 16);
            }
            while (a.transmitPending()) {
                a.await(SECOND);
                a.flush();
            }
            arrived.addAll(receive(b, 500 - arrived.size()));
            assertThat(refused).isPositive();
            assertThat(a.counters().backPressure()).isGreaterThan(100);
            assertThat(a.counters().framesSent()).isEqualTo(500);
            assertThat(arrived).hasSize(500);
            for (int i = 0; i < 500; i++) {
                assertThat(arrived.get(i).bytes()).isEqualTo(pattern(1000 + i, i));
            }
        }
    }
}
