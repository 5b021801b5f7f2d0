// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.wire.Frame;
import io.verbena.wire.ib.Icrc;
import io.verbena.wire.pcap.PcapNgWriter;
import io.verbena.wire.pcap.PcapNgWriter.Direction;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A link that writes all frames of another to a capture file, as whole Ethernet frames. The IPv4 identification of a
 * received frame, which a socket does not see, is solved for from its ICRC, so that the ICRC in the file is right when
 * it was right on the wire; a frame without a valid ICRC gets 0.
 *
 * <p>A capture that cannot be written ends, and the link goes on without it; {@link #failure} tells. Closing the link
 * closes the file: after the owner has stopped using it.
 */
public final class CapturingLink extends ForwardingLink {
    private final PcapNgWriter writer;
    private final PacketImage image = new PacketImage();
    private final Icrc icrc = new Icrc();
    private final FrameHandler onFrame = this::onFrame;
    private final long clockOffsetNs;
    private FrameHandler handler = frame -> {};
    private boolean closed;
    private @Nullable IOException failure;

    /** The file must be one of link type Ethernet; this link closes it. */
    public CapturingLink(DatagramLink link, PcapNgWriter writer) {
        super(link);
        this.writer = writer;
        // Frames come microseconds apart: the wall clock gives the start, the monotonic one the rest.
        clockOffsetNs = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - System.nanoTime();
    }

    /** Why the capture ended early, or null. */
    public synchronized @Nullable IOException failure() {
        return failure;
    }

    @Override
    public void commitTransmit(Frame frame) throws IOException {
        capture(frame, Direction.OUTBOUND);
        link.commitTransmit(frame);
    }

    @Override
    public int receive(FrameHandler handler, int framesMax) throws IOException {
        this.handler = handler;
        return link.receive(onFrame, framesMax);
    }

    private void onFrame(Frame frame) {
        int ipId = frame.ipId();
        if (ipId == Frame.IP_ID_UNKNOWN && frame.ipv4() && icrc.verifyRocev2(frame)) {
            frame.ipId(icrc.solvedIpId());
        }
        capture(frame, Direction.INBOUND);
        // The owner sees what it would see without a capture.
        frame.ipId(ipId);
        handler.onFrame(frame);
    }

    // The lock is for close, which can come from another thread.
    private synchronized void capture(Frame frame, Direction direction) {
        if (closed || failure != null) {
            return;
        }
        try {
            int bytes = image.build(frame, direction == Direction.OUTBOUND);
            writer.write(System.nanoTime() + clockOffsetNs, image.segment(), 0, bytes, direction, null);
        } catch (IOException e) {
            ended(e);
        }
    }

    private synchronized void ended(IOException e) {
        failure = e;
        System.getLogger("io.verbena.link").log(System.Logger.Level.WARNING, "the capture ends here", e);
    }

    /** Makes what was captured so far visible in the file. */
    public synchronized void flushCapture() {
        try {
            if (!closed && failure == null) {
                writer.flush();
            }
        } catch (IOException e) {
            ended(e);
        }
    }

    @Override
    public boolean await(long timeoutNanos) throws IOException {
        // There is time now; and if the process dies in its sleep, the file is whole.
        flushCapture();
        return link.await(timeoutNanos);
    }

    @Override
    public void close() {
        link.close();
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            try {
                writer.close();
            } catch (IOException e) {
                ended(e);
            }
        }
    }
}
