// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairOptions;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What {@link Connection#connect} and {@link ConnectionRequest#accept} need to know. Immutable: each {@code with}
 * method returns a copy.
 *
 * @param parameters how to connect
 * @param queuePair makes the options of the queue pair, with completion queues of the domain's device; null makes one
 *     completion queue and a queue pair of 128 sends and 128 receives
 * @param prepare is called with the connection before the other side is told of it: the place to register memory and to
 *     post receives, so that none is missing when the first message comes
 * @param source the local address to connect from, or null
 * @param devices the devices to use; none means whichever leads to the address
 */
public record ConnectionOptions(
        ConnectionParameters parameters,
        @Nullable Function<ProtectionDomain, QueuePairOptions> queuePair,
        Consumer<Connection> prepare,
        @Nullable InetSocketAddress source,
        List<DeviceContext> devices) {
    private static final ConnectionOptions DEFAULTS =
            new ConnectionOptions(ConnectionParameters.defaults(), null, connection -> {}, null, List.of());

    public ConnectionOptions {
        Objects.requireNonNull(parameters, "parameters");
        Objects.requireNonNull(prepare, "prepare");
        devices = List.copyOf(devices);
    }

    public static ConnectionOptions defaults() {
        return DEFAULTS;
    }

    public ConnectionOptions withParameters(ConnectionParameters value) {
        return new ConnectionOptions(value, queuePair, prepare, source, devices);
    }

    public ConnectionOptions withPrivateData(PrivateData data) {
        return withParameters(parameters.withPrivateData(data));
    }

    public ConnectionOptions withQueuePair(Function<ProtectionDomain, QueuePairOptions> maker) {
        return new ConnectionOptions(parameters, maker, prepare, source, devices);
    }

    public ConnectionOptions withPrepare(Consumer<Connection> action) {
        return new ConnectionOptions(parameters, queuePair, action, source, devices);
    }

    public ConnectionOptions withSource(InetSocketAddress address) {
        return new ConnectionOptions(parameters, queuePair, prepare, address, devices);
    }

    public ConnectionOptions withDevices(DeviceContext... which) {
        return new ConnectionOptions(parameters, queuePair, prepare, source, List.of(which));
    }

    EventChannel openChannel() {
        return devices.isEmpty() ? EventChannel.open() : EventChannel.over(devices.toArray(DeviceContext[]::new));
    }
}
