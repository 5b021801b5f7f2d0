// SPDX-License-Identifier: Apache-2.0
package io.verbena.soft;

import io.verbena.transport.cm.CmListener;
import io.verbena.verbs.RdmaException;
import io.verbena.verbs.cm.PortSpace;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The devices on which one id listens, all on the same port. Guarded by the id's monitor. */
final class Listening {
    private static final int FREE_PORT_TRIES = 1000;

    private final SoftConnectionId id;
    private final PortSpace portSpace;
    private final List<CmListener> listeners = new ArrayList<>();
    private final List<SoftContext> devices = new ArrayList<>();

    Listening(SoftConnectionId id, PortSpace portSpace) {
        this.id = id;
        this.portSpace = portSpace;
    }

    List<SoftContext> devices() {
        return List.copyOf(devices);
    }

    /**
     * Listens on all of these devices or on none; returns the port.
     *
     * @param wanted the port, 0 for a free one
     * @throws RdmaException {@code ADDRESS_IN_USE}
     */
    int start(List<SoftContext> on, int wanted, int backlog) {
        for (int tries = 1; ; tries++) {
            int port = wanted == 0 ? on.getFirst().connections().freePort() : wanted;
            SoftContext taken = firstTaken(on, port, backlog);
            if (taken == null) {
                return port;
            }
            stop();
            if (wanted != 0 || tries == FREE_PORT_TRIES) {
                throw new RdmaException(
                        RdmaException.Reason.ADDRESS_IN_USE,
                        taken.device().name() + ": somebody listens to " + portSpace + " port " + port
                                + " already; choose another port, or 0 for any");
            }
        }
    }

    /** Listens on one device after the other; the one where somebody does already, or null. */
    private @Nullable SoftContext firstTaken(List<SoftContext> on, int port, int backlog) {
        for (SoftContext device : on) {
            CmListener listener =
                    device.agent().call(() -> device.connections().engine().listen(portSpace.serviceId(port), backlog));
            if (listener == null) {
                return device;
            }
            listener.attach(id);
            listeners.add(listener);
            devices.add(device);
        }
        return null;
    }

    void stop() {
        for (int i = 0; i < listeners.size(); i++) {
            SoftContext device = devices.get(i);
            CmListener listener = listeners.get(i);
            device.agent().run(() -> device.connections().engine().close(listener));
        }
        listeners.clear();
        devices.clear();
    }
}
