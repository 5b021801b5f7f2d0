// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.link.CapturingLink;
import io.verbena.link.DatagramLink;
import io.verbena.link.LinkOptions;
import io.verbena.link.LocalAddress;
import io.verbena.link.PortInUseException;
import io.verbena.link.UdpLink;
import io.verbena.transport.cm.CmPort;
import io.verbena.transport.encap.Path;
import io.verbena.transport.encap.RoceV2;
import io.verbena.transport.ib.AddressHandles;
import io.verbena.transport.ib.Counter;
import io.verbena.transport.ib.IbPort;
import io.verbena.transport.ib.IbQueuePair;
import io.verbena.transport.ib.MulticastGroups;
import io.verbena.transport.ib.PortEvents;
import io.verbena.transport.ib.SharedReceives;
import io.verbena.transport.queue.CompletionRing;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.DeviceCapability;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.DeviceInfo;
import io.verbena.verbs.DeviceOptions;
import io.verbena.verbs.Gid;
import io.verbena.verbs.GidEntry;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.XrcDomain;
import io.verbena.wire.pcap.LinkTypes;
import io.verbena.wire.pcap.PcapNgWriter;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** An open software device with its one port. */
final class SoftContext implements DeviceContext {
    private static final int PORT = 1;
    private static final int FULL_PARTITION = 0xffff;
    private static final Set<DeviceCapability> CAPABILITIES = EnumSet.allOf(DeviceCapability.class);

    private final DeviceInfo info;
    private final LocalAddress local;
    private final Gid gid;
    private final Mtu activeMtu;
    private final PortAgent agent;
    private final AsyncEvents asyncEvents = new AsyncEvents();
    private final Sleepers sleepers = new Sleepers();
    /** Open protection domains, completion queues and channels; guarded by the agent's owner lock. */
    private int children;

    private int domainNumbers;
    private final Quota protectionDomains = new Quota("maxPd", "protection domains", Limits.MAX_PD);
    private final Quota completionQueues = new Quota("maxCq", "completion queues", Limits.MAX_CQ);
    private final Quota queuePairs = new Quota("maxQp", "queue pairs", Limits.MAX_QP);
    private final Quota sharedReceiveQueues = new Quota("maxSrq", "shared receive queues", Limits.MAX_SRQ);
    private final Quota memoryRegions = new Quota("maxMr", "memory regions", Limits.MAX_MR);
    private final Quota memoryWindows = new Quota("maxMw", "memory windows", Limits.MAX_MW);
    private final Quota xrcDomains = new Quota("maxXrcDomains", "XRC domains", Limits.MAX_XRC_DOMAINS);
    private final Paths paths = new Paths(this);
    private final Connections connections = new Connections(this);
    private final AtomicBoolean portUp;
    private volatile boolean closed;
    private volatile @Nullable Runnable whenUnused;

    private SoftContext(
            DeviceInfo info, LocalAddress local, DatagramLink link, long seed, @Nullable VirtualTime virtualTime) {
        this.info = info;
        this.local = local;
        this.portUp = new AtomicBoolean(local.up());
        this.gid = Gid.of(local.address());
        this.activeMtu = Mtu.atMost(local.mtu() - Limits.HEADER_BYTES_MAX);
        IbPort port = new IbPort(new RoceV2(), new Events(), new CmPort(nodeGuid(), activeMtu), seed, Limits.MAX_MR);
        this.agent = new PortAgent(info.name(), link, port, connections::settle, this::onFailure, virtualTime);
        port.manageConnections(link.sourcePort(0), connections);
    }

    static SoftContext open(DeviceInfo info, LocalAddress local, DeviceOptions options) {
        try {
            DatagramLink link = UdpLink.open(local.address(), Path.ROCE_V2_PORT, LinkOptions.defaults());
            SoftContext context = over(capturing(link, info, options), info, local);
            PortWatch.SHARED.add(context);
            OpenDevices.SHARED.opened(context);
            return context;
        } catch (PortInUseException e) {
            throw new RdmaException(RdmaException.Reason.ADDRESS_IN_USE, info.name() + ": " + e.getMessage(), e);
        } catch (BindException e) {
            throw new RdmaException(RdmaException.Reason.ADDRESS_NOT_AVAILABLE, info.name() + ": " + e.getMessage(), e);
        } catch (IOException e) {
            throw new RdmaException(RdmaException.Reason.IO, info.name() + ": " + e.getMessage(), e);
        }
    }

    /** A device over a link that is open already; nobody but the caller watches the state of its port. */
    static SoftContext over(DatagramLink link, DeviceInfo info, LocalAddress local) {
        return started(new SoftContext(info, local, link, new SecureRandom().nextLong(), null));
    }

    /** The same in virtual time; the seed takes the place of what must not be guessed. */
    static SoftContext over(
            DatagramLink link, DeviceInfo info, LocalAddress local, long seed, VirtualTime virtualTime) {
        return started(new SoftContext(info, local, link, seed, virtualTime));
    }

    private static SoftContext started(SoftContext context) {
        context.agent.start();
        return context;
    }

