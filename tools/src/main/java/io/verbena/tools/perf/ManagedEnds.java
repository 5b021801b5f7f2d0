// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.cli.Resources;
import io.verbena.tools.devices.DevicePicker;
import io.verbena.tools.sideband.CmSideband;
import io.verbena.tools.sideband.TcpSideband;
import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.cm.ConnectionOptions;
import io.verbena.verbs.cm.ConnectionParameters;
import io.verbena.verbs.cm.ConnectionRequest;
import io.verbena.verbs.cm.Listener;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Brings the two ends of a test with -R together by the connection manager: a first connection is the sideband, on
 * which the sides then agree to make more.
 */
final class ManagedEnds {
    private static final Duration LONG = Duration.ofDays(1);
    private static final int RETRIES = 7;
    private static final int MOST_READS = 255;

    private final PerfParameters parameters;
    private final int port;
    private final @Nullable DeviceContext named;
    private final Resources resources;

    /** @param named the user's choice, or null */
    ManagedEnds(PerfParameters parameters, int port, @Nullable DeviceContext named, Resources resources) {
        this.parameters = parameters;
        this.port = port;
        this.named = named;
        this.resources = resources;
    }

    private ConnectionOptions options(@Nullable DeviceContext device) {
        // The device lowers what it cannot.
        int reads = parameters.outstandingReads() > 0 ? parameters.outstandingReads() : MOST_READS;
        int answered = parameters.verb().isAnswered() ? reads : 0;
        ConnectionOptions options = ConnectionOptions.defaults()
                .withParameters(ConnectionParameters.defaults()
                        .withReads(answered, answered)
                        .withRetries(RETRIES, RETRIES)
                        .withAckTimeout(parameters.timeout()));
        return device == null ? options : options.withDevices(device);
    }

    /** @param command what runs at the server */
    CmSideband connect(String host, String command) throws InterruptedException {
        InetAddress server = TcpSideband.resolve(host)[0];
        DeviceContext device = named;
        if (device == null) {
            device = DevicePicker.openForServer(server);
            if (device != null) {
                resources.add(device);
            }
        }
        return resources.add(CmSideband.connect(
                new InetSocketAddress(server, port), options(device), "is `" + command + " -R` running there?"));
    }

    Listener listen() {
        InetSocketAddress all = new InetSocketAddress(port);
        return resources.add(named == null ? Listener.listen(all) : Listener.listen(all, named));
    }

    CmSideband accept(Listener listener) throws InterruptedException {
        ConnectionOptions options = options(named);
        while (true) {
            try (ConnectionRequest request = listener.await(LONG)) {
                if (request != null) {
                    return resources.add(CmSideband.accept(request, options));
                }
            }
        }
    }

    /** @param listener of a server; null at a client */
    QueuePairSource queuePairs(CmSideband sideband, @Nullable Listener listener) {
        return parameters.connection() == Connection.UD
                ? new CmDatagrams(sideband, parameters, port, resources)
                : new CmQueuePairs(
                        sideband, listener, options(sideband.connection().id().context()));
    }
}
