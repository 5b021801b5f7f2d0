// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.encap.Path;
import io.verbena.transport.ib.IbQueuePair;
import io.verbena.transport.ib.QueuePairChange;
import io.verbena.transport.queue.WorkQueue;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowBinding;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttribute;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairCapabilities;
import io.verbena.verbs.QueuePairEndpoint;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.ReceiveRequest;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.spi.QueuePairTransitions;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A queue pair: checks and applies attributes, and hands posting to {@link SendPoster} and {@link ReceivePoster}. */
final class SoftQueuePair implements QueuePair, ReceivePoster.Target {
    private final SoftProtectionDomain domain;
    private final IbQueuePair engine;
    private final QueuePairFactory parts;
    private final QueuePairCapabilities capabilities;
    private final SendPoster sends;
    private final MulticastMembership multicast;
    private final ReceivePoster receives;
    private final @Nullable WorkQueue receiveQueue;
    /** Guarded by the agent's owner lock, as is all below. */
    private final QueuePairAttributes attributes = new QueuePairAttributes();

    private int firstPsn = -1;
    private @Nullable SoftConnectionId connection;
    private volatile boolean closed;

    SoftQueuePair(SoftProtectionDomain domain, IbQueuePair engine, QueuePairOptions options, QueuePairFactory parts) {
        this.domain = domain;
        this.engine = engine;
        this.parts = parts;
        this.receiveQueue = engine.receiveQueue();
        this.capabilities = new QueuePairCapabilities(
                options.maxSendWr(),
                options.maxReceiveWr(),
                options.maxSendSge(),
                options.maxReceiveSge(),
                options.maxInlineData());
        this.sends = new SendPoster(this);
        this.receives = new ReceivePoster(this, capabilities.maxReceiveSge());
        this.multicast = new MulticastMembership(this);
        engine.owner(this);
    }

    IbQueuePair engine() {
        return engine;
    }

    PortAgent agent() {
        return domain.agent();
    }

    void requireOpen() {
        if (closed) {
            throw new RdmaException(
                    RdmaException.Reason.CLOSED, "queue pair 0x" + Integer.toHexString(qpNumber()) + " is closed");
        }
    }

