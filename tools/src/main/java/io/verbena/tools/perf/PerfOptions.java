// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.ByteSize;
import io.verbena.tools.cli.MulticastGroup;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options, by perftest's letters, and the rules by which they fill each other in. */
final class PerfOptions {
    private static final int LARGE_MESSAGE = 8192;
    private static final int RECEIVE_DEPTH = 512;
    private static final int LOSSY_RECEIVE_DEPTH = 16_000;
    private static final int MIN_ITERATIONS = 5;
    private static final double RATE_MAX = 1e9;
    private static final long MAX_ITERATIONS = 100_000_000;

    /** What an atomic test does. */
    enum AtomicType {
        CMP_AND_SWAP,
        FETCH_AND_ADD
    }

    @Option(
            names = {"-c", "--connection"},
            paramLabel = "TYPE",
            defaultValue = "RC",
            description = "RC, UC (write and send) or UD (send), the same on both sides (default ${DEFAULT-VALUE}).")
    private Connection connection = Connection.RC;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "SIZE",
            converter = ByteSize.Converter.class,
            description = "Bytes of a message; default 64k for bandwidth (UD: the MTU), 2 for latency, 8 for atomics.")
    private @Nullable ByteSize size;

    @Option(
            names = {"-a", "--all"},
            description = "Run all sizes from 2 to 2^23 bytes (UD: to the MTU).")
    private boolean all;

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "ITERS",
            description = "Messages to exchange, at least 5; default 1000, 5000 for write-bw.")
    private @Nullable Long iterations;

    @Option(
            names = {"-D", "--duration"},
            paramLabel = "SECONDS",
            description = "Run for so long in place of a number of messages; give it on both sides.")
    private int duration;

    @Option(
            names = {"-q", "--qp"},
            paramLabel = "NUM",
            defaultValue = "1",
            description = "Queue pairs (bandwidth only, same on both sides; default ${DEFAULT-VALUE}).")
    private int queuePairs = 1;

    @Option(
            names = {"-o", "--outs"},
            paramLabel = "NUM",
            description = "READs or atomics outstanding; default: what the device can.")
    private int outstanding;

    @Option(
            names = {"-t", "--tx-depth"},
            paramLabel = "DEPTH",
            defaultValue = "128",
            description = "Messages under way of each queue pair (bandwidth only; default ${DEFAULT-VALUE}).")
    private int sendDepth = 128;

    @Option(
            names = {"-r", "--rx-depth"},
            paramLabel = "DEPTH",
            description = "Receives posted ahead (send tests only; default 512; UC and UD: all, up to 16000).")
    private @Nullable Integer receiveDepth;

    @Option(
            names = {"-Q", "--cq-mod"},
            paramLabel = "NUM",
            description = "Make a completion for every so manyth message; default 100, 1 above 8 KiB.")
    private int moderation;

    @Option(
            names = {"-m", "--mtu"},
            paramLabel = "MTU",
            description = "Path MTU, 256 to 4096; default: the active MTU.")
    private @Nullable Integer mtu;

    @Option(
            names = {"-b", "--bidirectional"},
            description = "Both sides send (bandwidth only).")
    private boolean bidirectional;

    @Option(
            names = {"-e", "--events"},
            description = "Sleep on completion events in place of polling.")
    private boolean events;

    @Option(
            names = {"-x", "--gid-index"},
            paramLabel = "INDEX",
            description = "Index of the local GID; default: the first of RoCE v2.")
    private @Nullable Integer gidIndex;

    @Option(
            names = {"-u", "--qp-timeout"},
            paramLabel = "CODE",
            defaultValue = "14",
            description = "Retransmission timeout, 4.096 us * 2^CODE (default ${DEFAULT-VALUE}).")
    private int timeout = 14;

    @Option(
            names = {"-I", "--inline_size"},
            paramLabel = "SIZE",
            description = "Copy messages of up to this size when they are posted (write and send; default 0).")
    private int inline;

    @Option(
            names = {"-A", "--atomic_type"},
            paramLabel = "TYPE",
            defaultValue = "FETCH_AND_ADD",
            description = "${COMPLETION-CANDIDATES} (default ${DEFAULT-VALUE}).")
    private AtomicType atomicType = AtomicType.FETCH_AND_ADD;

    @Option(
            names = "--rate_limit",
            paramLabel = "RATE",
            description = "Send no faster than this (bandwidth only), so that a slow receiver of UC or UD keeps up.")
    private double rate;

    @Option(
            names = "--rate_units",
            paramLabel = "UNIT",
            defaultValue = "G",
            description = "Of --rate_limit: m MiB/s, g Gbit/s, p messages/s (default ${DEFAULT-VALUE}).")
    private RateLimit.Unit rateUnit = RateLimit.Unit.G;

    @Option(
            names = {"-g", "--mcg"},
            description = "Send to a multicast group (send tests only; runs on UD).")
    private boolean multicast;

    @Option(
            names = {"-M", "--MGID"},
            paramLabel = "GROUP",
            converter = MulticastGroup.class,
            description = "The group that this side hears with -g: an address, or 16 numbers with colons.")
    private @Nullable Gid group;

    @Option(
            names = {"-R", "--rdma_cm"},
            description = "Connect with the connection manager (RC and UD), to ib_write_bw -R and its kin.")
    private boolean managed;

    @Option(
            names = {"-F", "--CPU-freq"},
            description = "Accepted and without effect, as times here do not come from the CPU's frequency.")
    @SuppressWarnings("UnusedVariable")
    private boolean cpuFrequency;

    /** Fills in the defaults, or throws {@link IllegalArgumentException} that says which options do not go together. */
    PerfParameters resolve(PerfTest test, boolean client) {
        Connection service = multicast ? Connection.UD : connection;
        check(test, service);
        long messages =
                duration > 0 ? 0 : Objects.requireNonNullElse(iterations, test == PerfTest.WRITE_BW ? 5000L : 1000L);
        int bytes = size(test);
        int depth = test.isBandwidth() ? limit(sendDepth, messages) : 1;
        return new PerfParameters(
                test,
                service,
                bytes,
                size != null && !all,
                all,
                messages,
                duration,
                queuePairs,
                outstanding,
                depth,
                test.verb() == PerfTest.Verb.SEND ? receiveDepth(service, messages) : 1,
                Math.min(depth, moderation(bytes, service)),
                mtu == null ? null : Mtu.ofBytes(mtu),
                bidirectional,
                events,
                gidIndex,
                timeout,
                test.verb().isAnswered() ? 0 : inline,
                atomicType == AtomicType.CMP_AND_SWAP,
                new RateLimit(rate, rateUnit),
                multicast,
                group,
                managed,
                client);
    }

    private int size(PerfTest test) {
        if (test.verb() == PerfTest.Verb.ATOMIC) {
            require(size == null || size.bytes() == 8, "-s: an atomic has 8 bytes");
            require(!all, "-a: an atomic has 8 bytes");
            return 8;
        }
        if (all) {
            return PerfParameters.LARGEST_SIZE;
        }
        if (size == null) {
            return test.isBandwidth() ? 65536 : 2;
        }
        require(size.bytes() >= 1 && size.bytes() <= 1 << 30, "-s: 1 byte to 1g are possible");
        return (int) size.bytes();
    }

    /** perftest's rule: for large messages each completion is worth its cost, so that the bandwidth comes out right. */
    private int moderation(int bytes, Connection service) {
        if (moderation > 0) {
            return moderation;
        }
        return bytes > LARGE_MESSAGE && service != Connection.UD && !all && !events ? 1 : 100;
    }

    /** Who does not send again has no flow control either: without a receive posted a message is lost. */
    private int receiveDepth(Connection service, long messages) {
        if (receiveDepth != null || !service.loses() || messages == 0) {
            return limit(receiveDepth == null ? RECEIVE_DEPTH : receiveDepth, messages);
        }
        return limit(LOSSY_RECEIVE_DEPTH, messages);
    }

    private static int limit(int depth, long messages) {
        return messages > 0 ? (int) Math.min(depth, messages) : depth;
    }

    private void check(PerfTest test, Connection service) {
        require(
                service.carries(test.verb()),
                service == Connection.UD
                        ? "-c UD: datagrams carry send tests only"
                        : "-c UC: READs and atomics need an answer, and so -c RC");
        checkRate(test);
        require(!managed || service != Connection.UC, "-R: the connection manager connects -c RC and -c UD only");
        require(!managed || !multicast, "-R and -g do not go together");
        require(!managed || gidIndex == null, "-R and -x do not go together: the address leads to the GID");
        require(group == null || multicast, "-M is the group of -g");
        require(!multicast || test.verb() == PerfTest.Verb.SEND, "-g: only send tests go to a multicast group");
        range("-D", duration, 0, 1_000_000);
        range("-q", queuePairs, 1, 4096);
        range("-o", outstanding, 0, 255);
        range("-t", sendDepth, 1, 15_000);
        range("-r", receiveDepth == null ? RECEIVE_DEPTH : receiveDepth, 1, 16_384);
        range("-Q", moderation, 0, 1024);
        range("-u", timeout, 0, 31);
        range("-I", inline, 0, 4096);
        if (iterations != null) {
            require(
                    iterations >= MIN_ITERATIONS && iterations <= MAX_ITERATIONS,
                    "-n: " + MIN_ITERATIONS + " to " + MAX_ITERATIONS + " are possible, not " + iterations);
            require(duration == 0, "-n and -D do not go together");
        }
        require(duration == 0 || !all, "-D and -a do not go together");
        require(duration == 0 || !events, "-D and -e do not go together");
        if (!test.isBandwidth()) {
            require(queuePairs == 1, "-q is for bandwidth tests");
            require(!bidirectional, "-b is for bandwidth tests; a latency test sends both ways anyway");
            require(!events || test != PerfTest.WRITE_LAT, "-e: write-lat watches memory and has no events");
        }
    }

    private void checkRate(PerfTest test) {
        require(rate >= 0 && rate <= RATE_MAX, "--rate_limit: " + rate + " is not possible");
        require(rate == 0 || test.isBandwidth(), "--rate_limit is for bandwidth tests");
        require(rate == 0 || !events, "--rate_limit and -e do not go together");
    }

    private static void range(String option, int value, int least, int most) {
        require(
                value >= least && value <= most,
                String.format(Locale.ROOT, "%s: %d to %d are possible, not %d", option, least, most, value));
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
