// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import io.verbena.transport.queue.SeededRandom;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendRequest;
import io.verbena.verbs.WorkCompletion;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Messages over UC or UD: each may get lost, and with UD arrive twice, but what arrives is whole. The immediate data of
 * a message is its number, from which its length and its bytes follow.
 */
final class LossyFlow implements Flow {
    private static final int QKEY = 0x11111111;
    private static final int MULTICAST_QP = 0xffffff;
    private static final int SGE_MAX = 4;

    private final int number;
    private final Workload workload;
    private final SeededRandom random;
    private final long salt;
    private final Station from;
    private final QueuePair queuePair;
    private final QueuePair peer;
    private final SendRequest request;
    private final Receives receives;
    /** Those of the sender's own queue pair, which may be in the group. */
    private final Receives ownReceives;

    private final Area written;
    private final int depth;
    private final int operations;
    private final int headerBytes;
    private @Nullable AddressHandle destination;
    private boolean multicast;
    private long posted;
    private long completed;
    private long arrived;

    LossyFlow(int number, Workload workload, SeededRandom random, Station from, Station to, int operations) {
        this.number = number;
        this.workload = workload;
        this.random = random;
        this.from = from;
        this.operations = operations;
        salt = random.nextLong();
        depth = workload.depth();
        headerBytes = workload == Workload.UD ? GlobalRouteHeader.BYTES : 0;
        queuePair = from.domain().createQueuePair(options(from));
        peer = to.domain().createQueuePair(options(to));
        request = queuePair.sendRequest();
        receives = new Receives(number, peer, to, depth, workload.bytesMax() + headerBytes);
        ownReceives = new Receives(number, queuePair, from, depth, workload.bytesMax() + headerBytes);
        written = new Area("memory written by flow " + number, to, 2 * depth, workload.bytesMax());
        if (workload == Workload.UD) {
            activate();
        } else {
            Connections.connect(random, queuePair, peer);
        }
    }

    private QueuePairOptions options(Station station) {
        QueuePairOptions options = workload == Workload.UD
                ? QueuePairOptions.ud(station.completions())
                : QueuePairOptions.uc(station.completions());
        return options.withQueueDepth(2 * depth, 2 * depth).withMaxSge(SGE_MAX, SGE_MAX);
    }

    private void activate() {
        queuePair.activate(QKEY);
        peer.activate(QKEY);
        multicast = random.nextInt(2) == 0;
        Gid gid = multicast
                ? Gid.of(InetAddress.ofLiteral("239.1.1." + (number + 1)))
                : peer.endpoint().gid();
        if (multicast) {
            peer.attachMulticast(gid);
            queuePair.attachMulticast(gid);
        }
        destination = from.domain().createAddressHandle(AddressVector.to(gid));
    }

    @Override
    public boolean post() {
        boolean any = false;
        if (random.nextInt(2) == 0) {
            any = receives.hasRoom() || (multicast && ownReceives.hasRoom());
            while (receives.hasRoom()) {
                receives.post();
            }
            while (multicast && ownReceives.hasRoom()) {
                ownReceives.post();
            }
        }
        if (posted - completed < depth && posted < operations && random.nextInt(4) == 0) {
            for (int i = random.nextInt(4); i >= 0 && posted - completed < depth && posted < operations; i--) {
                postOne();
            }
            any = true;
        }
        return any;
    }

    private void postOne() {
        long message = posted++;
        int length = length(message);
        int source = source(message, length);
        AddressHandle handle = destination;
        if (handle != null) {
            request.sendWithImmediate((int) message).to(handle, multicast ? MULTICAST_QP : peer.qpNumber(), QKEY);
        } else if (random.nextInt(4) == 0) {
            // It may be torn when packets get lost; the guard bytes around it must stay.
            request.write(written.address(message), written.region().rkey());
        } else {
            request.sendWithImmediate((int) message);
        }
        request.sge(from.source(), source, length)
                .id(Station.sendId(number, message))
                .flags(SendFlags.SIGNALED)
                .post();
    }

    private int length(long message) {
        long most = workload == Workload.UD ? workload.bytesMax() : messageMax(message);
        return (int) (mix(message) % (most + 1));
    }

    private long messageMax(long message) {
        return (mix(~message) & 1) == 0 ? 1024 : workload.bytesMax();
    }

    private int source(long message, int length) {
        return (int) (mix(message + (1L << 40)) % (from.source().length() - length + 1));
    }

    /** A number from 0 up that follows from another. */
    private long mix(long value) {
        long mixed = (value + salt) * 0x9e37_79b9_7f4a_7c15L;
        mixed = (mixed ^ mixed >>> 31) * 0xbf58_476d_1ce4_e5b9L;
        return (mixed ^ mixed >>> 29) >>> 1;
    }

    @Override
    public void sent(long sequence, WorkCompletion completion) {
        if (sequence != completed || sequence >= posted || !completion.isSuccess()) {
            throw new Violation(
                    "flow " + number + ": request " + completed + " of " + posted + " comes next: " + completion);
        }
        completed++;
    }

    @Override
    public void received(DeviceContext device, long sequence, WorkCompletion completion) {
        boolean own = device.equals(from.device());
        Receives taken = own ? ownReceives : receives;
        if (!taken.complete(sequence, completion)) {
            return;
        }
        if (!completion.hasImmediate()) {
            throw new Violation("flow " + number + ": lost its immediate data: " + completion);
        }
        long message = completion.immediate();
        int length = length(message);
        if (message < 0 || message >= posted || completion.byteLength() != length + headerBytes) {
            throw new Violation(
                    "flow " + number + ": message " + message + " of " + length + " bytes arrived as " + completion);
        }
        if (workload == Workload.UD && completion.sourceQp() != queuePair.qpNumber()) {
            throw new Violation("flow " + number + ": wrong source: " + completion);
        }
        if (workload == Workload.UC) {
            // A message that lost its end may have left bytes behind the end of the next.
            taken.forgive(sequence);
        }
        MemorySegment bytes = from.sourceBytes();
        taken.check(sequence, headerBytes, bytes, source(message, length), length);
        arrived++;
    }

    @Override
    public boolean finished() {
        return completed == operations;
    }

    @Override
    public long arrived() {
        return arrived;
    }

    @Override
    public boolean broken() {
        return false;
    }

    @Override
    public void stop() {
        Connections.stop(queuePair);
        Connections.stop(peer);
    }

    @Override
    public void check() {
        receives.checkAll();
        ownReceives.checkAll();
        for (int slot = 0; slot < written.slots(); slot++) {
            written.forgive(slot);
        }
        written.checkAll();
    }

    @Override
    public String describe() {
        return "flow " + number + ": " + posted + " of " + operations + " messages posted, " + completed
                + " completed, " + arrived + " arrived; queue pair " + queuePair.state() + ", peer " + peer.state();
    }

    @Override
    public void close() {
        AddressHandle handle = destination;
        if (handle != null) {
            handle.close();
        }
        queuePair.close();
        peer.close();
        receives.close();
        ownReceives.close();
        written.close();
    }
}
