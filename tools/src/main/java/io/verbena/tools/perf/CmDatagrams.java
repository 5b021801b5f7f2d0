// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.tools.cli.Resources;
import io.verbena.tools.sideband.CmSideband;
import io.verbena.tools.sideband.Refusal;
import io.verbena.verbs.AccessFlag;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.GlobalRouteHeader;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.WorkCompletion;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.ConnectionRejectedException;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import io.verbena.verbs.cm.PrivateData;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Datagram queue pairs: the server listens in port space UDP to the port of the sideband, and the client asks it for
 * each queue pair. Where the server sends too, the client introduces itself with a datagram that names its queue pair
 * in the immediate data, before the next is asked for (perftest 4.5, perftest_communication.c).
 */
final class CmDatagrams implements ManagedSource {
    private static final Duration TIMEOUT = Duration.ofSeconds(15);
    private static final int INTRODUCTION_BYTES = Integer.BYTES;

    private final CmSideband sideband;
    private final EventChannel channel;
    private final boolean client;
    private final boolean introduced;
    private final List<@Nullable DatagramPeer> peers = new ArrayList<>();

    CmDatagrams(CmSideband sideband, PerfParameters parameters, int port, Resources resources) {
        this.sideband = sideband;
        client = parameters.client();
        introduced = parameters.bidirectional() || !parameters.test().isBandwidth();
        channel = resources.add(EventChannel.over(sideband.connection().id().context()));
        if (!client) {
            InetSocketAddress own = Objects.requireNonNull(sideband.connection().localAddress(), "is connected");
            ConnectionId listener = channel.createId(PortSpace.UDP);
            listener.bind(new InetSocketAddress(own.getAddress(), port));
            listener.listen(parameters.queuePairs());
        }
    }

    @Override
    public CmSideband sideband() {
        return sideband;
    }

    @Override
    public @Nullable DatagramPeer peer(int index) {
        return peers.get(index);
    }

    @Override
    public QueuePair create(ProtectionDomain domain, QueuePairOptions options, Resources resources)
            throws InterruptedException {
        if (!client) {
            return answer(domain, options, resources);
        }
        InetSocketAddress target = peerAddress();
        return Refusal.retry(
                target,
                "the server does not accept the test's queue pairs; does it run with -c UD too?",
                () -> ask(target, domain, options, resources));
    }

    private InetSocketAddress peerAddress() {
        return Objects.requireNonNull(sideband.connection().remoteAddress(), "is connected");
    }

    private QueuePair ask(
            InetSocketAddress target, ProtectionDomain domain, QueuePairOptions options, Resources resources)
            throws InterruptedException {
        ConnectionId id = resources.add(channel.createId(PortSpace.UDP));
        id.resolveAddress(null, target, TIMEOUT);
        ConnectionEvent event = next();
        if (event instanceof ConnectionEvent.AddressResolved) {
            id.resolveRoute(TIMEOUT);
            event = next();
        }
        if (event instanceof ConnectionEvent.RouteResolved) {
            id.createQueuePair(domain, options);
            id.connect(ConnectionParameters.defaults().withTimeout(TIMEOUT));
            event = next();
        }
        if (!(event instanceof ConnectionEvent.DatagramResolved resolved)) {
            id.close();
            throw refusal(event, target);
        }
        DatagramPeer peer = remember(domain, resolved.address(), resolved.qpNumber(), resolved.qkey(), resources);
        QueuePair queuePair = Objects.requireNonNull(id.queuePair(), "was created");
        if (introduced) {
            introduce(queuePair, peer, resources);
        }
        return queuePair;
    }

    private RdmaException refusal(ConnectionEvent event, InetSocketAddress target) {
        return switch (event) {
            case ConnectionEvent.Rejected rejected ->
                new ConnectionRejectedException(
                        target + " refused: " + rejected.reason(), rejected.reason(), rejected.privateData());
            case ConnectionEvent.AddressFailed failed -> failed.cause();
            default ->
                new RdmaException(
                        RdmaException.Reason.UNREACHABLE, target + " did not tell the queue pair of its datagrams");
        };
    }

    private QueuePair answer(ProtectionDomain domain, QueuePairOptions options, Resources resources)
            throws InterruptedException {
        ConnectionId id = resources.add(nextOfPeer());
        QueuePair queuePair = id.createQueuePair(domain, options);
        if (!introduced) {
            id.accept(ConnectionParameters.defaults());
            peers.add(null);
            return queuePair;
        }
        MemoryRegion memory = memory(domain, resources);
        queuePair.postReceive(0, memory, 0, GlobalRouteHeader.BYTES + INTRODUCTION_BYTES);
        id.accept(ConnectionParameters.defaults());
        WorkCompletion introduction = await(options.receiveCompletionQueue(), "the first datagram");
        AddressVector back = GlobalRouteHeader.read(memory.segment(), 0).wayBack();
        remember(domain, back, introduction.immediate(), queuePair.query().qkey(), resources);
        return queuePair;
    }

    /** The next question of the peer; strangers are refused. */
    private ConnectionId nextOfPeer() throws InterruptedException {
        while (true) {
            if (next() instanceof ConnectionEvent.ConnectRequest request) {
                if (isPeer(request.id().remoteAddress())) {
                    return request.id();
                }
                request.id().reject(PrivateData.NONE);
                request.id().close();
            }
        }
    }

    private ConnectionEvent next() throws InterruptedException {
        ConnectionEvent event = channel.await(TIMEOUT);
        if (event == null) {
            throw new CommandFailure("the peer at " + sideband.peer() + " did not ask for the queue pairs in "
                    + TIMEOUT.toSeconds() + " s; does it run with as many (-q), and with -c UD?");
        }
        return event;
    }

    private DatagramPeer remember(
            ProtectionDomain domain, AddressVector address, int qpNumber, int qkey, Resources resources) {
        DatagramPeer peer = new DatagramPeer(resources.add(domain.createAddressHandle(address)), qpNumber, qkey);
        peers.add(peer);
        return peer;
    }

    private void introduce(QueuePair queuePair, DatagramPeer peer, Resources resources) throws InterruptedException {
        MemoryRegion memory = memory(queuePair.protectionDomain(), resources);
        queuePair
                .sendRequest()
                .sendWithImmediate(queuePair.qpNumber())
                .sge(memory, 0, INTRODUCTION_BYTES)
                .to(peer.handle(), peer.qpNumber(), peer.qkey())
                .signaled()
                .post();
        WorkCompletion unused = await(queuePair.sendCompletionQueue(), "the first datagram to leave");
    }

    private static MemoryRegion memory(ProtectionDomain domain, Resources resources) {
        return resources.add(domain.register(
                resources.arena().allocate(GlobalRouteHeader.BYTES + INTRODUCTION_BYTES, Long.BYTES),
                AccessFlag.LOCAL_WRITE));
    }

    private WorkCompletion await(@Nullable CompletionQueue queue, String what) throws InterruptedException {
        WorkCompletion completion = new WorkCompletion();
        if (queue == null || !queue.await(completion, TIMEOUT)) {
            throw new CommandFailure("the peer at " + sideband.peer() + ": " + what + " did not come in "
                    + TIMEOUT.toSeconds() + " s, and a datagram that is lost is not sent again");
        }
        return completion.orThrow();
    }
}
