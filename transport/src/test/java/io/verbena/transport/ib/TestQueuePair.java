// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.transport.encap.Path;
import io.verbena.transport.memory.Region;
import io.verbena.transport.queue.CompletionRing;
import io.verbena.transport.queue.ReceiveSlot;
import io.verbena.transport.queue.SendSlot;
import io.verbena.transport.queue.SgeList;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SendFlags;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.WorkCompletion;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A queue pair with its rings, and the posting that an API would do. */
final class TestQueuePair {
    /** An entry of a scatter/gather list. */
    record Sge(long address, int length, int lkey) {
        static Sge of(Region region, long offset, int length) {
            return new Sge(region.address() + offset, length, region.lkey());
        }
    }

    /** A send request; what is not named is 0. */
    record Work(
            SendOpcode opcode,
            long wrId,
            int flags,
            int immediate,
            long remoteAddress,
            int rkey,
            long compareAdd,
            long swap,
            List<Sge> entries) {
        static Work send(long wrId, Sge... entries) {
            return new Work(SendOpcode.SEND, wrId, SendFlags.SIGNALED, 0, 0, 0, 0, 0, List.of(entries));
        }

        static Work write(long wrId, long remoteAddress, int rkey, Sge... entries) {
            return send(wrId, entries).as(SendOpcode.RDMA_WRITE).at(remoteAddress, rkey);
        }

        static Work read(long wrId, long remoteAddress, int rkey, Sge... entries) {
            return send(wrId, entries).as(SendOpcode.RDMA_READ).at(remoteAddress, rkey);
        }

        static Work fetchAdd(long wrId, long remoteAddress, int rkey, long add, Sge result) {
            return new Work(
                    SendOpcode.ATOMIC_FETCH_AND_ADD,
                    wrId,
                    SendFlags.SIGNALED,
                    0,
                    remoteAddress,
                    rkey,
                    add,
                    0,
                    List.of(result));
        }

        static Work compareSwap(long wrId, long remoteAddress, int rkey, long compare, long swap, Sge result) {
            return new Work(
                    SendOpcode.ATOMIC_CMP_AND_SWP,
                    wrId,
                    SendFlags.SIGNALED,
                    0,
                    remoteAddress,
                    rkey,
                    compare,
                    swap,
                    List.of(result));
        }

        /** A window's new key for a stretch of a region. */
        static Work bind(long wrId, int newRkey, Region region, long offset, long length, int access) {
            return new Work(
                    SendOpcode.BIND_MW,
                    wrId,
                    SendFlags.SIGNALED,
                    access,
                    region.address() + offset,
                    newRkey,
                    length,
                    region.lkey(),
                    List.of());
        }

        static Work localInvalidate(long wrId, int rkey) {
            return send(wrId).as(SendOpcode.LOCAL_INV).at(0, rkey);
        }

        static Work flush(long wrId, long remoteAddress, int rkey, long length, int placement, int scope) {
            return new Work(
                    SendOpcode.FLUSH,
                    wrId,
                    SendFlags.SIGNALED,
                    scope << 4 | placement,
                    remoteAddress,
                    rkey,
                    length,
                    0,
                    List.of());
        }

        static Work atomicWrite(long wrId, long remoteAddress, int rkey, long value) {
            return new Work(
                    SendOpcode.ATOMIC_WRITE, wrId, SendFlags.SIGNALED, 0, remoteAddress, rkey, value, 0, List.of());
        }

        Work as(SendOpcode other) {
            return new Work(other, wrId, flags, immediate, remoteAddress, rkey, compareAdd, swap, entries);
        }

        Work at(long address, int key) {
            return new Work(opcode, wrId, flags, immediate, address, key, compareAdd, swap, entries);
        }

        Work flags(int other) {
            return new Work(opcode, wrId, other, immediate, remoteAddress, rkey, compareAdd, swap, entries);
        }

        Work immediate(int value) {
            return new Work(opcode, wrId, flags, value, remoteAddress, rkey, compareAdd, swap, entries);
        }

        /** A datagram's destination. */
        Work to(int addressHandle, int destinationQp, int qkey) {
            return at((long) destinationQp << 32 | addressHandle, qkey);
        }

        long length() {
            return switch (opcode) {
                case FLUSH -> compareAdd;
                case ATOMIC_WRITE -> Long.BYTES;
                default -> entries.stream().mapToLong(Sge::length).sum();
            };
        }
    }

