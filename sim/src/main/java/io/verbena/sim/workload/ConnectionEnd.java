// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim.workload;

import io.verbena.verbs.cm.ConnectionEvent;
import io.verbena.verbs.cm.ConnectionId;
import org.jspecify.annotations.Nullable;

/** One side of a connection, and the events that it may get: at most one ends it, and only timewait's end follows. */
final class ConnectionEnd {
    private final String name;
    private final ConnectionId id;
    private boolean requested;
    private boolean established;
    private boolean timewaitOver;
    private boolean closed;
    private @Nullable ConnectionEvent last;

    ConnectionEnd(String name, ConnectionId id) {
        this.name = name;
        this.id = id;
    }

    ConnectionId id() {
        return id;
    }

    boolean established() {
        return established;
    }

    /** The event that ended it, or null. */
    @Nullable
    ConnectionEvent last() {
        return last;
    }

    /** Nothing will be sent or received any more. */
    boolean over() {
        return closed || last != null;
    }

    void on(ConnectionEvent event) {
        switch (event) {
            case ConnectionEvent.AddressResolved ignored -> must(event, !requested && last == null);
            case ConnectionEvent.RouteResolved ignored -> must(event, !requested && last == null);
            case ConnectionEvent.ConnectRequest ignored -> {
                must(event, !requested && last == null);
                requested = true;
            }
            case ConnectionEvent.Established ignored -> {
                must(event, !established && last == null);
                established = true;
            }
            case ConnectionEvent.Rejected ignored -> end(event, !established);
            case ConnectionEvent.Unreachable ignored -> end(event, !established);
            case ConnectionEvent.Disconnected ignored -> end(event, true);
            case ConnectionEvent.TimewaitExit ignored -> {
                must(event, last != null && !timewaitOver);
                timewaitOver = true;
            }
            case ConnectionEvent.AddressFailed ignored -> must(event, false);
            case ConnectionEvent.ConnectResponse ignored -> must(event, false);
            case ConnectionEvent.DatagramResolved ignored -> must(event, false);
            case ConnectionEvent.MulticastJoined ignored -> must(event, false);
        }
    }

    private void end(ConnectionEvent event, boolean possible) {
        must(event, possible && last == null);
        last = event;
    }

    private void must(ConnectionEvent event, boolean possible) {
        if (!possible || closed) {
            throw new Violation(describe() + ": " + event + " cannot come now");
        }
    }

    void close() {
        closed = true;
        id.close();
    }

    String describe() {
        return name + ", " + id + (established ? ", established" : "")
                + (last == null ? "" : ", ended by " + last.getClass().getSimpleName());
    }
}
