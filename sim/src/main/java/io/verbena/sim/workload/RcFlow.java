// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.verbena.transport.queue.SeededRandom;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.FlushPlacement;
import io.verbena.verbs.FlushScope;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendRequest;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.MemorySegment;

/**
 * All operations of a reliable connection. Requests are carried out once and in order, so it is known when a request is
 * posted what memory must look like when it completes.
 */
final class RcFlow implements Flow {
    private static final int COUNTERS = 4;
    private static final int SGE_MAX = 4;
    private static final int UNSIGNALED_MAX = 4;

    private static final SendOpcode[] MIX = {
        SendOpcode.SEND,
        SendOpcode.SEND_WITH_IMM,
        SendOpcode.RDMA_WRITE,
        SendOpcode.RDMA_WRITE,
        SendOpcode.RDMA_WRITE_WITH_IMM,
        SendOpcode.RDMA_READ,
        SendOpcode.ATOMIC_CMP_AND_SWP,
        SendOpcode.ATOMIC_FETCH_AND_ADD,
        SendOpcode.ATOMIC_WRITE,
        SendOpcode.FLUSH
    };

    private final int number;
    private final Workload workload;
    private final SeededRandom random;
    private final Station from;
    private final Station to;
    private final QueuePair queuePair;
    private final QueuePair peer;
    private final SendRequest request;
    private final Area written;
    private final Area results;
    private final Area counters;
    private final Receives receives;
    private final RcRequest[] requests;
    private final long[] values = new long[COUNTERS];
    private final int depth;

    private final int operations;
    private long posted;
    private long completed;
    private int unsignaled;
    /** Messages that take a receive: sent so far, and arrived. */
    private long arrivalsDue;

    private long arrived;
    /** Which requests they come from, by number. */
    private final long[] arrivals;

    /** The first request whose effect is not known, because it failed. */
    private long failedAt = Long.MAX_VALUE;

    RcFlow(int number, Workload workload, SeededRandom random, Station from, Station to, int operations) {
        this.number = number;
        this.workload = workload;
        this.random = random;
        this.from = from;
        this.to = to;
        this.operations = operations;
        depth = workload.depth();
        QueuePairOptions options = QueuePairOptions.rc(from.completions())
                .withQueueDepth(2 * depth, 2 * depth)
                .withMaxSge(SGE_MAX, SGE_MAX);
        queuePair = from.domain().createQueuePair(options);
        peer = to.domain()
                .createQueuePair(QueuePairOptions.rc(to.completions())
                        .withQueueDepth(2 * depth, 2 * depth)
                        .withMaxSge(SGE_MAX, SGE_MAX));
        request = queuePair.sendRequest();
        int bytes = workload.bytesMax();
        written = new Area("memory written by flow " + number, to, 2 * depth, bytes);
        results = new Area("results of flow " + number, from, 2 * depth, Math.max(bytes, Long.BYTES));
        counters = new Area("counters of flow " + number, to, COUNTERS, Long.BYTES);
        for (int i = 0; i < COUNTERS; i++) {
            values[i] = counters.memory().get(JAVA_LONG_UNALIGNED, counters.offset(i));
        }
        receives = new Receives(number, peer, to, depth, bytes);
        requests = new RcRequest[2 * depth];
        arrivals = new long[2 * depth];
        for (int i = 0; i < requests.length; i++) {
            requests[i] = new RcRequest();
        }
        Connections.connect(random, queuePair, peer);
    }

    private RcRequest request(long sequence) {
        return requests[(int) (sequence % requests.length)];
    }

    @Override
    public boolean post() {
        boolean any = false;
        if (receives.hasRoom() && random.nextInt(4) == 0) {
            for (int i = random.nextInt(4); i >= 0 && receives.hasRoom(); i--) {
                receives.post();
            }
            any = true;
        }
        if (posted - completed < depth && posted < operations && !broken() && random.nextInt(2) == 0) {
            for (int i = random.nextInt(8); i >= 0 && posted - completed < depth && posted < operations; i--) {
                postOne();
            }
            any = true;
        }
        return any;
    }

