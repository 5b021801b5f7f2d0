// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.cm;

import io.verbena.verbs.DeviceContext;
import io.verbena.verbs.spi.Providers;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where the events of any number of ids arrive, in order (rdma_event_channel). Thread-safe. */
public interface EventChannel extends AutoCloseable {
    /** A channel whose ids use whichever device leads to an address, and open it if this process has not yet. */
    static EventChannel open() {
        return Providers.first().openEventChannel(List.of());
    }

    /** A channel whose ids use these devices only. */
    static EventChannel over(DeviceContext... devices) {
        if (devices.length == 0) {
            throw new IllegalArgumentException("name at least one device, or use open()");
        }
        return Providers.of(devices[0]).openEventChannel(List.of(devices));
    }

    /** A new id that knows no address yet (rdma_create_id). */
    ConnectionId createId(PortSpace portSpace);

    /** The next event, or null (rdma_get_cm_event, not blocking). Events need no acknowledgement. */
    @Nullable
    ConnectionEvent poll();

    /** Waits for an event; null when the time is over or the channel was closed. */
    @Nullable
    ConnectionEvent await(Duration timeout) throws InterruptedException;

    /** Closes the channel and all its ids. Closing again does nothing. */
    @Override
    void close();
}
