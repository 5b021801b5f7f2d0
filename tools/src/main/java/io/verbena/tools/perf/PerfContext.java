// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.MulticastGroup;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.devices.DevicePicker;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GidEntry;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairEndpoint;
import io.verbena.verbs.QueuePairOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Queue pairs and the memory of a test. One region holds for each queue pair a part to send from, and behind all of
 * these one for each to receive into.
 */
final class PerfContext implements AutoCloseable {
    static final int PORT = 1;
    /** What a queue pair that neither READs nor counts announces, as perftest does. */
    private static final int ONE_READ = 1;
    /** hop limit, minimal RNR timer (0.64 ms) and retries of perftest's ctx_connect. */
    private static final int HOP_LIMIT = 255;

    /** perftest's own, which is for IPv6 only, and one with the same last bytes for IPv4. */
    private static final Gid DEFAULT_GROUP_V6 = new Gid(0xff01_0000_0002_c985L, 0);

    private static final Gid DEFAULT_GROUP_V4 = new Gid(0, 0xffff_ef02_c985L);

    private static final int RNR_TIMER = 12;
    private static final int RETRIES = 7;

    private final PerfParameters parameters;
    private final PerfHandshake.Geometry geometry;
    private final Resources resources = new Resources();
    private final GidEntry gid;
    private final Mtu mtu;
    private final int outstandingReads;
    private final int mostReadsOut;
    private final int partBytes;
    private final MemorySegment memory;
    private final MemoryRegion region;
    private final @Nullable CompletionChannel channel;
    private final CompletionQueue sendQueue;
    private final CompletionQueue receiveQueue;
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private final List<PerfDestination> local = new ArrayList<>();
    private final ProtectionDomain domain;
    private final QueuePairSource source;
    private final @Nullable DatagramPeer[] peers;
    private final int[] receivesPosted;
    private final PerfDestination[] remote;

    PerfContext(
            DeviceContext device,
            QueuePairSource source,
            PerfParameters parameters,
            PerfHandshake.Geometry geometry,
            Mtu mtu) {
        this.source = source;
        this.parameters = parameters;
        this.geometry = geometry;
        this.mtu = mtu;
        remote = new PerfDestination[parameters.queuePairs()];
        peers = new DatagramPeer[parameters.queuePairs()];
        receivesPosted = new int[parameters.queuePairs()];
        boolean complete = false;
        try {
            gid = DevicePicker.chooseGid(device, PORT, parameters.gidIndex());
            DeviceAttributes limits = device.queryDevice();
            outstandingReads = outstandingReads(device, limits);
            mostReadsOut = limits.maxQpInitRdAtomic();
            partBytes =
                    roundUp(Math.max(parameters.size() + receiveMargin(), geometry.pageBytes()), geometry.pageBytes());
            Arena arena = resources.arena();
            memory = arena.allocate(2L * partBytes * parameters.queuePairs(), geometry.pageBytes());
            domain = source.domain(resources);
            region = resources.add(domain.register(
                    memory,
                    AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_WRITE,
                    AccessFlag.REMOTE_READ,
                    AccessFlag.REMOTE_ATOMIC));
            channel = parameters.events() ? resources.add(device.createCompletionChannel()) : null;
            sendQueue = resources.add(
                    device.createCompletionQueue(parameters.sendDepth() * parameters.queuePairs(), channel));
            receiveQueue = resources.add(
                    device.createCompletionQueue(parameters.receiveDepth() * parameters.queuePairs(), channel));
            complete = true;
        } finally {
            if (!complete) {
                resources.close();
            }
        }
    }

    /** Makes the queue pairs; called once. */
    void createQueuePairs() throws InterruptedException {
        Gid group = joinedGroup();
        QueuePairOptions options = parameters
                .connection()
                .queuePair(sendQueue)
                .withReceiveCompletionQueue(receiveQueue)
                .withQueueDepth(parameters.sendDepth(), parameters.receiveDepth())
                .withMaxSge(1, 1)
                .withMaxInlineData(parameters.inlineBytes());
        for (int i = 0; i < parameters.queuePairs(); i++) {
            QueuePair queuePair = source.create(domain, options, resources);
            queuePairs.add(queuePair);
            QueuePairEndpoint endpoint = queuePair.endpoint();
            if (group != null) {
                queuePair.attachMulticast(group);
            }
            local.add(new PerfDestination(
                    endpoint.lid(),
                    outstandingReads,
                    group != null ? MulticastGroup.QP_NUMBER : endpoint.qpNumber(),
                    endpoint.psn(),
                    region.rkey(),
                    receiveAddress(i),
                    group != null ? group : gid.gid()));
        }
    }

    /** The group that this side hears, null when it hears none: perftest's ends of a latency test hear one each. */
    private @Nullable Gid joinedGroup() {
        boolean hears = !parameters.client()
                || parameters.bidirectional()
                || !parameters.test().isBandwidth();
        if (!parameters.multicast() || !hears) {
            return null;
        }
        if (parameters.group() != null) {
            return parameters.group();
        }
        Gid base = gid.gid().isIpv4() ? DEFAULT_GROUP_V4 : DEFAULT_GROUP_V6;
        return new Gid(base.high(), base.low() + (parameters.client() ? 1 : 0));
    }

