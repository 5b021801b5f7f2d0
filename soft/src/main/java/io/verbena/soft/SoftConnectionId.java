// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.cm.AcceptParameters;
import io.verbena.transport.cm.CmEndpoint;
import io.verbena.transport.cm.CmListener;
import io.verbena.transport.cm.ConnectParameters;
import io.verbena.transport.cm.Conversation;
import io.verbena.transport.cm.RequestParameters;
import io.verbena.transport.cm.SidrConversation;
import io.verbena.transport.cm.SidrParameters;
import io.verbena.transport.cm.SidrReply;
import io.verbena.transport.encap.Path;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Gid;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.CmMessage;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import io.verbena.verbs.cm.PrivateData;
import io.verbena.verbs.cm.RejectReason;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection. Before it has a device its state is guarded by its monitor, afterwards by the device's owner
 * lock, in which all {@code on...} methods are called. Who needs both takes the monitor first.
 */
final class SoftConnectionId implements ConnectionId {
    private enum State {
        IDLE,
        BOUND,
        ADDRESS_RESOLVED,
        ROUTE_RESOLVED,
        LISTENING,
        CONNECTING,
        REQUESTED,
        ACCEPTED,
        ANSWERED,
        CONNECTED,
        DISCONNECTING,
        ENDED,
        CLOSED
    }

    private static final int ACK_DELAY = 15;
    /** What all who talk datagrams by rdma_cm share (RDMA_UDP_QKEY). */
    private static final int DATAGRAM_QKEY = 0x01234567;

    private static final int MULTICAST_QP = 0xffffff;

    private volatile SoftEventChannel channel;
    private final PortSpace portSpace;
    private volatile State state = State.IDLE;
    private @Nullable SoftContext context;
    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress remote;
    private final List<CmListener> listeners = new ArrayList<>();
    private final List<SoftContext> listenedOn = new ArrayList<>();
    private @Nullable Conversation conversation;
    private @Nullable SidrConversation question;
    private @Nullable RequestParameters request;
    private @Nullable SoftQueuePair queuePair;
    private ConnectionParameters own = ConnectionParameters.defaults();
    private ConnectionParameters theirs = ConnectionParameters.defaults();

    SoftConnectionId(SoftEventChannel channel, PortSpace portSpace) {
        this.channel = channel;
        this.portSpace = portSpace;
    }

    @Override
    public EventChannel channel() {
        return channel;
    }

    @Override
    public synchronized void migrate(EventChannel other) {
        if (!(other instanceof SoftEventChannel target)) {
            throw new IllegalArgumentException("the channel belongs to another provider");
        }
        SoftEventChannel old = channel;
        inOwner(() -> {
            target.adopt(this);
            channel = target;
            old.disown(this).forEach(target::add);
            return true;
        });
    }

    @Override
    public PortSpace portSpace() {
        return portSpace;
    }

    private RdmaException wrongState(String what) {
        return new RdmaException(
                state == State.CLOSED ? RdmaException.Reason.CLOSED : RdmaException.Reason.INVALID_STATE,
                what + " is not possible: the connection id is " + state);
    }

    private void require(String what, State... possible) {
        for (State one : possible) {
            if (state == one) {
                return;
            }
        }
        throw wrongState(what);
    }

    /** Runs in the owner lock of the device, if there is one. */
    private <T> T inOwner(Supplier<T> action) {
        SoftContext device = context;
        if (device == null) {
            return action.get();
        }
        return device.agent().callAndSend(action);
    }

    @Override
    public synchronized void bind(InetSocketAddress address) {
        require("bind", State.IDLE);
        InetAddress ip = address.getAddress();
        if (ip == null) {
            throw new RdmaException(RdmaException.Reason.NOT_FOUND, "unknown host " + address.getHostString());
        }
        if (!ip.isAnyLocalAddress()) {
            context = channel.devices().at(ip);
        }
        local = address;
        state = State.BOUND;
    }

