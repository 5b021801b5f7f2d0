// SPDX-License-Identifier: Apache-2.0
package io.verbena.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The floor under {@link Operations}: the same bytes as plain datagrams, answered by a thread that spins, without any
 * protocol.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class RawUdp {
    /** An 8-byte WRITE on the wire: BTH 12, RETH 16, payload 8, ICRC 4. */
    private static final int WRITE8_BYTES = 40;

    private static final int SEGMENTS_64K = 16;
    private static final int SEGMENT_BYTES = 4096 + 16;

    private DatagramChannel near;
    private DatagramChannel far;
    private SocketAddress farAddress;
    private Thread echo;
    private ByteBuffer out;
    private ByteBuffer in;
    private volatile int expected = 1;

    /** Opens two channels and starts the thread that answers. */
    @Setup(Level.Trial)
    public void open() throws IOException {
        near = channel("127.91.0.3");
        far = channel("127.91.0.4");
        farAddress = far.getLocalAddress();
        out = ByteBuffer.allocateDirect(SEGMENT_BYTES);
        in = ByteBuffer.allocateDirect(1 << 16);
        echo = Thread.ofPlatform().daemon().start(this::answer);
    }

    private static DatagramChannel channel(String address) throws IOException {
        DatagramChannel channel = DatagramChannel.open();
        channel.bind(new InetSocketAddress(address, 0));
        channel.configureBlocking(false);
        return channel;
    }

    /** Answers with 20 bytes, as long as an ACK, whenever the expected number of datagrams has arrived. */
    private void answer() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 16);
        int got = 0;
        try {
            while (true) {
                buffer.clear();
                SocketAddress from = far.receive(buffer);
                if (from != null && ++got >= expected) {
                    got = 0;
                    buffer.clear().limit(20);
                    far.send(buffer, from);
                }
            }
        } catch (ClosedChannelException e) {
            // The benchmark is over.
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Closes the channels, which ends the thread. */
    @TearDown(Level.Trial)
    public void close() throws IOException, InterruptedException {
        near.close();
        far.close();
        echo.join();
    }

    /** As {@link Operations#write8}. */
    @Benchmark
    public void write8() throws IOException {
        exchange(1, WRITE8_BYTES);
    }

    /** As {@link Operations#write64k}, all segments at once. */
    @Benchmark
    public void write64k() throws IOException {
        exchange(SEGMENTS_64K, SEGMENT_BYTES);
    }

    private void exchange(int datagrams, int bytes) throws IOException {
        if (expected != datagrams) {
            expected = datagrams;
        }
        for (int i = 0; i < datagrams; i++) {
            out.clear().limit(bytes);
            near.send(out, farAddress);
        }
        do {
            in.clear();
        } while (near.receive(in) == null);
    }
}
