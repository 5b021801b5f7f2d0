// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.wire.Frame;
import java.io.IOException;

/** A link in front of another: passes everything on, for decorators to override what they change. */
abstract class ForwardingLink implements DatagramLink {
    final DatagramLink link;

    ForwardingLink(DatagramLink link) {
        this.link = link;
    }

    @Override
    public LinkCapabilities capabilities() {
        return link.capabilities();
    }

    @Override
    public int sourcePort(int flowHash) {
        return link.sourcePort(flowHash);
    }

    @Override
    public boolean beginTransmit(Frame frame) {
        return link.beginTransmit(frame);
    }

    @Override
    public void flush() throws IOException {
        link.flush();
    }

    @Override
    public boolean transmitPending() {
        return link.transmitPending();
    }

    @Override
    public void joinGroup(long groupHigh, long groupLow) throws IOException {
        link.joinGroup(groupHigh, groupLow);
    }

    @Override
    public void leaveGroup(long groupHigh, long groupLow) throws IOException {
        link.leaveGroup(groupHigh, groupLow);
    }

    @Override
    public void wakeup() {
        link.wakeup();
    }

    @Override
    public int pollUnreachable(UnreachableHandler handler) throws IOException {
        return link.pollUnreachable(handler);
    }

    @Override
    public void close() {
        link.close();
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + "[" + link + "]";
    }
}