    @Override
    public synchronized void resolveAddress(
            @Nullable InetSocketAddress source, InetSocketAddress target, Duration timeout) {
        require("resolveAddress", State.IDLE, State.BOUND);
        try {
            InetAddress to =
                    target.getAddress() == null ? InetAddress.getByName(target.getHostString()) : target.getAddress();
            if (to.isAnyLocalAddress()) {
                to = InetAddress.getLoopbackAddress();
            }
            SoftContext device = context;
            if (device == null) {
                device = channel.devices().toward(source == null ? null : source.getAddress(), to);
                context = device;
            }
            InetSocketAddress bound = source == null ? local : source;
            int port = bound == null ? 0 : bound.getPort();
            local = new InetSocketAddress(
                    device.localAddress(), port == 0 ? device.connections().freePort() : port);
            remote = new InetSocketAddress(to, target.getPort());
            state = State.ADDRESS_RESOLVED;
            channel.add(new ConnectionEvent.AddressResolved(this));
        } catch (UnknownHostException e) {
            channel.add(new ConnectionEvent.AddressFailed(
                    this,
                    new RdmaException(RdmaException.Reason.NOT_FOUND, "unknown host " + target.getHostString(), e)));
        } catch (RdmaException e) {
            channel.add(new ConnectionEvent.AddressFailed(this, e));
        }
    }

    @Override
    public synchronized void resolveRoute(Duration timeout) {
        require("resolveRoute", State.ADDRESS_RESOLVED);
        state = State.ROUTE_RESOLVED;
        channel.add(new ConnectionEvent.RouteResolved(this));
    }

    @Override
    public synchronized void listen(int backlog) {
        require("listen", State.IDLE, State.BOUND);
        if (backlog < 1) {
            throw new IllegalArgumentException("the backlog is " + backlog + "; it must be 1 or more");
        }
        InetSocketAddress address = local == null ? new InetSocketAddress(0) : local;
        List<SoftContext> devices = context == null ? channel.devices().all(address.getAddress()) : List.of(context);
        if (devices.isEmpty()) {
            throw new RdmaException(RdmaException.Reason.NOT_FOUND, "this host has no device to listen on");
        }
        try {
            int port = address.getPort() == 0 ? devices.getFirst().connections().freePort() : address.getPort();
            for (SoftContext device : devices) {
                CmListener listener = device.agent()
                        .call(() -> device.connections().engine().listen(portSpace.serviceId(port), backlog));
                if (listener == null) {
                    throw new RdmaException(
                            RdmaException.Reason.ADDRESS_IN_USE,
                            device.device().name() + ": somebody listens to " + portSpace + " port " + port
                                    + " already; choose another port, or 0 for any");
                }
                listener.attach(this);
                listeners.add(listener);
                listenedOn.add(device);
            }
            local = new InetSocketAddress(address.getAddress(), port);
            state = State.LISTENING;
        } catch (RdmaException e) {
            stopListening();
            if (context == null) {
                devices.forEach(device -> channel.devices().release(device));
            }
            throw e;
        }
    }

    private void stopListening() {
        for (int i = 0; i < listeners.size(); i++) {
            SoftContext device = listenedOn.get(i);
            CmListener listener = listeners.get(i);
            device.agent().run(() -> device.connections().engine().close(listener));
        }
        listeners.clear();
    }

    private SoftContext device() {
        SoftContext device = context;
        if (device == null) {
            throw wrongState("this");
        }
        return device;
    }

    @Override
    public DeviceContext context() {
        return device();
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return device().connections().protectionDomain();
    }

    @Override
    public synchronized QueuePair createQueuePair(ProtectionDomain domain, QueuePairOptions options) {
        require("createQueuePair", State.ADDRESS_RESOLVED, State.ROUTE_RESOLVED, State.REQUESTED);
        if (queuePair != null) {
            throw new RdmaException(RdmaException.Reason.INVALID_STATE, "the connection id has a queue pair already");
        }
        if (domain.context() != context) {
            throw new IllegalArgumentException("the protection domain belongs to another device than the connection");
        }
        QueuePairType type = portSpace == PortSpace.TCP ? QueuePairType.RC : QueuePairType.UD;
        if (options.type() != type) {
            throw new IllegalArgumentException(
                    "a queue pair of port space " + portSpace + " is " + type + ", not " + options.type());
        }
        SoftQueuePair created = (SoftQueuePair) domain.createQueuePair(options);
        try {
            if (type == QueuePairType.UD) {
                created.activate(DATAGRAM_QKEY);
            } else {
                created.modify(new ConnectDefaults(type, created.endpoint(), 0, device().activeMtu())
                        .init()
                        .state(QueuePairState.INIT));
            }
            inOwner(() -> {
                created.connection(this);
                queuePair = created;
                return true;
            });
            return created;
        } catch (RuntimeException e) {
            created.close();
            throw e;
        }
    }