    /** The link, with a capture of its frames when the options ask for one. */
    private static DatagramLink capturing(DatagramLink link, DeviceInfo info, DeviceOptions options) {
        if (options.captureFile().isEmpty()) {
            return link;
        }
        java.nio.file.Path file = options.captureFile().get();
        try {
            return new CapturingLink(link, new PcapNgWriter(Files.newOutputStream(file), LinkTypes.ETHERNET));
        } catch (IOException e) {
            link.close();
            throw new RdmaException(
                    RdmaException.Reason.IO, info.name() + ": cannot write the capture " + file + ": " + e, e);
        }
    }

    PortAgent agent() {
        return agent;
    }

    Quota protectionDomains() {
        return protectionDomains;
    }

    Quota completionQueues() {
        return completionQueues;
    }

    Quota queuePairs() {
        return queuePairs;
    }

    Quota sharedReceiveQueues() {
        return sharedReceiveQueues;
    }

    Quota memoryRegions() {
        return memoryRegions;
    }

    Quota memoryWindows() {
        return memoryWindows;
    }

    Quota xrcDomains() {
        return xrcDomains;
    }

    Paths paths() {
        return paths;
    }

    Sleepers sleepers() {
        return sleepers;
    }

    private void onFailure(String why) {
        asyncEvents.add(new AsyncEvent.DeviceFatal(this, why));
        connections.deviceFailed(why);
        sleepers.wakeAll();
    }

    /** The network interface of the port is up or not; each change is an event. */
    void portState(boolean up) {
        if (portUp.getAndSet(up) != up) {
            asyncEvents.add(up ? new AsyncEvent.PortActive(this, PORT) : new AsyncEvent.PortDown(this, PORT));
        }
    }

    /** The connection manager's part of the device. */
    Connections connections() {
        return connections;
    }

    InetAddress localAddress() {
        return local.address();
    }

    Gid gid() {
        return gid;
    }

    Mtu activeMtu() {
        return activeMtu;
    }

    /** Inside the owner lock: an object that depends on this context was made or closed. */
    void childChanged(int change) {
        children += change;
        Runnable action = whenUnused;
        if (children == 0 && action != null) {
            // Closing needs locks that come before this one.
            Thread.startVirtualThread(action);
        }
    }

    /** Does something each time when nothing of the device is open any more. */
    void whenUnused(Runnable action) {
        whenUnused = action;
    }

    private long nodeGuid() {
        return 0x02_56_52_42_00_00_00_00L | (gid.low() & 0xffffffffL);
    }

    void requireOpen() {
        if (closed) {
            throw new RdmaException(RdmaException.Reason.CLOSED, info.name() + " is closed");
        }
        String failure = agent.failure();
        if (failure != null) {
            throw new RdmaException(RdmaException.Reason.IO, info.name() + ": " + failure);
        }
    }

    @Override
    public DeviceInfo device() {
        return info;
    }

    @Override
    public DeviceAttributes queryDevice() {
        requireOpen();
        long guid = nodeGuid();
        return new DeviceAttributes(
                guid,
                guid,
                Limits.VENDOR_ID,
                1,
                1,
                Limits.VERSION,
                Limits.MAX_MR_SIZE,
                Limits.PAGE_SIZES,
                Limits.MAX_QP,
                Limits.MAX_QP_WR,
                Limits.MAX_SGE,
                Limits.MAX_INLINE,
                Limits.MAX_CQ,
                Limits.MAX_CQE,
                Limits.MAX_MR,
                Limits.MAX_PD,
                Limits.MAX_RD_ATOMIC,
                Limits.MAX_RD_ATOMIC,
                Limits.MAX_SRQ,
                Limits.MAX_SRQ_WR,
                Limits.MAX_SGE,
                Limits.MAX_MW,
                AddressHandles.MAX,
                Limits.MAX_XRC_DOMAINS,
                MulticastGroups.GROUPS_MAX,
                MulticastGroups.QUEUE_PAIRS_MAX,
                1,
                Limits.LOCAL_ACK_DELAY,
                DeviceAttributes.AtomicCapability.GLOBAL,
                1,
                CAPABILITIES);
    }

    @Override
    public PortAttributes queryPort(int port) {
        requirePort(port);
        return new PortAttributes(
                PORT,
                portUp.get() ? PortAttributes.State.ACTIVE : PortAttributes.State.DOWN,
                Mtu.MTU_4096,
                activeMtu(),
                Limits.MAX_MESSAGE,
                1,
                1,
                PortAttributes.LinkLayer.ETHERNET,
                0);
    }

    @Override
    public List<GidEntry> gidTable(int port) {
        requirePort(port);
        return List.of(new GidEntry(gid, 0, PORT, GidEntry.Type.ROCE_V2, local.interfaceName()));
    }

    @Override
    public Gid queryGid(int port, int index) {
        requirePort(port);
        requireIndex("GID", index);
        return gid;
    }

    @Override
    public int queryPartitionKey(int port, int index) {
        requirePort(port);
        requireIndex("P_Key", index);
        return FULL_PARTITION;
    }

