// SPDX-License-Identifier: Apache-2.0
package io.verbena.transport.ib;

import io.verbena.transport.cm.CmEvents;
import io.verbena.transport.cm.CmSettings;
import io.verbena.transport.cm.ConnectionManager;
import org.jspecify.annotations.Nullable;

/** Queue pair 1, where management datagrams come and go (IBTA volume 1, 13.5.2). */
final class GeneralServices {
    private final ConnectionManager connections;
    private int localPort;
    private @Nullable CmEvents sink;

    GeneralServices(IbPort port) {
        connections = new ConnectionManager(port.random(), CmSettings.defaults());
    }

    ConnectionManager connections() {
        return connections;
    }

    void start(int port, CmEvents events) {
        localPort = port;
        sink = events;
    }

    void pollEvents() {
        if (sink != null && localPort != 0) {
            connections.pollEvents(sink);
        }
    }
}