    @Override
    public @Nullable QueuePair queuePair() {
        return queuePair;
    }

    @Override
    public void connect(ConnectionParameters parameters) {
        SoftQueuePair pair = queuePair;
        if (pair == null) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_STATE, "createQueuePair first, or name the queue pair to connect");
        }
        connect(parameters, pair.qpNumber(), pair.endpoint().psn());
    }

    @Override
    public synchronized void connect(ConnectionParameters parameters, int qpNumber, int startingPsn) {
        boolean datagrams = portSpace == PortSpace.UDP;
        checkPrivateData(datagrams ? CmMessage.SIDR_REQUEST : CmMessage.REQUEST, parameters.privateData());
        require("connect", State.ROUTE_RESOLVED);
        InetSocketAddress from = local;
        InetSocketAddress to = remote;
        if (from == null || to == null) {
            throw wrongState("connect");
        }
        inOwner(() -> {
            SoftContext device = device();
            own = limited(parameters);
            long now = device.agent().now();
            if (datagrams) {
                ask(device, now, from, to);
                return true;
            }
            ConnectParameters ask = new ConnectParameters(
                    portSpace.serviceId(to.getPort()),
                    path(device, to.getAddress()),
                    QueuePairType.RC,
                    endpoint(own, qpNumber, startingPsn),
                    own.retryCount(),
                    own.ackTimeout(),
                    device.activeMtu(),
                    IpHeader.before(own.privateData(), from, to),
                    now + Deadlines.nanos(own.timeout()));
            Conversation started = device.connections().engine().connect(now, ask);
            if (started == null) {
                throw Connections.tooMany();
            }
            started.attach(this);
            conversation = started;
            state = State.CONNECTING;
            return true;
        });
    }

    /** Asks for the queue pair of a datagram service. */
    private void ask(SoftContext device, long now, InetSocketAddress from, InetSocketAddress to) {
        SidrConversation asked = device.connections()
                .engine()
                .sidrRequest(
                        now,
                        new SidrParameters(
                                portSpace.serviceId(to.getPort()),
                                path(device, to.getAddress()),
                                IpHeader.before(own.privateData(), from, to),
                                now + Deadlines.nanos(own.timeout())));
        if (asked == null) {
            throw Connections.tooMany();
        }
        asked.attach(this);
        question = asked;
        state = State.CONNECTING;
    }

    private static Path path(SoftContext device, InetAddress to) {
        return device.paths().resolve(AddressVector.to(Gid.of(to)), 1, 1);
    }

    private static ConnectionParameters limited(ConnectionParameters wanted) {
        return wanted.withReads(
                Math.min(wanted.responderResources(), Limits.MAX_RD_ATOMIC),
                Math.min(wanted.initiatorDepth(), Limits.MAX_RD_ATOMIC));
    }

    private CmEndpoint endpoint(ConnectionParameters parameters, int qpNumber, int psn) {
        return new CmEndpoint(
                qpNumber,
                psn,
                parameters.responderResources(),
                parameters.initiatorDepth(),
                parameters.rnrRetryCount(),
                queuePair != null && queuePair.sharedReceiveQueue() != null);
    }

    /** Somebody wants to connect to this listener; false when the request makes no sense. */
    boolean onRequest(SoftContext device, Conversation asking, RequestParameters parameters) {
        IpHeader.Ends ends = IpHeader.read(parameters.privateData(), device.localAddress(), parameters.serviceId());
        if (state != State.LISTENING || ends == null || parameters.type() != QueuePairType.RC) {
            return false;
        }
        SoftConnectionId id = child(device, ends, parameters.path());
        if (id == null) {
            return false;
        }
        id.conversation = asking;
        id.request = parameters;
        id.theirs = fromPeer(
                parameters.endpoint(),
                IpHeader.after(parameters.privateData()),
                parameters.retryCount(),
                parameters.ackTimeout());
        asking.attach(id);
        channel.add(new ConnectionEvent.ConnectRequest(this, id, id.theirs));
        return true;
    }

    /** The id of somebody who asks; null when this listener's channel is closed. */
    private @Nullable SoftConnectionId child(SoftContext device, IpHeader.Ends ends, Path back) {
        SoftConnectionId id = new SoftConnectionId(channel, portSpace);
        try {
            channel.adopt(id);
        } catch (RdmaException e) {
            return null;
        }
        device.connections().useOwned();
        id.context = device;
        id.local = ends.local();
        // Where the request came from, whatever it says of itself.
        id.remote = new InetSocketAddress(new Gid(back.remoteHigh(), back.remoteLow()).toAddress(), ends.remotePort());
        id.state = State.REQUESTED;
        return id;
    }

    /**
     * Somebody asks this listener for the queue pair of its datagram service; false when the question makes no sense.
     */
    boolean onQuestion(SoftContext device, SidrConversation asking, byte[] privateData) {
        IpHeader.Ends ends = IpHeader.read(privateData, device.localAddress(), asking.serviceId());
        SoftConnectionId id = state == State.LISTENING && ends != null ? child(device, ends, asking.path()) : null;
        if (id == null) {
            return false;
        }
        id.question = asking;
        id.theirs = ConnectionParameters.defaults().withPrivateData(IpHeader.after(privateData));
        asking.attach(id);
        channel.add(new ConnectionEvent.ConnectRequest(this, id, id.theirs));
        return true;
    }

    /** The datagram service answered. */
    void onAnswer(SidrReply reply) {
        InetSocketAddress to = remote;
        if (state != State.CONNECTING || to == null) {
            return;
        }
        PrivateData data = PrivateData.of(reply.privateData());
        if (reply.status() == SidrReply.VALID) {
            state = State.CONNECTED;
            channel.add(new ConnectionEvent.DatagramResolved(
                    this, AddressVector.to(Gid.of(to.getAddress())), reply.queuePair(), reply.queueKey(), data));
        } else {
            RejectReason reason = reply.status() == SidrReply.SERVICE_NOT_SUPPORTED
                    ? RejectReason.INVALID_SERVICE_ID
                    : RejectReason.CONSUMER_DEFINED;
            end(new ConnectionEvent.Rejected(this, reason, reply.status(), data));
        }
    }

    /** Answers a question for this side's datagram service. */
    private void answer(SidrReply reply) {
        SidrConversation asked = question;
        if (asked == null
                || !device().connections().engine().sidrReply(device().agent().now(), asked, reply)) {
            throw new RdmaException(RdmaException.Reason.DISCONNECTED, "the other side does not ask any more");
        }
    }

    /** What the other side offers is what this side may use, and the other way round. */
    private static ConnectionParameters fromPeer(CmEndpoint peer, PrivateData data, int retryCount, int ackTimeout) {
        return ConnectionParameters.defaults()
                .withPrivateData(data)
                .withReads(peer.initiatorDepth(), peer.responderResources())
                .withRetries(retryCount, peer.rnrRetry())
                .withAckTimeout(ackTimeout);
    }

    @Override
    public synchronized void accept(ConnectionParameters parameters) {
        boolean datagrams = portSpace == PortSpace.UDP;
        checkPrivateData(datagrams ? CmMessage.SIDR_REPLY : CmMessage.REPLY, parameters.privateData());
        inOwner(() -> {
            require("accept", State.REQUESTED);
            SoftQueuePair pair = queuePair;
            if (datagrams && pair != null) {
                answer(new SidrReply(
                        SidrReply.VALID,
                        pair.qpNumber(),
                        DATAGRAM_QKEY,
                        parameters.privateData().bytes()));
                state = State.CONNECTED;
                return true;
            }
            RequestParameters asked = request;
            Conversation current = conversation;
            if (pair == null || asked == null || current == null) {
                throw new RdmaException(RdmaException.Reason.INVALID_STATE, "createQueuePair first");
            }
            ConnectionParameters wanted = limited(parameters);
            own = wanted.withReads(
                            Math.min(wanted.responderResources(), theirs.responderResources()),
                            Math.min(wanted.initiatorDepth(), theirs.initiatorDepth()))
                    .withRetries(asked.retryCount(), wanted.rnrRetryCount());
            ConnectionSteps steps = steps(pair, asked.endpoint())
                    // The other side's wish is the longest wait; no need to be as patient as that.
                    .withAckTimeout(Math.min(own.ackTimeout(), asked.ackTimeout()))
                    .withMtu(asked.pathMtu());
            pair.modifyOwned(steps.readyToReceive());
            AcceptParameters reply = new AcceptParameters(
                    endpoint(own, pair.qpNumber(), pair.firstPsn()),
                    ACK_DELAY,
                    own.privateData().bytes());
            if (!device().connections().engine().accept(device().agent().now(), current, reply)) {
                throw new RdmaException(
                        RdmaException.Reason.DISCONNECTED, "the other side gave up before it was accepted");
            }
            this.steps = steps;
            state = State.ACCEPTED;
            return true;
        });
    }

    private @Nullable ConnectionSteps steps;

    private ConnectionSteps steps(SoftQueuePair pair, CmEndpoint peer) {
        InetSocketAddress to = remote;
        if (to == null) {
            throw wrongState("this");
        }
        return new ConnectionSteps(
                Gid.of(to.getAddress()), peer, own, pair.firstPsn(), own.ackTimeout(), device().activeMtu());
    }

    @Override
    public synchronized void reject(RejectReason reason, PrivateData privateData) {
        boolean datagrams = portSpace == PortSpace.UDP;
        checkPrivateData(datagrams ? CmMessage.SIDR_REPLY : CmMessage.REJECT, privateData);
        inOwner(() -> {
            require("reject", State.REQUESTED, State.ANSWERED);
            Conversation current = conversation;
            state = State.ENDED;
            if (datagrams) {
                answer(SidrReply.refused(SidrReply.REJECTED, privateData.bytes()));
                return true;
            }
            return current != null
                    && device().connections()
                            .engine()
                            .reject(device().agent().now(), current, reason.number(), privateData.bytes());
        });
    }

    @Override
    public synchronized void establish() {
        inOwner(() -> {
            require("establish", State.ANSWERED);
            complete();
            return true;
        });
    }

    private void complete() {
        Conversation current = conversation;
        if (current != null
                && device().connections().engine().complete(device().agent().now(), current)) {
            state = State.CONNECTED;
            channel.add(new ConnectionEvent.Established(this, theirs));
        }
    }

    /** Active: the other side accepted. */
    void onReply(AcceptParameters reply) {
        if (state != State.CONNECTING) {
            return;
        }
        theirs = fromPeer(reply.endpoint(), PrivateData.of(reply.privateData()), own.retryCount(), own.ackTimeout());
        SoftQueuePair pair = queuePair;
        if (pair == null) {
            state = State.ANSWERED;
            channel.add(new ConnectionEvent.ConnectResponse(this, theirs));
            return;
        }
        own = own.withReads(
                Math.min(own.responderResources(), theirs.responderResources()),
                Math.min(own.initiatorDepth(), theirs.initiatorDepth()));
        try {
            ConnectionSteps next = steps(pair, reply.endpoint());
            pair.modifyOwned(next.readyToReceive());
            pair.modifyOwned(next.readyToSend());
            complete();
        } catch (RdmaException e) {
            end(new ConnectionEvent.Disconnected(this, "the queue pair cannot be connected: " + e.getMessage()));
            giveUp();
        }
    }

    /** Passive: the other side is ready. */
    void onEstablished() {
        SoftQueuePair pair = queuePair;
        ConnectionSteps next = steps;
        if (state != State.ACCEPTED || pair == null || next == null) {
            return;
        }
        try {
            pair.modifyOwned(next.readyToSend());
            state = State.CONNECTED;
            channel.add(new ConnectionEvent.Established(this, theirs));
        } catch (RdmaException e) {
            end(new ConnectionEvent.Disconnected(this, "the queue pair cannot be connected: " + e.getMessage()));
            giveUp();
        }
    }

    /** The queue pair is in error: nothing more can come, so the other side is told. */
    void onQueuePairFailure() {
        Conversation current = conversation;
        if (current != null && (state == State.CONNECTED || state == State.ACCEPTED)) {
            boolean unused =
                    device().connections().engine().disconnect(device().agent().now(), current, new byte[0]);
            end(new ConnectionEvent.Disconnected(this, "the queue pair failed: the peer is gone or broke a rule"));
        }
    }

    void onRejected(int reason, byte[] privateData) {
        end(new ConnectionEvent.Rejected(this, RejectReason.of(reason), reason, PrivateData.of(privateData)));
    }

    void onUnreachable() {
        end(new ConnectionEvent.Unreachable(this));
    }

    void onDisconnected() {
        Conversation current = conversation;
        if (current != null) {
            boolean unused =
                    device().connections().engine().disconnect(device().agent().now(), current, new byte[0]);
        }
        end(new ConnectionEvent.Disconnected(this, "the connection was ended"));
    }

    void onTimewaitExit() {
        if (state != State.CLOSED) {
            channel.add(new ConnectionEvent.TimewaitExit(this));
        }
    }

    /** The one event that ends the connection. */
    private void end(ConnectionEvent last) {
        if (state == State.ENDED || state == State.CLOSED) {
            return;
        }
        state = State.ENDED;
        SoftQueuePair pair = queuePair;
        if (pair != null) {
            pair.failOwned();
        }
        channel.add(last);
    }

    private void giveUp() {
        SidrConversation asked = question;
        if (asked != null) {
            device().connections().engine().abandon(device().agent().now(), asked);
        }
        Conversation current = conversation;
        if (current != null) {
            device().connections().engine().abandon(device().agent().now(), current);
        }
    }

    @Override
    public synchronized void disconnect() {
        if (context == null) {
            return;
        }
        inOwner(() -> {
            Conversation current = conversation;
            if (current == null || (state != State.CONNECTED && state != State.ACCEPTED)) {
                return false;
            }
            state = State.DISCONNECTING;
            SoftQueuePair pair = queuePair;
            if (pair != null) {
                pair.failOwned();
            }
            return device().connections().engine().disconnect(device().agent().now(), current, new byte[0]);
        });
    }

    @Override
    public synchronized void joinMulticast(InetAddress group) {
        SoftQueuePair pair = datagramQueuePair();
        Gid gid = Gid.of(group);
        pair.attachMulticast(gid);
        channel.add(new ConnectionEvent.MulticastJoined(this, AddressVector.to(gid), MULTICAST_QP, DATAGRAM_QKEY));
    }

    @Override
    public synchronized void leaveMulticast(InetAddress group) {
        datagramQueuePair().detachMulticast(Gid.of(group));
    }

    private SoftQueuePair datagramQueuePair() {
        SoftQueuePair pair = queuePair;
        if (pair == null || portSpace != PortSpace.UDP) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_STATE,
                    "multicast needs an id of port space UDP with a queue pair; call createQueuePair first");
        }
        return pair;
    }

    @Override
    public @Nullable InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public @Nullable InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public int privateDataMax(CmMessage message) {
        return switch (message) {
            case REQUEST -> 56;
            case REPLY -> 196;
            case REJECT -> 148;
            case SIDR_REQUEST -> 180;
            case SIDR_REPLY -> 136;
        };
    }

    private void checkPrivateData(CmMessage message, PrivateData data) {
        if (data.length() > privateDataMax(message)) {
            throw new IllegalArgumentException(
                    data.length() + " bytes of private data; a " + message + " takes " + privateDataMax(message));
        }
    }

    @Override
    public synchronized void close() {
        if (state == State.CLOSED) {
            return;
        }
        stopListening();
        SoftContext device = context;
        if (device != null) {
            inOwner(() -> {
                state = State.CLOSED;
                giveUp();
                SoftQueuePair pair = queuePair;
                if (pair != null) {
                    pair.connection(null);
                    pair.close();
                }
                return true;
            });
            channel.devices().release(device);
        } else {
            state = State.CLOSED;
            listenedOn.forEach(channel.devices()::release);
        }
        channel.disown(this);
    }

    @Override
    public String toString() {
        return "ConnectionId[" + portSpace + ", " + local + " -> " + remote + ", " + state + "]";
    }
}