    final TestHost host;
    final Settings settings;
    final CompletionRing sendRing;
    final CompletionRing receiveRing;
    /** Of any service. */
    final IbQueuePair any;
    /** The same as a reliable connection; null for other services. */
    final RcQueuePair qp;

    final WorkQueue receives;
    /** XRC: the number that what is posted names. */
    int sharedReceiveQueue;

    private final WorkCompletion view = new WorkCompletion();

    TestQueuePair(TestHost host, Settings settings) {
        this(host, settings, new CompletionRing(settings.ringDepth), new CompletionRing(settings.ringDepth));
    }

    TestQueuePair(TestHost host, Settings settings, CompletionRing sendRing, CompletionRing receiveRing) {
        this.host = host;
        this.settings = settings;
        this.sendRing = sendRing;
        this.receiveRing = receiveRing;
        WorkQueue sends = new WorkQueue(settings.sendDepth, SendSlot.bytes(Settings.MAX_SGE, Settings.MAX_INLINE));
        receives = new WorkQueue(settings.receiveDepth, ReceiveSlot.bytes(Settings.MAX_SGE));
        QueuePairSetup setup = new QueuePairSetup(
                settings.type,
                TestHost.DOMAIN,
                settings.signalAll,
                sends,
                settings.shared == null ? receives : null,
                settings.shared,
                settings.xrcDomain,
                sendRing,
                receiveRing);
        any = host.port.createQueuePair(setup);
        assertThat(any).isNotNull();
        qp = any instanceof RcQueuePair rc ? rc : null;
        host.queuePairs.add(this);
    }

    /** RESET to RTS towards a queue pair of another address. */
    void connect(long now, long remoteHigh, long remoteLow, int destinationQp) {
        toInit(now);
        toRtr(now, remoteHigh, remoteLow, destinationQp);
        toRts(now);
    }

    void toInit(long now) {
        modify(
                now,
                QueuePairState.INIT,
                null,
                new QueuePairAttributes().accessFlags(settings.accessFlags).qkey(settings.qkey));
    }

    void toRtr(long now, long remoteHigh, long remoteLow, int destinationQp) {
        Path path = new Path(host.high, host.low, remoteHigh, remoteLow, 0xc000, Path.ROCE_V2_PORT, 0, 64);
        QueuePairAttributes attributes = new QueuePairAttributes()
                .pathMtu(settings.mtu)
                .destinationQpNumber(destinationQp)
                .rqPsn(settings.rqPsn)
                .maxDestRdAtomic(settings.maxDestRdAtomic)
                .minRnrTimer(settings.minRnrTimer);
        modify(now, QueuePairState.RTR, path, attributes);
    }

    void toRts(long now) {
        QueuePairAttributes attributes = new QueuePairAttributes()
                .timeout(settings.timeout)
                .retryCount(settings.retryCount)
                .rnrRetry(settings.rnrRetry)
                .sqPsn(settings.sqPsn)
                .maxRdAtomic(settings.maxRdAtomic);
        modify(now, QueuePairState.RTS, null, attributes);
    }

    void modify(long now, QueuePairState state, Path path, QueuePairAttributes attributes) {
        any.modify(now, new QueuePairChange(state, attributes.state(state), path));
    }

    boolean hasRoom() {
        return any.sendQueue().hasRoom(0);
    }

