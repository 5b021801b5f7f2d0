// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import io.verbena.wire.Frame;
import io.verbena.wire.pcap.LinkTypes;
import io.verbena.wire.pcap.PcapNgWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * Writes all frames that are sent into a pcapng file, in virtual time, with what happened to them. When that fails, the
 * world goes on without, and {@link #close} tells.
 */
final class Capture implements AutoCloseable {
    private final PcapNgWriter writer;
    private final Frame frame = new Frame();
    private @Nullable IOException failure;

    Capture(OutputStream out) {
        try {
            writer = new PcapNgWriter(out, LinkTypes.ETHERNET);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void write(long now, Flight flight, @Nullable String comment) {
        if (failure != null) {
            return;
        }
        frame.wrap(flight.buffer, flight.offset, flight.length);
        frame.ipId(0);
        frame.trafficClass(flight.trafficClass);
        frame.local(flight.sourceHigh, flight.sourceLow, flight.sourcePort);
        frame.remote(flight.targetHigh, flight.targetLow, flight.targetPort);
        try {
            writer.writeFrame(now, frame, PcapNgWriter.Direction.OUTBOUND, comment);
        } catch (IOException e) {
            // Thrown here it would pass for a failure of the device that sends.
            failure = e;
        }
    }

    @Override
    public void close() {
        try {
            writer.close();
        } catch (IOException e) {
            failure = failure == null ? e : failure;
        }
        if (failure != null) {
            throw new UncheckedIOException(failure);
        }
    }
}
