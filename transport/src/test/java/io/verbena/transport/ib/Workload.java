// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.ib.TestQueuePair.Sge;
import io.verbena.transport.ib.TestQueuePair.Work;
import io.verbena.transport.memory.Region;
import io.verbena.transport.memory.Window;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.WorkCompletionOpcode;
import io.verbena.verbs.WorkCompletionStatus;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * Random work in one direction of one connection, and a model that knows what must come of it: the bytes of the
 * target's memory, the old values of atomics, which receives and which completions, in which order. Lost, doubled and
 * torn work all differ from it.
 */
final class Workload {
    static final int MESSAGE_MAX = 64 << 10;
    private static final int WRITE_AREA = 80 << 10;
    private static final int ATOMICS = 4;
    private static final byte UNTOUCHED = (byte) 0xee;

    private static final SendOpcode[] MIX = {
        SendOpcode.RDMA_WRITE,
        SendOpcode.RDMA_WRITE_WITH_IMM,
        SendOpcode.SEND,
        SendOpcode.SEND_WITH_IMM,
        SendOpcode.RDMA_READ,
        SendOpcode.ATOMIC_CMP_AND_SWP,
        SendOpcode.ATOMIC_FETCH_AND_ADD,
        SendOpcode.ATOMIC_WRITE,
        SendOpcode.FLUSH,
        SendOpcode.BIND_MW
    };

    private record Expected(long wrId, SendOpcode opcode, long length) {}

    @SuppressWarnings("ArrayRecordComponent") // never compared by value
    private record Arrival(boolean write, long length, boolean hasImmediate, int immediate, byte[] payload) {}

    private final Random random;
    private final TestQueuePair from;
    private final TestQueuePair to;
    private final Region source;
    private final Region result;
    private final Region writeTarget;
    private final Region readSource;
    private final Region atomics;
    private final Region counter;
    private final Region[] receiveBuffers;
    private final Window window;
    private boolean windowBound;
    private final byte[] sourceBytes = new byte[MESSAGE_MAX * 2];
    private final byte[] readBytes = new byte[MESSAGE_MAX * 2];
    private final byte[] writeModel = new byte[WRITE_AREA];
    private final byte[] resultModel;
    private final long[] atomicModel = new long[ATOMICS];

    private final Deque<Expected> completionsDue = new ArrayDeque<>();
    private final Deque<Arrival> arrivalsDue = new ArrayDeque<>();
    private final Deque<Integer> receivesPosted = new ArrayDeque<>();
    private final Deque<Integer> receivesFree = new ArrayDeque<>();
    private final List<Integer> counterResults = new ArrayList<>();
    private int operationsLeft;
    private long nextWrId;
    private int resultUsed;
    private long receivesWanted;
    long counterAdds;

    Workload(Random random, TestQueuePair from, TestQueuePair to, Region counter, int operations) {
        this.random = random;
        this.from = from;
        this.to = to;
        this.counter = counter;
        this.operationsLeft = operations;
        random.nextBytes(sourceBytes);
        random.nextBytes(readBytes);
        random.nextBytes(writeModel);
        source = filled(from.host, sourceBytes);
        readSource = filled(to.host, readBytes);
        writeTarget = filled(to.host, writeModel);
        window = from.host.window(MemoryWindowType.TYPE_2);
        atomics = to.host.region(ATOMICS * Long.BYTES);
        resultModel = new byte[operations * 1024 + 8 * MESSAGE_MAX];
        Arrays.fill(resultModel, UNTOUCHED);
        result = filled(from.host, resultModel);
        receiveBuffers = new Region[to.settings.receiveDepth];
        for (int i = 0; i < receiveBuffers.length; i++) {
            receiveBuffers[i] = to.host.region(MESSAGE_MAX);
            receivesFree.add(i);
        }
    }

    private static Region filled(TestHost host, byte[] bytes) {
        Region region = host.region(bytes.length);
        MemorySegment.copy(bytes, 0, region.segment(), JAVA_BYTE, 0, bytes.length);
        return region;
    }

    boolean finished() {
        return operationsLeft == 0 && completionsDue.isEmpty() && arrivalsDue.isEmpty();
    }

    /** Posts a few requests if there is room. */
    void postSome() {
        for (int i = random.nextInt(4); i >= 0 && operationsLeft > 0 && from.hasRoom(); i--) {
            postOne();
        }
    }

