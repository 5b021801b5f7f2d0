// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.demo;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.Resources;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairEndpoint;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.WorkCompletion;
import java.time.Duration;
import org.HdrHistogram.Histogram;

/** One of the initiator's queue pairs with a completion queue of its own; one thread uses it at a time. */
final class DemoLink {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int DEPTH = 8;

    private final QueuePair queuePair;
    private final CompletionQueue completions;
    private final WorkCompletion completion = new WorkCompletion();
    private final long[] postedAt = new long[DEPTH];

    /** Posts an operation. */
    interface Poster {
        void post(QueuePair queuePair, long number, int flags);
    }

    DemoLink(Resources resources, DeviceContext device, ProtectionDomain domain) {
        completions = resources.add(device.createCompletionQueue(2 * DEPTH));
        queuePair = resources.add(domain.createQueuePair(
                QueuePairOptions.rc(completions).withQueueDepth(DEPTH, 1).withMaxSge(1, 1)));
    }

    QueuePairEndpoint endpoint() {
        return queuePair.endpoint();
    }

    void connect(QueuePairEndpoint peer) {
        queuePair.connect(peer);
    }

    void connect(QueuePairEndpoint peer, Mtu mtu) {
        queuePair.connect(peer, new QueuePairAttributes().pathMtu(mtu));
    }

    /** Does one operation after the other. */
    Measurement oneByOne(String operation, long size, int count, Poster poster) throws InterruptedException {
        return repeat(operation, size, count, 1, poster);
    }

    /** Keeps several operations under way. */
    Measurement pipelined(String operation, long size, int count, Poster poster) throws InterruptedException {
        return repeat(operation, size, count, DEPTH, poster);
    }

    private Measurement repeat(String operation, long size, int count, int depth, Poster poster)
            throws InterruptedException {
        Histogram latency = new Histogram(3);
        long start = System.nanoTime();
        int posted = 0;
        int done = 0;
        while (done < count) {
            while (posted < count && posted - done < depth) {
                postedAt[posted % DEPTH] = System.nanoTime();
                poster.post(queuePair, posted, SendFlags.SIGNALED);
                posted++;
            }
            succeed(operation);
            latency.recordValue(System.nanoTime() - postedAt[(int) (completion.wrId() % DEPTH)]);
            done++;
        }
        return new Measurement(operation, size, count, System.nanoTime() - start, latency);
    }

    /** Does one operation that must succeed. */
    void once(String operation, Poster poster) throws InterruptedException {
        poster.post(queuePair, 0, SendFlags.SIGNALED);
        succeed(operation);
    }

    /** Does one operation; how it ends is for the caller to judge. */
    WorkCompletion attempt(String operation, Poster poster) throws InterruptedException {
        poster.post(queuePair, 0, SendFlags.SIGNALED);
        awaitCompletion(operation);
        return completion;
    }

    /** READs bytes from the target into a region. */
    void read(MemoryRegion into, long offset, int length, long address, int key) throws InterruptedException {
        once("READ", (qp, number, flags) -> qp.postRead(number, into, offset, length, address, key, flags));
    }

    String state() {
        return queuePair.state().name();
    }

    private void succeed(String operation) throws InterruptedException {
        awaitCompletion(operation);
        if (!completion.isSuccess()) {
            throw new CommandFailure(operation + " failed: " + completion.status() + ", "
                    + completion.status().meaning());
        }
    }

    private void awaitCompletion(String operation) throws InterruptedException {
        if (!completions.await(completion, TIMEOUT)) {
            throw new CommandFailure(operation + " did not complete in " + TIMEOUT.toSeconds() + " s");
        }
    }
}
