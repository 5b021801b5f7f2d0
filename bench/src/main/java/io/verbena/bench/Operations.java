// SPDX-License-Identifier: Apache-2.0
package io.verbena.bench;

import io.verbena.verbs.SendFlags;
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
 * One operation from posting to its polled completion, over RoCE v2 on loopback: the time is a whole round trip. With
 * {@code -prof gc} it shows what an operation allocates, on all threads of both devices.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class Operations {
    private static final int SMALL = 8;
    private static final int LARGE = 64 << 10;

    private Loopback loopback;
    private long remote;
    private int rkey;

    /** Opens both devices. */
    @Setup(Level.Trial)
    public void open() {
        loopback = new Loopback(1 << 20);
        remote = loopback.target.region.address();
        rkey = loopback.target.region.rkey();
    }

    /** Closes them. */
    @TearDown(Level.Trial)
    public void close() {
        loopback.close();
    }

    /** WRITE of 8 bytes. */
    @Benchmark
    public void write8() {
        loopback.initiator.queuePair.postWrite(
                1, loopback.initiator.region, 0, SMALL, remote, rkey, SendFlags.SIGNALED);
        loopback.awaitCompletion();
    }

    /** WRITE of 64 KiB. */
    @Benchmark
    public void write64k() {
        loopback.initiator.queuePair.postWrite(
                1, loopback.initiator.region, 0, LARGE, remote, rkey, SendFlags.SIGNALED);
        loopback.awaitCompletion();
    }

    /** READ of 8 bytes. */
    @Benchmark
    public void read8() {
        loopback.initiator.queuePair.postRead(1, loopback.initiator.region, 0, SMALL, remote, rkey, SendFlags.SIGNALED);
        loopback.awaitCompletion();
    }

    /** READ of 64 KiB. */
    @Benchmark
    public void read64k() {
        loopback.initiator.queuePair.postRead(1, loopback.initiator.region, 0, LARGE, remote, rkey, SendFlags.SIGNALED);
        loopback.awaitCompletion();
    }

    /** FETCH_ADD. */
    @Benchmark
    public void fetchAdd() {
        loopback.initiator.queuePair.postFetchAndAdd(
                1,
                loopback.initiator.region.address(),
                loopback.initiator.region.lkey(),
                remote,
                rkey,
                1,
                SendFlags.SIGNALED);
        loopback.awaitCompletion();
    }

    /** SEND of 8 bytes into a receive posted before. */
    @Benchmark
    public void send8() {
        loopback.target.queuePair.postReceive(1, loopback.target.region, 0, SMALL);
        loopback.initiator.queuePair.postSend(1, loopback.initiator.region, 0, SMALL, SendFlags.SIGNALED);
        loopback.awaitCompletion();
        while (!loopback.target.completions.poll(loopback.completion)) {
            Thread.onSpinWait();
        }
    }
}