    /** Posts a few receives: seldom, so that senders find none. */
    void receiveSome() {
        for (int i = random.nextInt(3); i >= 0 && receivesWanted > 0 && !receivesFree.isEmpty(); i--) {
            int at = receivesFree.remove();
            to.postReceive(at, split(receiveBuffers[at], 0, MESSAGE_MAX).toArray(Sge[]::new));
            receivesPosted.add(at);
            receivesWanted--;
        }
    }

    private void postOne() {
        operationsLeft--;
        SendOpcode opcode = MIX[random.nextInt(MIX.length)];
        // The last one is signalled, so that its completion says that all is done.
        boolean signalled = operationsLeft == 0 || random.nextInt(4) > 0 || nextWrId % 4 == 3;
        int flags = (signalled ? SendFlags.SIGNALED : 0) | (random.nextInt(6) == 0 ? SendFlags.FENCE : 0);
        Work work = switch (opcode) {
            case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> atomic(opcode);
            case ATOMIC_WRITE -> atomicWrite();
            case RDMA_READ -> read();
            case FLUSH -> flush();
            case BIND_MW, LOCAL_INV -> local();
            default -> data(opcode);
        };
        boolean gathers = opcode.isSend() || opcode.isWrite();
        boolean inline = gathers && work.length() <= Settings.MAX_INLINE && random.nextBoolean();
        from.post(work.flags(flags | (inline ? SendFlags.INLINE : 0)));
        if (signalled) {
            completionsDue.add(new Expected(work.wrId(), work.opcode(), work.length()));
        }
    }