    /** The state, if sends may be posted in it. */
    QueuePairState requireSendable() {
        requireOpen();
        QueuePairState state = engine.state();
        if (state.compareTo(QueuePairState.RTS) < 0) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_STATE,
                    "a send needs a queue pair in RTS; 0x" + Integer.toHexString(qpNumber()) + " is in " + state);
        }
        return state;
    }

    @Override
    public WorkQueue queue() {
        if (receiveQueue == null) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT,
                    parts.shared == null
                            ? type() + " queue pairs have no receives of their own"
                            : "post to the shared receive queue: this queue pair has no receives of its own");
        }
        return receiveQueue;
    }

    @Override
    public void requirePostable() {
        requireOpen();
        if (engine.state() == QueuePairState.RESET) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_STATE,
                    "a receive cannot be posted in RESET; move queue pair 0x" + Integer.toHexString(qpNumber())
                            + " to INIT first");
        }
    }

    /** The engine looks at receives when a message comes; in ERR none does, so it must be told to flush. */
    @Override
    public void posted() {
        VarHandle.fullFence();
        if (engine.state() == QueuePairState.ERR) {
            engine.requestService();
            agent().service();
        }
    }

    SoftProtectionDomain domain() {
        return domain;
    }

    Gid localGid() {
        return domain.softContext().gid();
    }

    /** Bytes of the largest datagram. */
    int datagramMax() {
        return domain.softContext().activeMtu().bytes();
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public QueuePairType type() {
        return engine.type();
    }

    @Override
    public int qpNumber() {
        return engine.qpNumber();
    }

    @Override
    public QueuePairState state() {
        return engine.state();
    }

    @Override
    public QueuePairCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public CompletionQueue sendCompletionQueue() {
        return parts.requireSends();
    }

    @Override
    public CompletionQueue receiveCompletionQueue() {
        return parts.requireReceives();
    }

    @Override
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return parts.shared;
    }

    @Override
    public void modify(QueuePairAttributes change) {
        agent().run(() -> modifyOwned(change));
    }

    /** Inside the owner lock. */
    void modifyOwned(QueuePairAttributes change) {
        requireOpen();
        QueuePairState from = engine.state();
        QueuePairState to = change.has(QueuePairAttribute.STATE) ? change.state() : from;
        QueuePairTransitions.check(type(), from, to, change.mask());
        checkValues(change);
        AddressVector vector = change.has(QueuePairAttribute.AV) ? change.addressVector() : null;
        Path path = vector == null
                ? null
                : domain.softContext().paths().resolve(vector, qpNumber(), change.destinationQpNumber());
        if (to == QueuePairState.RESET) {
            parts.forgetCompletions(engine.handle(), qpNumber());
            firstPsn = -1;
        }
        attributes.putAll(change);
        engine.modify(agent().now(), new QueuePairChange(to, change, path));
    }

    private void checkValues(QueuePairAttributes change) {
        check("port", change.port() == 1, change.port(), "1");
        check("pkeyIndex", change.pkeyIndex() == 0, change.pkeyIndex(), "0");
        SoftProtectionDomain.limit("maxRdAtomic", change.maxRdAtomic(), 0, Limits.MAX_RD_ATOMIC, "maxQpInitRdAtomic");
        SoftProtectionDomain.limit(
                "maxDestRdAtomic", change.maxDestRdAtomic(), 0, Limits.MAX_RD_ATOMIC, "maxQpRdAtomic");
        Mtu active = domain.softContext().activeMtu();
        if (change.has(QueuePairAttribute.PATH_MTU)) {
            check(
                    "pathMtu",
                    change.pathMtu().bytes() <= active.bytes(),
                    change.pathMtu().bytes(),
                    "at most the port's active MTU of " + active.bytes());
        }
    }

    private static void check(String name, boolean good, int value, String possible) {
        if (!good) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_ARGUMENT, name + " is " + value + "; " + possible + " is possible");
        }
    }

    @Override
    public QueuePairAttributes query() {
        return agent().call(() -> {
            requireOpen();
            QueuePairAttributes now =
                    new QueuePairAttributes().putAll(attributes).state(engine.state());
            if (attributes.has(QueuePairAttribute.SQ_PSN)) {
                now.sqPsn(engine.nextPsn());
            }
            if (attributes.has(QueuePairAttribute.RQ_PSN)) {
                now.rqPsn(engine.expectedPsn());
            }
            return now;
        });
    }

    /** Inside the owner lock: the PSN of the first packet that it sends. */
    int firstPsn() {
        if (firstPsn < 0) {
            firstPsn = agent().port().random().nextInt() & 0xffffff;
        }
        return firstPsn;
    }

    /** Inside the owner lock: whose end of a connection it is, or null. */
    @Nullable
    SoftConnectionId connection() {
        return connection;
    }

    /** Inside the owner lock. */
    void connection(@Nullable SoftConnectionId id) {
        connection = id;
    }

    /** Inside the owner lock: the connection is over, what is posted comes back. */
    void failOwned() {
        if (!closed && engine.state() != QueuePairState.RESET) {
            modifyOwned(new QueuePairAttributes().state(QueuePairState.ERR));
        }
    }

    /** Inside the owner lock: asks an idle peer that is silent for so long whether it is there. */
    void keepAliveOwned(Duration silence) {
        engine.keepAlive(agent().now(), Deadlines.nanos(silence));
    }

    @Override
    public QueuePairEndpoint endpoint() {
        return agent().call(() -> {
            requireOpen();
            return new QueuePairEndpoint(
                    0, qpNumber(), firstPsn(), domain.softContext().gid());
        });
    }

    @Override
    public void connect(QueuePairEndpoint peer) {
        connect(peer, new QueuePairAttributes());
    }

    @Override
    public void connect(QueuePairEndpoint peer, QueuePairAttributes overrides) {
        if (!type().isConnected()) {
            throw new IllegalStateException(
                    "a datagram queue pair has no peer; use activate(qkey) and address handles");
        }
        Mtu mtu = domain.softContext().activeMtu();
        ConnectDefaults defaults = new ConnectDefaults(type(), peer, endpoint().psn(), mtu);
        modify(ConnectDefaults.init().overriddenBy(overrides).state(QueuePairState.INIT));
        modify(defaults.readyToReceive().overriddenBy(overrides).state(QueuePairState.RTR));
        modify(defaults.readyToSend().overriddenBy(overrides).state(QueuePairState.RTS));
    }

    @Override
    public void activate(int qkey) {
        if (type().isConnected()) {
            throw new IllegalStateException("a " + type() + " queue pair is connected to a peer; use connect");
        }
        modify(new QueuePairAttributes().pkeyIndex(0).port(1).qkey(qkey).state(QueuePairState.INIT));
        modify(new QueuePairAttributes().state(QueuePairState.RTR));
        modify(new QueuePairAttributes().sqPsn(endpoint().psn()).state(QueuePairState.RTS));
    }

    @Override
    public void attachMulticast(Gid group) {
        multicast.attach(group);
    }

    @Override
    public void detachMulticast(Gid group) {
        multicast.detach(group);
    }

    @Override
    public void bind(MemoryWindow window, MemoryWindowBinding binding, long wrId, int flags) {
        sends.postBind(window, binding, wrId, flags);
    }

    @Override
    public void post(SendRequest request) {
        sends.post(request);
        sends.ring();
    }

    @Override
    public void post(List<SendRequest> requests) {
        int index = 0;
        try {
            for (SendRequest request : requests) {
                sends.post(request);
                index++;
            }
        } catch (RdmaException e) {
            throw new PostException(e.reason(), "request " + index + " of the list: " + e.getMessage(), index);
        } finally {
            if (index > 0) {
                sends.ring();
            }
        }
    }

    @Override
    public void post(ReceiveRequest request) {
        receives.post(request);
    }

    @Override
    public void postSend(long wrId, long address, int length, int lkey, int flags) {
        sends.post(SendOpcode.SEND, wrId, address, length, lkey, 0, 0, 0, flags);
    }

    @Override
    public void postSendWithImmediate(long wrId, long address, int length, int lkey, int immediate, int flags) {
        sends.post(SendOpcode.SEND_WITH_IMM, wrId, address, length, lkey, 0, 0, immediate, flags);
    }

    @Override
    public void postSendTo(
            long wrId, long address, int length, int lkey, AddressHandle handle, int qpNumber, int qkey, int flags) {
        sends.postDatagram(wrId, address, length, lkey, handle, qpNumber, qkey, flags);
    }

    @Override
    public void postWrite(long wrId, long address, int length, int lkey, long remoteAddress, int rkey, int flags) {
        sends.post(SendOpcode.RDMA_WRITE, wrId, address, length, lkey, remoteAddress, rkey, 0, flags);
    }

    @Override
    public void postWriteWithImmediate(
            long wrId, long address, int length, int lkey, long remoteAddress, int rkey, int immediate, int flags) {
        sends.post(SendOpcode.RDMA_WRITE_WITH_IMM, wrId, address, length, lkey, remoteAddress, rkey, immediate, flags);
    }

    @Override
    public void postRead(long wrId, long address, int length, int lkey, long remoteAddress, int rkey, int flags) {
        sends.post(SendOpcode.RDMA_READ, wrId, address, length, lkey, remoteAddress, rkey, 0, flags);
    }

    @Override
    public void postFetchAndAdd(long wrId, long address, int lkey, long remoteAddress, int rkey, long add, int flags) {
        sends.postAtomic(SendOpcode.ATOMIC_FETCH_AND_ADD, wrId, address, lkey, remoteAddress, rkey, add, 0, flags);
    }

    @Override
    public void postCompareAndSwap(
            long wrId, long address, int lkey, long remoteAddress, int rkey, long compare, long swap, int flags) {
        sends.postAtomic(SendOpcode.ATOMIC_CMP_AND_SWP, wrId, address, lkey, remoteAddress, rkey, compare, swap, flags);
    }

    @Override
    public void postReceive(long wrId, long address, int length, int lkey) {
        receives.post(wrId, address, length, lkey);
    }

    @Override
    public void close() {
        agent().run(() -> {
            if (closed) {
                return;
            }
            closed = true;
            multicast.leaveAll();
            agent().port().destroyQueuePair(engine);
            parts.release(engine.handle(), qpNumber());
        });
    }

    @Override
    public String toString() {
        return "QueuePair[" + type() + " 0x" + Integer.toHexString(qpNumber()) + ", " + state() + "]";
    }
}