    private void requirePort(int port) {
        requireOpen();
        if (port != PORT) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT, info.name() + " has port 1 only, not " + port);
        }
    }

    private void requireIndex(String table, int index) {
        if (index != 0) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    info.name() + ": the " + table + " table has one entry, at index 0, not " + index);
        }
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        return agent.call(() -> {
            requireOpen();
            protectionDomains.take();
            children++;
            return new SoftProtectionDomain(this, ++domainNumbers);
        });
    }

    @Override
    public XrcDomain openXrcDomain() {
        return agent.call(() -> {
            requireOpen();
            xrcDomains.take();
            children++;
            return new SoftXrcDomain(this, ++domainNumbers);
        });
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        return agent.call(() -> {
            requireOpen();
            children++;
            return new SoftCompletionChannel(this);
        });
    }

    @Override
    public CompletionQueue createCompletionQueue(int entries, @Nullable CompletionChannel channel) {
        requireOpen();
        if (entries < 1 || entries > Limits.MAX_CQE) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    "a completion queue of " + entries + " entries; 1 to " + Limits.MAX_CQE + " (maxCqe) is possible");
        }
        if (channel != null && (!(channel instanceof SoftCompletionChannel own) || own.context() != this)) {
            throw new IllegalArgumentException("the completion channel belongs to another device");
        }
        SoftCompletionChannel own = (SoftCompletionChannel) channel;
        CompletionRing ring = new CompletionRing(entries);
        return agent.call(() -> {
            requireOpen();
            if (own != null) {
                own.requireOpen();
            }
            completionQueues.take();
            if (own != null) {
                own.attach();
            }
            children++;
            return new SoftCompletionQueue(this, ring, own);
        });
    }

    @Override
    public @Nullable AsyncEvent pollAsyncEvent() {
        return asyncEvents.poll();
    }

    @Override
    public @Nullable AsyncEvent awaitAsyncEvent(Duration timeout) throws InterruptedException {
        return asyncEvents.await(agent.driver(), timeout);
    }

    @Override
    public Map<String, Long> counters() {
        return agent.call(() -> {
            Map<String, Long> values = new LinkedHashMap<>();
            for (Counter counter : Counter.values()) {
                values.put(counter.key(), agent.port().counter(counter));
            }
            return values;
        });
    }

    @Override
    public long clockNanos() {
        return agent.call(agent::now);
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public void close() {
        if (!closeUnlessUsed()) {
            throw new RdmaException(
                    RdmaException.Reason.BUSY,
                    info.name() + " still has " + children
                            + " open protection domains, completion queues, channels, XRC domains or connection ids;"
                            + " close them first");
        }
    }

    /** Closes the device; false, and it stays open, while something of it is. */
    boolean closeUnlessUsed() {
        AtomicBoolean first = new AtomicBoolean();
        boolean unused = agent.call(() -> {
            connections.closeIdleDomain();
            first.set(!closed && children == 0);
            closed |= children == 0;
            return children == 0;
        });
        if (first.get()) {
            PortWatch.SHARED.remove(this);
            OpenDevices.SHARED.closed(this);
            asyncEvents.close();
            connections.farewell();
            agent.close();
        }
        return unused;
    }

    /** Routes what the engine tells to the handles. */
    private final class Events implements PortEvents {
        @Override
        public void completions(CompletionRing ring) {
            if (ring.owner() instanceof SoftCompletionQueue queue) {
                queue.onCompletions();
            }
        }

        @Override
        public void completionQueueOverrun(CompletionRing ring) {
            if (ring.owner() instanceof SoftCompletionQueue queue) {
                asyncEvents.add(new AsyncEvent.CompletionQueueError(queue));
                queue.onCompletions();
            }
        }

        @Override
        public void communicationEstablished(IbQueuePair queuePair) {
            if (queuePair.owner() instanceof SoftQueuePair handle) {
                asyncEvents.add(new AsyncEvent.CommunicationEstablished(handle));
            }
        }

        @Override
        public void queuePairFailed(IbQueuePair queuePair) {
            if (queuePair.owner() instanceof SoftQueuePair handle) {
                connections.queuePairFailed(handle);
            }
        }

        @Override
        public void accessError(IbQueuePair queuePair, String why) {
            if (queuePair.owner() instanceof SoftQueuePair handle) {
                asyncEvents.add(new AsyncEvent.QueuePairAccessError(handle, why));
            }
        }

        @Override
        public void sendQueueDrained(IbQueuePair queuePair) {
            if (queuePair.owner() instanceof SoftQueuePair handle) {
                asyncEvents.add(new AsyncEvent.SendQueueDrained(handle));
            }
        }

        @Override
        public void lastWqeReached(IbQueuePair queuePair) {
            if (queuePair.owner() instanceof SoftQueuePair handle) {
                asyncEvents.add(new AsyncEvent.LastWqeReached(handle));
            }
        }

        @Override
        public void sharedReceiveQueueLimit(SharedReceives queue) {
            if (queue.owner() instanceof SoftSharedReceiveQueue handle) {
                asyncEvents.add(new AsyncEvent.SharedReceiveQueueLimit(handle));
            }
        }
    }
}
