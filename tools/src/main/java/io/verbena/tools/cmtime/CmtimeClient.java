// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.cmtime;

import io.verbena.tools.cli.CommandFailure;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.EventChannel;
import io.verbena.verbs.cm.PortSpace;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Takes a number of ids through all steps, all of them through one step before the next. A step that ends with an event
 * is under way for all at the same time; events are taken between the starts too, so that the first do not wait for the
 * last to start.
 */
final class CmtimeClient implements AutoCloseable {
    private final CmtimeOptions options;
    private final EventChannel channel;
    private final List<Node> nodes = new ArrayList<>();
    private final Map<ConnectionId, Node> byId = new HashMap<>();
    private final StepTimes times = new StepTimes();
    private final Map<String, Integer> failures = new TreeMap<>();
    private @Nullable CompletionQueue completions;
    private int underWay;

    /** One connection. */
    private static final class Node {
        private final ConnectionId id;
        private @Nullable QueuePair queuePair;
        /** The step whose event is awaited. */
        private @Nullable Step step;

        private long startNanos;
        private int retries;
        private boolean failed;

        Node(ConnectionId id) {
            this.id = id;
        }
    }

    /** What starts a step of a node. */
    @FunctionalInterface
    private interface Start {
        void of(Node node);
    }

    CmtimeClient(CmtimeOptions options, EventChannel channel) {
        this.options = options;
        this.channel = channel;
    }

    CmtimeReport run(InetSocketAddress server, @Nullable InetSocketAddress source) throws InterruptedException {
        openDevice(server, source);
        createIds();
        if (source != null) {
            atOnce(Step.BIND_ADDR, node -> node.id.bind(source));
        }
        Duration patience = Duration.ofMillis(options.timeoutMillis());
        inEvents(Step.RESOLVE_ADDR, node -> node.id.resolveAddress(source, server, patience));
        inEvents(Step.RESOLVE_ROUTE, node -> node.id.resolveRoute(patience));
        atOnce(Step.CREATE_QP, this::createQueuePair);
        ConnectionParameters parameters = ConnectionParameters.defaults()
                .withReads(1, 1)
                .withRetries(Math.min(options.retries(), 7), 0)
                .withTimeout(options.connectTimeout());
        inEvents(Step.CONNECT, node -> node.id.connect(parameters));
        inEvents(Step.DISCONNECT, CmtimeClient::disconnect);
        destroy();
        return new CmtimeReport(options.connections(), times, failures);
    }

    /** The first who needs the device opens it, which is no step of any connection; another id is the first. */
    private void openDevice(InetSocketAddress server, @Nullable InetSocketAddress source) throws InterruptedException {
        Duration patience = Duration.ofMillis(options.timeoutMillis());
        channel.createId(PortSpace.TCP).resolveAddress(source, server, patience);
        ConnectionEvent unused = channel.await(patience);
    }

    private void createIds() {
        long begin = System.nanoTime();
        for (int i = 0; i < options.connections(); i++) {
            long start = System.nanoTime();
            Node node = new Node(channel.createId(PortSpace.TCP));
            times.record(Step.CREATE_ID, System.nanoTime() - start);
            nodes.add(node);
            byId.put(node.id, node);
        }
        times.total(Step.CREATE_ID, System.nanoTime() - begin);
    }

    private void createQueuePair(Node node) {
        if (completions == null) {
            completions = node.id.context().createCompletionQueue(1);
        }
        node.queuePair = node.id.createQueuePair(
                QueuePairOptions.rc(completions).withQueueDepth(1, 1).withMaxSge(1, 1));
    }

    private static void disconnect(Node node) {
        node.id.disconnect();
        if (node.queuePair != null) {
            node.queuePair.close();
        }
    }

    /** All ids, also those that failed. */
    private void destroy() {
        long begin = System.nanoTime();
        for (Node node : nodes) {
            long start = System.nanoTime();
            node.id.close();
            times.record(Step.DESTROY, System.nanoTime() - start);
        }
        times.total(Step.DESTROY, System.nanoTime() - begin);
    }

