// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.cm.AcceptParameters;
import io.verbena.transport.cm.CmEndpoint;
import io.verbena.transport.cm.ConnectParameters;
import io.verbena.transport.cm.Conversation;
import io.verbena.transport.cm.RequestParameters;
import io.verbena.transport.cm.SidrConversation;
import io.verbena.transport.cm.SidrReply;
import io.verbena.transport.encap.Path;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.Gid;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
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
        /** The other side took its request back. */
        TAKEN_BACK,
        ACCEPTED,
        ANSWERED,
        CONNECTED,
        DISCONNECTING,
        ENDED,
        CLOSED
    }

    private static final int ACK_DELAY = 15;
    private static final String QUEUE_PAIR_FIRST = "createQueuePair first, or name the queue pair to connect";
    private static final String ENDED_BY_A_PROGRAM = "the connection was ended";

    private volatile SoftEventChannel channel;
    private final PortSpace portSpace;
    private volatile State state = State.IDLE;
    private @Nullable SoftContext context;
    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress remote;
    private final Listening listening;
    private @Nullable Conversation conversation;
    private @Nullable DatagramQuestion question;
    private @Nullable RequestParameters request;
    /** What makes the queue pair ready, once both sides know each other. */
    private @Nullable ConnectionSteps steps;
    /** Active: what the request said. */
    private int firstPsn;

    private @Nullable SoftQueuePair queuePair;
    private ConnectionParameters own = ConnectionParameters.defaults();
    private ConnectionParameters theirs = ConnectionParameters.defaults();

    SoftConnectionId(SoftEventChannel channel, PortSpace portSpace) {
        this.channel = channel;
        this.portSpace = portSpace;
        this.listening = new Listening(this, portSpace);
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
        requireOpen("migrate");
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

    private void requireOpen(String what) {
        if (state == State.CLOSED) {
            throw wrongState(what);
        }
    }

    private void requireWanted() {
        if (state == State.TAKEN_BACK) {
            throw new RdmaException(RdmaException.Reason.DISCONNECTED, "the other side gave up before it was accepted");
        }
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
        InetSocketAddress address = local == null ? new InetSocketAddress(InetAddress.ofLiteral("::"), 0) : local;
        List<SoftContext> devices = context == null ? channel.devices().all(address.getAddress()) : List.of(context);
        if (devices.isEmpty()) {
            throw new RdmaException(RdmaException.Reason.NOT_FOUND, "this host has no device to listen on");
        }
        try {
            int port = listening.start(devices, address.getPort(), backlog);
            local = new InetSocketAddress(address.getAddress(), port);
            state = State.LISTENING;
        } catch (RdmaException e) {
            if (context == null) {
                devices.forEach(OpenDevices.SHARED::release);
            }
            throw e;
        }
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
    public synchronized ProtectionDomain protectionDomain() {
        requireOpen("protectionDomain");
        return device().connections().protectionDomain();
    }

    @Override
    public synchronized QueuePair createQueuePair(ProtectionDomain domain, QueuePairOptions options) {
        requireWanted();
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
                created.activate(DatagramQuestion.QKEY);
            } else {
                created.modify(ConnectDefaults.init().state(QueuePairState.INIT));
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
            throw new RdmaException(RdmaException.Reason.INVALID_STATE, QUEUE_PAIR_FIRST);
        }
        ask(parameters, pair.qpNumber(), pair.endpoint().psn());
    }

    @Override
    public void connect(ConnectionParameters parameters, int qpNumber, int startingPsn) {
        requireForeign();
        ask(parameters, qpNumber, startingPsn);
    }

    private void requireForeign() {
        if (queuePair != null) {
            throw new RdmaException(
                    RdmaException.Reason.INVALID_STATE, "the connection id has a queue pair of its own to connect");
        }
    }

    @Override
    public synchronized QueuePairAttributes attributes(QueuePairState to) {
        return inOwner(() -> {
            requireOpen("attributes");
            ConnectionSteps known = steps;
            if (to == QueuePairState.INIT) {
                return ConnectDefaults.init().state(to);
            }
            if (known == null) {
                throw wrongState("attributes of " + to);
            }
            return switch (to) {
                case RTR -> known.readyToReceive();
                case RTS -> known.readyToSend();
                case RESET, INIT, SQD, SQE, ERR ->
                    throw new IllegalArgumentException("a connection has attributes for INIT, RTR and RTS, not " + to);
            };
        });
    }

    private synchronized void ask(ConnectionParameters parameters, int qpNumber, int startingPsn) {
        boolean datagrams = portSpace == PortSpace.UDP;
        Negotiation.check(datagrams ? CmMessage.SIDR_REQUEST : CmMessage.REQUEST, parameters.privateData());
        require("connect", State.ROUTE_RESOLVED);
        InetSocketAddress from = local;
        InetSocketAddress to = remote;
        if (from == null || to == null) {
            throw wrongState("connect");
        }
        inOwner(() -> {
            SoftContext device = device();
            device.requireOpen();
            own = Negotiation.limited(parameters);
            firstPsn = startingPsn;
            long now = device.agent().now();
            long deadline = now + Deadlines.nanos(own.timeout());
            long serviceId = portSpace.serviceId(to.getPort());
            byte[] privateData = IpHeader.before(own.privateData(), from, to);
            Path path = path(device, to.getAddress());
            device.connections().watch(this);
            if (datagrams) {
                question = DatagramQuestion.ask(device, this, serviceId, path, privateData, deadline);
                state = State.CONNECTING;
                return true;
            }
            ConnectParameters ask = new ConnectParameters(
                    serviceId,
                    path,
                    QueuePairType.RC,
                    endpoint(own, qpNumber, startingPsn),
                    own.retryCount(),
                    own.ackTimeout(),
                    device.activeMtu(),
                    privateData,
                    deadline);
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

    private static Path path(SoftContext device, InetAddress to) {
        return device.paths().resolve(AddressVector.to(Gid.of(to)), 1, 1);
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
        id.conversation = asking;
        id.request = parameters;
        id.theirs = Negotiation.fromPeer(
                parameters.endpoint(),
                IpHeader.after(parameters.privateData()),
                parameters.retryCount(),
                parameters.ackTimeout());
        return announce(id, () -> asking.attach(id));
    }

    /**
     * Somebody asks this listener for the queue pair of its datagram service; false when the question makes no sense.
     */
    boolean onQuestion(SoftContext device, SidrConversation asking, byte[] privateData) {
        IpHeader.Ends ends = IpHeader.read(privateData, device.localAddress(), asking.serviceId());
        if (state != State.LISTENING || ends == null) {
            return false;
        }
        SoftConnectionId id = child(device, ends, asking.path());
        id.question = new DatagramQuestion(device, asking);
        id.theirs = ConnectionParameters.defaults().withPrivateData(IpHeader.after(privateData));
        return announce(id, () -> asking.attach(id));
    }

    /** The id of somebody who asks. */
    private SoftConnectionId child(SoftContext device, IpHeader.Ends ends, Path back) {
        SoftConnectionId id = new SoftConnectionId(channel, portSpace);
        id.context = device;
        id.local = ends.local();
        // Where the request came from, whatever it says of itself.
        id.remote = new InetSocketAddress(new Gid(back.remoteHigh(), back.remoteLow()).toAddress(), ends.remotePort());
        id.state = State.REQUESTED;
        return id;
    }

    /** Tells the program of somebody who asks; false when the channel is closed. */
    private boolean announce(SoftConnectionId id, Runnable attach) {
        try {
            // From here on the program may close it.
            channel.adopt(id);
        } catch (RdmaException e) {
            return false;
        }
        id.device().connections().useOwned();
        id.device().connections().watch(id);
        attach.run();
        channel.add(new ConnectionEvent.ConnectRequest(this, id, id.theirs));
        return true;
    }

    /** The datagram service answered. */
    void onAnswer(SidrReply reply) {
        InetSocketAddress to = remote;
        if (state != State.CONNECTING || to == null) {
            return;
        }
        ConnectionEvent event = DatagramQuestion.event(this, to.getAddress(), reply);
        if (event instanceof ConnectionEvent.DatagramResolved) {
            state = State.CONNECTED;
            channel.add(event);
        } else {
            end(event);
        }
    }

    @Override
    public void accept(ConnectionParameters parameters) {
        SoftQueuePair pair = queuePair;
        if (pair == null) {
            Negotiation.check(CmMessage.REPLY, parameters.privateData());
            requireWanted();
            require("accept", State.REQUESTED);
            throw new RdmaException(RdmaException.Reason.INVALID_STATE, QUEUE_PAIR_FIRST);
        }
        accept(parameters, pair.qpNumber(), pair, pair.endpoint().psn());
    }

    @Override
    public void accept(ConnectionParameters parameters, int qpNumber, int startingPsn) {
        requireForeign();
        accept(parameters, qpNumber, null, startingPsn);
    }

    private synchronized void accept(
            ConnectionParameters parameters, int qpNumber, @Nullable SoftQueuePair pair, int startingPsn) {
        boolean datagrams = portSpace == PortSpace.UDP;
        Negotiation.check(datagrams ? CmMessage.SIDR_REPLY : CmMessage.REPLY, parameters.privateData());
        inOwner(() -> {
            requireWanted();
            require("accept", State.REQUESTED);
            device().requireOpen();
            DatagramQuestion asking = question;
            if (asking != null) {
                asking.accept(qpNumber, parameters.privateData());
                state = State.CONNECTED;
                return true;
            }
            RequestParameters asked = request;
            Conversation current = conversation;
            if (asked == null || current == null) {
                throw wrongState("accept");
            }
            ConnectionParameters wanted = Negotiation.limited(parameters);
            own = Negotiation.lowered(wanted, theirs).withRetries(asked.retryCount(), wanted.rnrRetryCount());
            ConnectionSteps next = steps(startingPsn, asked.endpoint())
                    .withAckTimeout(Negotiation.shorter(own.ackTimeout(), asked.ackTimeout()))
                    .withMtu(asked.pathMtu());
            if (pair != null) {
                pair.modifyOwned(next.readyToReceive());
            }
            AcceptParameters reply = new AcceptParameters(
                    endpoint(own, qpNumber, startingPsn),
                    ACK_DELAY,
                    own.privateData().bytes());
            if (!device().connections().engine().accept(device().agent().now(), current, reply)) {
                throw new RdmaException(
                        RdmaException.Reason.DISCONNECTED, "the other side gave up before it was accepted");
            }
            steps = next;
            state = State.ACCEPTED;
            return true;
        });
    }

    private ConnectionSteps steps(int startingPsn, CmEndpoint peer) {
        InetSocketAddress to = remote;
        if (to == null) {
            throw wrongState("this");
        }
        return new ConnectionSteps(
                Gid.of(to.getAddress()), peer, own, startingPsn, own.ackTimeout(), device().activeMtu());
    }

    @Override
    public synchronized void reject(RejectReason reason, PrivateData privateData) {
        boolean datagrams = portSpace == PortSpace.UDP;
        Negotiation.check(datagrams ? CmMessage.SIDR_REPLY : CmMessage.REJECT, privateData);
        inOwner(() -> {
            require("reject", State.REQUESTED, State.ANSWERED, State.TAKEN_BACK);
            Conversation current = conversation;
            state = State.ENDED;
            DatagramQuestion asking = question;
            if (asking != null) {
                asking.refuse(privateData);
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
        theirs = Negotiation.fromPeer(
                reply.endpoint(), PrivateData.of(reply.privateData()), own.retryCount(), own.ackTimeout());
        own = Negotiation.lowered(own, theirs);
        ConnectionSteps next = steps(firstPsn, reply.endpoint());
        steps = next;
        SoftQueuePair pair = queuePair;
        if (pair == null) {
            state = State.ANSWERED;
            channel.add(new ConnectionEvent.ConnectResponse(this, theirs));
            return;
        }
        try {
            pair.modifyOwned(next.readyToReceive());
            pair.modifyOwned(next.readyToSend());
            pair.keepAliveOwned(own.keepAlive());
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
        if (state != State.ACCEPTED || next == null) {
            return;
        }
        try {
            if (pair != null) {
                pair.modifyOwned(next.readyToSend());
                pair.keepAliveOwned(own.keepAlive());
            }
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
            release(current);
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
        end(new ConnectionEvent.Disconnected(this, ENDED_BY_A_PROGRAM));
    }

    /** The device works no more, so nothing else can happen to the connection. */
    void onDeviceFailure(String why) {
        switch (state) {
            case CONNECTING, ANSWERED, REQUESTED -> end(new ConnectionEvent.Unreachable(this));
            case ACCEPTED, CONNECTED, DISCONNECTING -> end(new ConnectionEvent.Disconnected(this, why));
            case IDLE, BOUND, ADDRESS_RESOLVED, ROUTE_RESOLVED, LISTENING, TAKEN_BACK, ENDED, CLOSED -> {
                // Nothing is under way.
            }
        }
    }

    void onTimewaitExit() {
        if (state != State.CLOSED) {
            channel.add(new ConnectionEvent.TimewaitExit(this));
        }
    }

    /** The one event that ends the connection. */
    private void end(ConnectionEvent last) {
        if (state == State.ENDED || state == State.TAKEN_BACK || state == State.CLOSED) {
            return;
        }
        if (state == State.REQUESTED && channel.retract(this)) {
            // The program has not heard of it, and need not.
            state = State.CLOSED;
            device().connections().forget(this);
            boolean unused = device().connections().releaseOwned();
            return;
        }
        state = state == State.REQUESTED ? State.TAKEN_BACK : State.ENDED;
        SoftQueuePair pair = queuePair;
        if (pair != null) {
            pair.failOwned();
        }
        channel.add(last);
    }

    /** Tells the other side that it is over, also when it has not said yet that it is ready. */
    private void release(Conversation current) {
        if (!device().connections().engine().disconnect(device().agent().now(), current, new byte[0])) {
            giveUp();
        }
    }

    private void giveUp() {
        DatagramQuestion asked = question;
        if (asked != null) {
            asked.abandon();
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
            if (state == State.ACCEPTED) {
                giveUp();
                end(new ConnectionEvent.Disconnected(this, ENDED_BY_A_PROGRAM));
                return true;
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
        channel.add(new ConnectionEvent.MulticastJoined(
                this, AddressVector.to(gid), DatagramQuestion.MULTICAST_QP, DatagramQuestion.QKEY));
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
        return Negotiation.privateDataMax(message);
    }

    @Override
    public synchronized void close() {
        if (state == State.CLOSED) {
            return;
        }
        List<SoftContext> listened = listening.devices();
        listening.stop();
        SoftContext device = context;
        if (device != null) {
            boolean first = inOwner(() -> {
                if (state == State.CLOSED) {
                    return false;
                }
                state = State.CLOSED;
                device.connections().forget(this);
                giveUp();
                SoftQueuePair pair = queuePair;
                if (pair != null) {
                    pair.connection(null);
                    pair.close();
                }
                return true;
            });
            if (first) {
                OpenDevices.SHARED.release(device);
            }
        } else {
            state = State.CLOSED;
            listened.forEach(OpenDevices.SHARED::release);
        }
        channel.disown(this);
    }

    @Override
    public String toString() {
        return "ConnectionId[" + portSpace + ", " + local + " -> " + remote + ", " + state + "]";
    }
}
