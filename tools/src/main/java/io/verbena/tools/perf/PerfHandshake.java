// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.sideband.Sideband;
import io.verbena.verbs.Mtu;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * perftest's protocol, over TCP or a connection of the connection manager. In every step the client writes and then
 * reads, the server reads and then writes; each message is of known length (perftest 4.5, perftest_communication.c).
 */
final class PerfHandshake {
    /** What Debian 12's perftest announces. From 6.28 on a peer would negotiate parameters; below 5.70 it refuses. */
    static final String VERSION = "6.06";

    static final int VERSION_BYTES = 16;
    static final int PAGE_BYTES = 4096;
    static final int CACHE_LINE_BYTES = 64;

    private static final double OLDEST_VERSION = 5.70;
    private static final int MTU_BYTES = 2;
    private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);
    /** perftest itself sleeps a second after it has connected. */
    private static final Duration TIMEOUT = Duration.ofSeconds(15);
    /** What a peer may ask its buffers' unit to be; more would be a way to make this side allocate. */
    private static final int LARGEST_PAGE = 1 << 20;

    private static final int LARGEST_CACHE_LINE = 4096;

    private final Sideband sideband;
    private final boolean client;
    private final DestinationForm form;

    /** The greater of what both sides have. */
    record Geometry(int pageBytes, int cacheLineBytes) {}

    PerfHandshake(Sideband sideband, boolean client, DestinationForm form) {
        this.sideband = sideband;
        this.client = client;
        this.form = form;
    }

    /** Announces this version and checks the peer's. */
    String versions() throws InterruptedException {
        byte[] mine = Arrays.copyOf(VERSION.getBytes(StandardCharsets.US_ASCII), VERSION_BYTES);
        byte[] theirs = exchange(mine, "its version", TIMEOUT);
        int end = 0;
        while (end < theirs.length && theirs[end] != 0) {
            end++;
        }
        String version = new String(theirs, 0, end, StandardCharsets.ISO_8859_1);
        if (!version.matches("\\d{1,3}\\.\\d{1,6}")) {
            throw foreign("announced no version");
        }
        if (Double.parseDouble(version) < OLDEST_VERSION) {
            throw new CommandFailure("the peer at " + sideband.peer() + " is perftest " + version + "; "
                    + OLDEST_VERSION + "0 is the oldest one that this version works with");
        }
        return version;
    }

    Geometry geometry() throws InterruptedException {
        int page = exchangeInt(PAGE_BYTES, "its page size");
        int cacheLine = exchangeInt(CACHE_LINE_BYTES, "its cache line size");
        if (page < 1 || page > LARGEST_PAGE || cacheLine < 1 || cacheLine > LARGEST_CACHE_LINE) {
            throw foreign("told a page size of " + page + " and a cache line of " + cacheLine + " bytes");
        }
        return new Geometry(Math.max(page, PAGE_BYTES), Math.max(cacheLine, CACHE_LINE_BYTES));
    }

    /** The smaller of both sides' MTUs. */
    Mtu mtu(Mtu mine) throws InterruptedException {
        byte[] theirs = exchange(new byte[] {(byte) ('0' + mine.code()), 0}, "its MTU", TIMEOUT);
        int code = theirs[0] - '0';
        if (theirs.length != MTU_BYTES || code < 1 || code > Mtu.MTU_4096.code()) {
            throw foreign("told an MTU code of " + code);
        }
        return Mtu.ofCode(Math.min(code, mine.code()));
    }

    /** Tells about queue pairs; the same exchange again and again keeps the two sides in step. */
    PerfDestination destination(PerfDestination mine) throws InterruptedException {
        return destination(mine, TIMEOUT);
    }

    /** As {@link #destination}, but waits as long as the peer is there: until its run is over. */
    PerfDestination awaitPeer(PerfDestination mine) throws InterruptedException {
        return destination(mine, null);
    }

    private PerfDestination destination(PerfDestination mine, @Nullable Duration timeout) throws InterruptedException {
        byte[] theirs = exchange(form.encode(mine), "its queue pair", timeout);
        try {
            return form.decode(theirs);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(notPerftest("described no queue pair") + " (" + e.getMessage() + ")", e);
        }
    }

    /** Swaps the results of both sides. */
    BandwidthReport reports(BandwidthReport mine) throws InterruptedException {
        long size = exchangeLong(mine.size());
        long iterations = exchangeLong(mine.iterations());
        double peak = Double.longBitsToDouble(exchangeLong(Double.doubleToRawLongBits(mine.peak())));
        double average = Double.longBitsToDouble(exchangeLong(Double.doubleToRawLongBits(mine.average())));
        double rate = Double.longBitsToDouble(exchangeLong(Double.doubleToRawLongBits(mine.messageRate())));
        return new BandwidthReport(size, iterations, peak, average, rate, 0);
    }

    /** Ends the test on both sides; the last word is the server's. */
    void close(PerfDestination mine) throws InterruptedException {
        awaitPeer(mine);
        if (form == DestinationForm.TEXT) {
            sideband.send(DONE);
        }
        if (client) {
            sideband.finish();
        } else {
            sideband.finishFirst();
        }
    }

    private int exchangeInt(int mine, String what) throws InterruptedException {
        byte[] theirs = exchange(ByteBuffer.allocate(Integer.BYTES).putInt(mine).array(), what, TIMEOUT);
        return ByteBuffer.wrap(theirs).getInt();
    }

    private long exchangeLong(long mine) throws InterruptedException {
        byte[] theirs = exchange(ByteBuffer.allocate(Long.BYTES).putLong(mine).array(), "its result", TIMEOUT);
        return ByteBuffer.wrap(theirs).getLong();
    }

    private byte[] exchange(byte[] mine, String what, @Nullable Duration timeout) throws InterruptedException {
        if (client) {
            sideband.send(mine);
            return sideband.receive(mine.length, what, timeout);
        }
        byte[] theirs = sideband.receive(mine.length, what, timeout);
        sideband.send(mine);
        return theirs;
    }

    private CommandFailure foreign(String what) {
        return new CommandFailure(notPerftest(what));
    }

    private String notPerftest(String what) {
        return "the peer at " + sideband.peer() + " does not speak perftest's protocol: it " + what
                + "; is the other end a perf test too, and is the port right?";
    }
}