    /** A step that is over when its call returns. */
    private void atOnce(Step step, Start start) {
        long begin = System.nanoTime();
        for (Node node : nodes) {
            if (!node.failed) {
                try {
                    long now = System.nanoTime();
                    start.of(node);
                    times.record(step, System.nanoTime() - now);
                } catch (RdmaException e) {
                    fail(node, step, String.valueOf(e.getMessage()));
                }
            }
        }
        times.total(step, System.nanoTime() - begin);
    }

    /** A step that ends with an event. */
    private void inEvents(Step step, Start start) throws InterruptedException {
        long begin = System.nanoTime();
        for (Node node : nodes) {
            if (!node.failed) {
                node.step = step;
                node.retries = options.retries();
                node.startNanos = System.nanoTime();
                underWay++;
                begin(node, step, start);
            }
            for (ConnectionEvent event = channel.poll(); event != null; event = channel.poll()) {
                onEvent(event, start);
            }
        }
        while (underWay > 0) {
            ConnectionEvent event = channel.await(options.connectTimeout().plusSeconds(30));
            if (event == null) {
                throw new CommandFailure(
                        step.title() + " did not end for " + underWay + " of " + nodes.size() + " connections");
            }
            onEvent(event, start);
        }
        times.total(step, System.nanoTime() - begin);
    }

    private void begin(Node node, Step step, Start start) {
        try {
            start.of(node);
        } catch (RdmaException e) {
            fail(node, step, String.valueOf(e.getMessage()));
        }
    }

    private void onEvent(ConnectionEvent event, Start start) {
        Node node = byId.get(event.id());
        if (node == null) {
            return;
        }
        switch (event) {
            case ConnectionEvent.AddressResolved e -> finish(node, Step.RESOLVE_ADDR);
            case ConnectionEvent.RouteResolved e -> finish(node, Step.RESOLVE_ROUTE);
            case ConnectionEvent.Established e -> finish(node, Step.CONNECT);
            case ConnectionEvent.AddressFailed failed -> {
                if (node.retries-- > 0) {
                    begin(node, Step.RESOLVE_ADDR, start);
                } else {
                    fail(node, Step.RESOLVE_ADDR, String.valueOf(failed.cause().getMessage()));
                }
            }
            case ConnectionEvent.Rejected rejected -> fail(node, Step.CONNECT, "rejected, " + rejected.reason());
            case ConnectionEvent.Unreachable e -> fail(node, Step.CONNECT, "no answer");
            case ConnectionEvent.Disconnected disconnected -> {
                if (node.step == Step.DISCONNECT) {
                    finish(node, Step.DISCONNECT);
                } else {
                    fail(node, Step.CONNECT, disconnected.why());
                }
            }
            case ConnectionEvent.ConnectRequest e -> e.id().close();
            case ConnectionEvent.ConnectResponse e -> fail(node, Step.CONNECT, "it has no queue pair");
            case ConnectionEvent.DatagramResolved e -> fail(node, Step.CONNECT, "it is no datagram service");
            case ConnectionEvent.MulticastJoined e -> fail(node, Step.CONNECT, "it is no group");
            case ConnectionEvent.TimewaitExit e -> {
                // What is timed is over.
            }
        }
    }

    private void finish(Node node, Step step) {
        if (node.step == step) {
            times.record(step, System.nanoTime() - node.startNanos);
            node.step = null;
            underWay--;
        }
    }

    private void fail(Node node, Step step, String why) {
        if (node.failed) {
            return;
        }
        node.failed = true;
        failures.merge(step.title() + ": " + why, 1, Integer::sum);
        if (node.step != null) {
            node.step = null;
            underWay--;
        }
    }

    /** Ends what a run that failed left. */
    @Override
    public void close() {
        channel.close();
        if (completions != null) {
            completions.close();
        }
    }
}