    private int size() {
        int mtu = from.settings.mtu.bytes();
        return switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1 -> random.nextInt(200);
            case 2 -> mtu + random.nextInt(3) - 1;
            case 3 -> mtu * (1 + random.nextInt(4));
            case 4, 5 -> random.nextInt(4 * mtu);
            case 6 -> random.nextInt(16 << 10);
            default -> random.nextInt(MESSAGE_MAX + 1);
        };
    }

    private List<Sge> split(Region region, int offset, int length) {
        List<Sge> entries = new ArrayList<>();
        int at = 0;
        for (int i = random.nextInt(Settings.MAX_SGE); i > 0; i--) {
            int part = random.nextInt(4) == 0 ? 0 : random.nextInt(length - at + 1);
            entries.add(Sge.of(region, offset + at, part));
            at += part;
        }
        entries.add(Sge.of(region, offset + at, length - at));
        return entries;
    }

    private Work data(SendOpcode opcode) {
        int length = size();
        int offset = random.nextInt(sourceBytes.length - length + 1);
        byte[] payload = Arrays.copyOfRange(sourceBytes, offset, offset + length);
        int immediate = random.nextInt();
        Work work = Work.send(nextWrId++, split(source, offset, length).toArray(Sge[]::new))
                .as(opcode)
                .immediate(immediate);
        boolean write = opcode.isRemote();
        if (write) {
            int target = random.nextInt(WRITE_AREA - length + 1);
            System.arraycopy(payload, 0, writeModel, target, length);
            work = work.at(writeTarget.address() + target, writeTarget.rkey());
        }
        if (opcode != SendOpcode.RDMA_WRITE) {
            arrivalsDue.add(new Arrival(write, length, opcode.hasImmediate(), immediate, payload));
            receivesWanted++;
        }
        return work;
    }

    private int reserveResult(int bytes) {
        int room = resultModel.length - bytes - 16;
        int gap = random.nextInt(8);
        assertThat(resultUsed).isLessThanOrEqualTo(room);
        int at = resultUsed + gap;
        resultUsed = at + bytes;
        return at;
    }

    private Work read() {
        int length = Math.min(size(), Math.max(0, resultModel.length - resultUsed - 64 - 32 * (operationsLeft + 1)));
        int offset = random.nextInt(readBytes.length - length + 1);
        int at = reserveResult(length);
        System.arraycopy(readBytes, offset, resultModel, at, length);
        return Work.read(
                nextWrId++,
                readSource.address() + offset,
                readSource.rkey(),
                split(result, at, length).toArray(Sge[]::new));
    }

    private Work atomic(SendOpcode opcode) {
        int at = reserveResult(Long.BYTES);
        Sge old = Sge.of(result, at, Long.BYTES);
        int index = random.nextInt(ATOMICS);
        long address = atomics.address() + (long) index * Long.BYTES;
        if (opcode == SendOpcode.ATOMIC_CMP_AND_SWP) {
            long compare = random.nextBoolean() ? atomicModel[index] : random.nextLong();
            long swap = random.nextLong();
            putLong(at, atomicModel[index]);
            if (atomicModel[index] == compare) {
                atomicModel[index] = swap;
            }
            return Work.compareSwap(nextWrId++, address, atomics.rkey(), compare, swap, old);
        }
        if (random.nextBoolean()) {
            // All connections add to one counter: its old values are all different.
            counterResults.add(at);
            counterAdds++;
            return Work.fetchAdd(nextWrId++, counter.address(), counter.rkey(), 1, old);
        }
        long add = random.nextLong();
        putLong(at, atomicModel[index]);
        atomicModel[index] += add;
        return Work.fetchAdd(nextWrId++, address, atomics.rkey(), add, old);
    }

    private Work atomicWrite() {
        int index = random.nextInt(ATOMICS);
        atomicModel[index] = random.nextLong();
        long address = atomics.address() + (long) index * Long.BYTES;
        return Work.atomicWrite(nextWrId++, address, atomics.rkey(), atomicModel[index]);
    }

    private Work flush() {
        int scope = random.nextInt(2);
        int length = random.nextInt(WRITE_AREA);
        return Work.flush(nextWrId++, writeTarget.address(), writeTarget.rkey(), length, 1, scope);
    }

    /** Binds the window and takes it back in turn: done twice, either fails. */
    private Work local() {
        windowBound = !windowBound;
        return windowBound
                ? Work.bind(nextWrId++, window.rkey(), source, 0, source.length(), AccessFlag.REMOTE_READ.code())
                : Work.localInvalidate(nextWrId++, window.rkey());
    }

    private void putLong(int at, long value) {
        ByteBuffer.wrap(resultModel).order(ByteOrder.nativeOrder()).putLong(at, value);
    }

    /** Takes completions and compares each with what is due. */
    void poll() {
        for (WorkCompletion one = from.poll(from.sendRing); one != null; one = from.poll(from.sendRing)) {
            Expected due = completionsDue.poll();
            assertThat(due)
                    .as("a send completion that nothing explains: %s", one)
                    .isNotNull();
            assertThat(one.wrId()).as("order of send completions: %s", one).isEqualTo(due.wrId);
            assertThat(one.status()).as("%s of %s", due, one).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(one.opcode()).isEqualTo(OutboundData.completionOpcode(due.opcode));
            assertThat(one.byteLength()).isEqualTo(due.length);
        }
        for (WorkCompletion one = to.poll(to.receiveRing); one != null; one = to.poll(to.receiveRing)) {
            Arrival due = arrivalsDue.poll();
            assertThat(due).as("a receive that nothing explains: %s", one).isNotNull();
            int at = receivesPosted.remove();
            assertThat(one.wrId()).as("order of receives: %s", one).isEqualTo(at);
            assertThat(one.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(one.opcode())
                    .isEqualTo(due.write ? WorkCompletionOpcode.RECV_RDMA_WITH_IMM : WorkCompletionOpcode.RECV);
            assertThat(one.byteLength()).isEqualTo(due.length);
            assertThat(one.hasImmediate()).isEqualTo(due.hasImmediate);
            if (due.hasImmediate) {
                assertThat(one.immediate()).isEqualTo(due.immediate);
            }
            if (!due.write) {
                assertSame("received message", receiveBuffers[at], due.payload);
            }
            receivesFree.add(at);
        }
    }

    /**
     * Compares all memory with the model, when everything is finished. Adds the old values of the shared counter to a
     * list.
     */
    void checkMemory(List<Long> counterValues) {
        assertThat(source.windows()).as("bound windows").isEqualTo(windowBound ? 1 : 0);
        assertSame("memory written by the peer", writeTarget, writeModel);
        assertSame("source of READs", readSource, readBytes);
        assertSame("source of sends", source, sourceBytes);
        for (int i = 0; i < ATOMICS; i++) {
            assertThat(atomics.segment().get(JAVA_LONG_UNALIGNED, (long) i * Long.BYTES))
                    .as("atomic %s", i)
                    .isEqualTo(atomicModel[i]);
        }
        for (int at : counterResults) {
            long old = result.segment().get(JAVA_LONG_UNALIGNED, at);
            counterValues.add(old);
            putLong(at, old);
        }
        assertSame("results of READs and atomics", result, resultModel);
    }

    private static void assertSame(String what, Region region, byte[] expected) {
        MemorySegment part = region.segment().asSlice(0, expected.length);
        long differs = part.mismatch(MemorySegment.ofArray(expected));
        assertThat(differs).as("first wrong byte of " + what).isEqualTo(-1);
    }
}
