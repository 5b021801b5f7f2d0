// SPDX-License-Identifier: Apache-2.0
package io.verbena.sim;

import io.verbena.link.DatagramLink;
import io.verbena.link.FrameHandler;
import io.verbena.link.LinkCapabilities;
import io.verbena.link.UnreachableHandler;
import io.verbena.wire.Frame;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/** The end of the fabric at one host. */
final class SimLink implements DatagramLink {
    /** RoCE v2 takes its source ports from here up (IBTA volume 1, A17.4.3.3). */
    private static final int SOURCE_PORTS = 0xc000;

    private static final int SOURCE_PORT_BITS = 0x3fff;
    /** As a socket buffer: a host with more frames under way must wait. */
    private static final int UNDER_WAY_MAX = 8192;

    private final Fabric fabric;
    private final Host host;
    private final int mtuBytes;
    private final Frame received = new Frame();
    private @Nullable Flight begun;
    private boolean closed;

    SimLink(Fabric fabric, Host host, int mtuBytes) {
        this.fabric = fabric;
        this.host = host;
        this.mtuBytes = mtuBytes;
    }

    boolean closed() {
        return closed;
    }

    boolean hasRoom() {
        return host.underWay < UNDER_WAY_MAX;
    }

    @Override
    public LinkCapabilities capabilities() {
        return new LinkCapabilities(mtuBytes, true, true, true, false, 1);
    }

    @Override
    public int sourcePort(int flowHash) {
        return SOURCE_PORTS | (flowHash & SOURCE_PORT_BITS);
    }

    @Override
    public int receive(FrameHandler handler, int framesMax) throws ClosedChannelException {
        requireOpen();
        int taken = 0;
        for (Flight flight = host.takeIn(framesMax); flight != null; flight = host.takeIn(framesMax - taken)) {
            received.wrap(flight.buffer, flight.offset, flight.length);
            received.local(flight.targetHigh, flight.targetLow, flight.targetPort);
            received.remote(flight.sourceHigh, flight.sourceLow, flight.sourcePort);
            // The fabric shows the IP header, unlike a socket: no damage passes for another identification.
            received.ipId(0);
            received.trafficClass(flight.trafficClass);
            handler.onFrame(received);
            fabric.release(flight);
            taken++;
        }
        return taken;
    }

    @Override
    public boolean beginTransmit(Frame frame) {
        if (!hasRoom()) {
            return false;
        }
        Flight flight = begun;
        if (flight == null) {
            flight = fabric.take();
            begun = flight;
        }
        frame.wrap(flight.buffer, flight.offset, Flight.BYTES);
        frame.ipId(0);
        return true;
    }

    @Override
    public void commitTransmit(Frame frame) throws ClosedChannelException {
        requireOpen();
        Flight flight = begun;
        if (flight == null) {
            throw new IllegalStateException("no frame was begun");
        }
        begun = null;
        flight.length = frame.length();
        flight.sourceHigh = frame.localHigh();
        flight.sourceLow = frame.localLow();
        flight.sourcePort = frame.localPort();
        flight.targetHigh = frame.remoteHigh();
        flight.targetLow = frame.remoteLow();
        flight.targetPort = frame.remotePort();
        flight.trafficClass = frame.trafficClass();
        fabric.send(host, flight);
    }

    @Override
    public void flush() {
        // Nothing is batched.
    }

    @Override
    public boolean transmitPending() {
        return false;
    }

    @Override
    public void joinGroup(long groupHigh, long groupLow) {
        host.groups.add(new Host.Group(groupHigh, groupLow));
    }

    @Override
    public void leaveGroup(long groupHigh, long groupLow) {
        host.groups.remove(new Host.Group(groupHigh, groupLow));
    }

    @Override
    public boolean await(long timeoutNanos) {
        throw new IllegalStateException("nobody waits for a simulated link: its time is that of the world");
    }

    @Override
    public void wakeup() {
        // Nobody waits.
    }

    @Override
    public int pollUnreachable(UnreachableHandler handler) {
        return 0;
    }

    @Override
    public void close() {
        closed = true;
    }

    private void requireOpen() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }
}