    void post(Work work) {
        WorkQueue queue = any.sendQueue();
        assertThat(queue.hasRoom(0)).isTrue();
        long slot = queue.offset(queue.producerIndex());
        MemorySegment ring = queue.ring();
        boolean inline = (work.flags() & SendFlags.INLINE) != 0;
        SendSlot.operation(
                ring, slot, work.wrId(), work.opcode().ordinal(), work.flags(), work.immediate(), work.length());
        if (any.type() == QueuePairType.UD) {
            SendSlot.destination(
                    ring, slot, (int) work.remoteAddress(), (int) (work.remoteAddress() >>> 32), work.rkey());
        } else {
            SendSlot.remote(ring, slot, work.remoteAddress(), work.rkey());
        }
        SendSlot.sharedReceiveQueue(ring, slot, sharedReceiveQueue);
        SendSlot.atomic(ring, slot, work.compareAdd(), work.swap());
        if (work.opcode() == SendOpcode.BIND_MW) {
            SendSlot.bind(
                    ring,
                    slot,
                    work.rkey(),
                    (int) work.swap(),
                    work.remoteAddress(),
                    work.compareAdd(),
                    work.immediate());
        }
        SendSlot.payload(ring, slot, inline ? 0 : work.entries().size(), inline);
        long at = slot + SendSlot.HEADER_BYTES;
        int index = 0;
        for (Sge entry : work.entries()) {
            if (inline) {
                Region region = host.port.keys().local(entry.lkey());
                MemorySegment.copy(region.segment(), region.offset(entry.address()), ring, at, entry.length());
                at += entry.length();
            } else {
                SgeList.set(ring, at, index++, entry.address(), entry.length(), entry.lkey());
            }
        }
        queue.publish(1);
        any.requestService();
    }

    void postReceive(long wrId, Sge... entries) {
        postReceive(receives, wrId, entries);
        any.requestService();
    }

    /** Posts to a shared receive queue too. */
    static void postReceive(WorkQueue queue, long wrId, Sge... entries) {
        assertThat(queue.hasRoom(0)).isTrue();
        long slot = queue.offset(queue.producerIndex());
        ReceiveSlot.header(queue.ring(), slot, wrId, entries.length);
        for (int i = 0; i < entries.length; i++) {
            Sge entry = entries[i];
            SgeList.set(
                    queue.ring(), slot + ReceiveSlot.HEADER_BYTES, i, entry.address(), entry.length(), entry.lkey());
        }
        queue.publish(1);
    }

    /** The oldest completion of a ring, valid until the next call, or null. */
    WorkCompletion poll(CompletionRing ring) {
        return ring.poll(view, host.port::releaseSendSlots) ? view : null;
    }

    /** All completions of both rings in words: {@code 5 SUCCESS}, receives with length and immediate. */
    List<String> completions() {
        List<String> all = new ArrayList<>();
        for (WorkCompletion one = poll(sendRing); one != null; one = poll(sendRing)) {
            all.add(one.wrId() + " " + one.status());
        }
        all.addAll(receiveCompletions(receiveRing));
        return all;
    }

    /** As {@link #completions()}, of a ring of receives. */
    List<String> receiveCompletions(CompletionRing ring) {
        List<String> all = new ArrayList<>();
        for (WorkCompletion one = poll(ring); one != null; one = poll(ring)) {
            String detail = one.isSuccess() ? " " + one.opcode() + " " + one.byteLength() : "";
            if (one.isSuccess() && (one.flags() & WorkCompletion.WITH_IMMEDIATE) != 0) {
                detail += " imm " + Integer.toHexString(one.immediate());
            }
            if (one.isSuccess() && (one.flags() & WorkCompletion.WITH_GRH) != 0) {
                detail += " from " + Integer.toHexString(one.sourceQp());
            }
            if (one.isSuccess() && (one.flags() & WorkCompletion.WITH_INVALIDATE) != 0) {
                detail += " inv " + Integer.toHexString(one.invalidatedKey());
            }
            all.add("recv " + one.wrId() + " " + one.status() + detail);
        }
        return all;
    }
}