    private void postOne() {
        RcRequest one = request(posted);
        one.begin(posted, MIX[random.nextInt(MIX.length)]);
        switch (one.opcode) {
            case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD, ATOMIC_WRITE -> atomic(one);
            case RDMA_READ -> read(one);
            case FLUSH ->
                request.flush(
                        written.region().address(),
                        written.region().rkey(),
                        workload.bytesMax(),
                        FlushPlacement.GLOBAL,
                        FlushScope.RANGE);
            default -> data(one);
        }
        one.signaled = posted == operations - 1 || unsignaled == UNSIGNALED_MAX || random.nextInt(4) > 0;
        unsignaled = one.signaled ? 0 : unsignaled + 1;
        int flags = one.signaled ? SendFlags.SIGNALED : SendFlags.NONE;
        request.flags(flags | (random.nextInt(8) == 0 ? SendFlags.FENCE : 0));
        request.id(Station.sendId(number, posted++)).post();
    }

    private int length() {
        int most = workload.bytesMax();
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(Math.min(most, 64) + 1);
            case 1 -> random.nextInt(Math.min(most, 1024) + 1);
            case 2 -> random.nextInt(Math.min(most, 4097) + 1);
            default -> random.nextInt(most + 1);
        };
    }

    private void data(RcRequest one) {
        one.length = length();
        one.source = random.nextInt((int) from.source().length() - one.length + 1);
        one.immediate = random.nextInt();
        long place = written.offset(one.sequence) + random.nextInt(workload.bytesMax() - one.length + 1);
        long remote = written.region().address() + place;
        int rkey = written.region().rkey();
        switch (one.opcode) {
            case SEND -> request.send();
            case SEND_WITH_IMM -> request.sendWithImmediate(one.immediate);
            case RDMA_WRITE -> request.write(remote, rkey);
            default -> request.writeWithImmediate(remote, rkey, one.immediate);
        }
        if (one.opcode.isRemote()) {
            MemorySegment.copy(from.sourceBytes(), one.source, written.shadow(), place, one.length);
        }
        if (one.takesReceive()) {
            arrivals[(int) (arrivalsDue++ % arrivals.length)] = one.sequence;
        }
        int first = random.nextInt(4) == 0 ? random.nextInt(one.length + 1) : one.length;
        request.sge(from.source(), one.source, first);
        if (first < one.length) {
            request.sge(from.source(), one.source + first, one.length - first);
        }
    }

    private void read(RcRequest one) {
        one.length = length();
        one.source = random.nextInt((int) to.source().length() - one.length + 1);
        long place = results.offset(one.sequence);
        MemorySegment.copy(to.sourceBytes(), one.source, results.shadow(), place, one.length);
        request.read(to.source().address() + one.source, to.source().rkey()).sge(results.region(), place, one.length);
    }

    private void atomic(RcRequest one) {
        one.length = Long.BYTES;
        one.counter = random.nextInt(COUNTERS);
        one.before = values[one.counter];
        long address = counters.address(one.counter);
        int rkey = counters.region().rkey();
        long operand = random.nextLong();
        switch (one.opcode) {
            case ATOMIC_WRITE -> {
                request.atomicWrite(address, rkey, operand);
                one.after = operand;
            }
            case ATOMIC_FETCH_AND_ADD -> {
                request.fetchAndAdd(address, rkey, operand);
                one.after = one.before + operand;
            }
            default -> {
                boolean equal = random.nextInt(4) > 0;
                request.compareAndSwap(address, rkey, equal ? one.before : ~one.before, operand);
                one.after = equal ? operand : one.before;
            }
        }
        values[one.counter] = one.after;
        if (one.opcode != SendOpcode.ATOMIC_WRITE) {
            long place = results.offset(one.sequence);
            results.shadow().set(JAVA_LONG_UNALIGNED, place, one.before);
            request.sge(results.region(), place, Long.BYTES);
        }
    }

    @Override
    public void sent(long sequence, WorkCompletion completion) {
        if (sequence < completed || sequence >= posted) {
            throw new Violation(at(sequence) + " completed, but " + completed + " to " + (posted - 1)
                    + " are under way: " + completion);
        }
        if (completion.qpNumber() != queuePair.qpNumber()) {
            throw new Violation(at(sequence) + ": wrong QP: " + completion);
        }
        while (completed < sequence) {
            if (broken() || request(completed).signaled) {
                throw new Violation(at(sequence) + " completed before " + completed + ": " + completion);
            }
            succeeded(request(completed++));
        }
        RcRequest one = request(sequence);
        if (completion.isSuccess()) {
            if (broken() || !one.signaled) {
                throw new Violation(at(sequence) + ": unexpected " + completion);
            }
            if (completion.opcode() != one.completionOpcode()
                    || (one.opcode != SendOpcode.FLUSH && completion.byteLength() != one.length)) {
                throw new Violation(
                        at(sequence) + ": " + one.opcode + " of " + one.length + " bytes completed as " + completion);
            }
            succeeded(one);
        } else {
            failed(sequence, completion);
        }
        completed = sequence + 1;
    }

    private void failed(long sequence, WorkCompletion completion) {
        WorkCompletionStatus expected =
                broken() ? WorkCompletionStatus.WR_FLUSH_ERR : WorkCompletionStatus.RETRY_EXC_ERR;
        if (completion.status() != expected) {
            throw new Violation(at(sequence) + ": not " + expected + ": " + completion);
        }
        failedAt = Math.min(failedAt, sequence);
    }

    /** The request is done: its slots are as they must be, and stay so until the slot's turn comes again. */
    private void succeeded(RcRequest one) {
        switch (one.opcode) {
            case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> written.check(one.sequence);
            case RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> results.check(one.sequence);
            default -> {
                // A SEND is looked at where it arrives, an ATOMIC WRITE at the end.
            }
        }
    }

    @Override
    public void received(DeviceContext device, long sequence, WorkCompletion completion) {
        if (!receives.complete(sequence, completion)) {
            return;
        }
        if (arrived >= arrivalsDue) {
            throw new Violation("flow " + number + ": more arrived than was sent: " + completion);
        }
        RcRequest one = request(arrivals[(int) (arrived++ % arrivals.length)]);
        boolean write = one.opcode == SendOpcode.RDMA_WRITE_WITH_IMM;
        if (!arrivedAs(one, completion)) {
            throw new Violation(
                    at(one.sequence) + ": " + one.opcode + " of " + one.length + " bytes arrived as " + completion);
        }
        receives.check(sequence, 0, from.sourceBytes(), one.source, write ? 0 : one.length);
        if (write) {
            written.check(one.sequence);
        }
    }

    private static boolean arrivedAs(RcRequest one, WorkCompletion completion) {
        boolean write = one.opcode == SendOpcode.RDMA_WRITE_WITH_IMM;
        return completion.opcode() == (write ? WorkCompletionOpcode.RECV_RDMA_WITH_IMM : WorkCompletionOpcode.RECV)
                && completion.byteLength() == one.length
                && completion.hasImmediate() == one.opcode.hasImmediate()
                && (!completion.hasImmediate() || completion.immediate() == one.immediate);
    }

    @Override
    public boolean finished() {
        return broken() ? completed == posted : completed == operations && arrived == arrivalsDue;
    }

    @Override
    public long arrived() {
        return arrived;
    }

    @Override
    public boolean broken() {
        return failedAt != Long.MAX_VALUE;
    }

    @Override
    public void stop() {
        Connections.stop(queuePair);
        Connections.stop(peer);
    }

    @Override
    public void check() {
        if (completed != posted) {
            throw new Violation(describe());
        }
        receives.checkAll();
        for (long at = failedAt; at < posted; at++) {
            written.forgive(at);
            results.forgive(at);
        }
        written.checkAll();
        results.checkAll();
        for (int i = 0; i < COUNTERS; i++) {
            long value = counters.memory().get(JAVA_LONG_UNALIGNED, counters.offset(i));
            if (!mayBe(i, value)) {
                throw new Violation(
                        "counter " + i + " of flow " + number + " is " + Long.toHexString(value) + " and must be "
                                + Long.toHexString(values[i]) + ": an atomic operation was lost or carried out twice");
            }
            counters.shadow().set(JAVA_LONG_UNALIGNED, counters.offset(i), value);
        }
        counters.checkAll();
    }

    /** Of the requests that failed any number may have been carried out, in order. */
    private boolean mayBe(int counter, long value) {
        boolean possible = value == values[counter];
        for (long at = failedAt; at < posted; at++) {
            RcRequest one = request(at);
            if (one.isAtomic() && one.counter == counter) {
                possible |= value == one.before || value == one.after;
            }
        }
        return possible;
    }

    private String at(long sequence) {
        return "flow " + number + ", request " + sequence;
    }

    @Override
    public String describe() {
        return "flow " + number + ": " + posted + " of " + operations + " requests posted, " + completed
                + " completed, " + arrived + " of " + arrivalsDue + " messages arrived; queue pair "
                + queuePair.state() + ", peer " + peer.state();
    }

    @Override
    public void close() {
        queuePair.close();
        peer.close();
        written.close();
        results.close();
        counters.close();
        receives.close();
    }
}