    private int outstandingReads(DeviceContext device, DeviceAttributes limits) {
        if (!parameters.verb().isAnswered()) {
            return ONE_READ;
        }
        int most = limits.maxQpRdAtomic();
        if (parameters.outstandingReads() > most) {
            throw new CommandFailure("-o " + parameters.outstandingReads() + " is above the limit of "
                    + device.device().name() + ", which is " + most);
        }
        return parameters.outstandingReads() > 0 ? parameters.outstandingReads() : most;
    }

    /** Brings a queue pair up towards what the peer told, unless it is connected already. */
    void connect(int index, PerfDestination peer, String peerName) {
        remote[index] = peer;
        if (source.connects()) {
            peers[index] = source.peer(index);
            return;
        }
        DevicePicker.requireReachable(gid.gid(), peer.gid(), peerName);
        AddressVector way = new AddressVector(peer.gid(), gid.index(), 0, HOP_LIMIT, 0, 0);
        if (parameters.connection() == Connection.UD) {
            queuePairs.get(index).activate(Connection.QKEY);
            AddressHandle handle = resources.add(domain.createAddressHandle(way));
            peers[index] = new DatagramPeer(handle, peer.qpNumber(), Connection.QKEY);
            return;
        }
        int reads = Math.min(peer.outstandingReads(), mostReadsOut);
        queuePairs
                .get(index)
                .connect(
                        new QueuePairEndpoint(peer.lid(), peer.qpNumber(), peer.psn(), peer.gid()),
                        new QueuePairAttributes()
                                .accessFlags(access())
                                .addressVector(way)
                                .pathMtu(mtu)
                                .timeout(parameters.timeout())
                                .retryCount(RETRIES)
                                .rnrRetry(RETRIES)
                                .minRnrTimer(RNR_TIMER)
                                .maxRdAtomic(Math.min(reads, 255))
                                .maxDestRdAtomic(outstandingReads));
    }

    private AccessFlag access() {
        return switch (parameters.verb()) {
            case WRITE, SEND -> AccessFlag.REMOTE_WRITE;
            case READ -> AccessFlag.REMOTE_READ;
            case ATOMIC -> AccessFlag.REMOTE_ATOMIC;
        };
    }

    private static int roundUp(int value, int unit) {
        return Math.toIntExact((value + (long) unit - 1) / unit * unit);
    }

    /** How far apart messages of a size lie, so that they do not share a cache line. */
    int stride(int size) {
        return roundUp(size, geometry.cacheLineBytes());
    }

    /**
     * Messages of a size that fit behind each other into the part that is walked through; 1 when the size is too large
     * for walking.
     */
    int slots(int size) {
        return size <= geometry.pageBytes() / 2 ? geometry.pageBytes() / stride(size) : 1;
    }

    PerfParameters parameters() {
        return parameters;
    }

    QueuePair queuePair(int index) {
        return queuePairs.get(index);
    }

    PerfDestination local(int index) {
        return local.get(index);
    }

    /** What the peer told about its queue pair; only after {@link #connect}. */
    PerfDestination remote(int index) {
        return remote[index];
    }

    CompletionQueue sendQueue() {
        return sendQueue;
    }

    CompletionQueue receiveQueue() {
        return receiveQueue;
    }

    @Nullable
    CompletionChannel channel() {
        return channel;
    }

    MemorySegment memory() {
        return memory;
    }

    int lkey() {
        return region.lkey();
    }

    /** Where a queue pair sends from, as an offset into {@link #memory()}. */
    long sendOffset(int index) {
        return (long) index * partBytes;
    }

    /** Where a queue pair receives into, as an offset into {@link #memory()}. */
    long receiveOffset(int index) {
        return (long) (parameters.queuePairs() + index) * partBytes
                + receiveMargin()
                - parameters.connection().headerBytes();
    }

    /** Room for the header of a datagram, so that its payload starts with a cache line. */
    private int receiveMargin() {
        return parameters.connection().headerBytes() == 0 ? 0 : geometry.cacheLineBytes();
    }

    /** Bytes that a message of a size takes at the receiver. */
    int receiveBytes(int size) {
        return size + parameters.connection().headerBytes();
    }

    /**
     * Posts a receive for a message of a size. Where messages can be lost, receives of one size may be left over for
     * the next: there each has room for the largest.
     */
    void postReceive(int index, int size) {
        int room = receiveBytes(parameters.connection().loses() ? parameters.size() : size);
        queuePairs.get(index).postReceive(index, receiveAddress(index), room, region.lkey());
        receivesPosted[index]++;
    }

    /** A receive of a queue pair was used up. */
    void received(int index) {
        receivesPosted[index]--;
    }

    /** Receives of a queue pair that no message has taken yet. */
    int receivesPosted(int index) {
        return receivesPosted[index];
    }

    /** The peer of a datagram queue pair that sends; null for others. */
    @Nullable
    DatagramPeer datagramPeer(int index) {
        return peers[index];
    }

    long sendAddress(int index) {
        return region.address() + sendOffset(index);
    }

    long receiveAddress(int index) {
        return region.address() + receiveOffset(index);
    }

    Mtu mtu() {
        return mtu;
    }

    GidEntry gid() {
        return gid;
    }

    int outstandingReads() {
        return outstandingReads;
    }

    @Override
    public void close() {
        resources.close();
    }
}
