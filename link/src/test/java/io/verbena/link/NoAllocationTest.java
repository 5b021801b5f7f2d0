// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import static io.verbena.link.LinkTesting.LOCAL_A;
import static io.verbena.link.LinkTesting.LOCAL_B;
import static io.verbena.link.LinkTesting.SECOND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.verbena.ffi.LinuxSockets;
import io.verbena.wire.Frame;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class NoAllocationTest {
    private static final int FRAMES = 100_000;
    private static final int ROUNDS_MAX = 6;

    private int received;

    private void onFrame(Frame frame) {
        received += frame.length() == 64 ? 1 : 0;
    }

    @Test
    @Timeout(60)
    void nioLinkAllocatesNothing() throws IOException {
        try (NioDatagramLink a = NioDatagramLink.open(LOCAL_A, 0);
                NioDatagramLink b = NioDatagramLink.open(LOCAL_B, 0)) {
            exchange(a, b);
        }
    }

    @Test
    @Timeout(60)
    void linuxLinkAllocatesNothing() throws IOException {
        assumeTrue(LinuxSockets.available(), "no native access");
        try (LinuxDatagramLink a = LinuxDatagramLink.open(LOCAL_A, 0);
                LinuxDatagramLink b = LinuxDatagramLink.open(LOCAL_B, 0)) {
            exchange(a, b);
        }
    }

    /** Steady state comes when the compiler is done, which on a busy machine can take more than one round. */
    private void exchange(UdpLink a, UdpLink b) throws IOException {
        double bytes = bytesPerFrame(a, b);
        for (int round = 1; bytes >= 1.0 && round < ROUNDS_MAX; round++) {
            bytes = bytesPerFrame(a, b);
        }
        assertThat(bytes).as("bytes allocated per frame").isLessThan(1.0);
    }

    private double bytesPerFrame(UdpLink a, UdpLink b) throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        FrameHandler handler = this::onFrame;
        UnreachableHandler unreachable = (high, low, port, errno) -> {};
        Frame frame = new Frame();
        long high = Addresses.high(LOCAL_B);
        long low = Addresses.low(LOCAL_B);
        received = 0;
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < FRAMES; i++) {
            while (!a.beginTransmit(frame)) {
                a.await(SECOND);
            }
            frame.length(64);
            frame.local(frame.localHigh(), frame.localLow(), a.sourcePort(5));
            frame.remote(high, low, b.localPort());
            frame.trafficClass(i & 0x80);
            a.commitTransmit(frame);
            a.flush();
            if ((i & 63) == 0) {
                b.wakeup();
                b.await(SECOND);
                a.pollUnreachable(unreachable);
            }
            b.receive(handler, 16);
        }
        long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(received).isEqualTo(FRAMES);
        return (double) bytes / FRAMES;
    }
}
