// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.wire.Frame;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.MembershipKey;
import org.jspecify.annotations.Nullable;

/** A receiving socket of a {@link NioDatagramLink}. */
final class NioReceiver extends ReceivingSocket {
    final DatagramChannel channel;
    final int port;
    /** Whether UDP checksum 0 over IPv6 is accepted: never by a group, whose descriptor nothing tells from others. */
    final boolean zeroChecksum;

    private final @Nullable MembershipKey membership;

    // The peer of the last received frame: the channel hands out the same object while the peer stays the same.
    private @Nullable SocketAddress lastPeer;
    private long lastPeerHigh;
    private long lastPeerLow;
    private int lastPeerPort;

    private NioReceiver(
            DatagramChannel channel,
            long high,
            long low,
            int port,
            boolean zeroChecksum,
            @Nullable MembershipKey membership) {
        super(high, low);
        this.channel = channel;
        this.port = port;
        this.zeroChecksum = zeroChecksum;
        this.membership = membership;
    }

    static NioReceiver open(LocalEnd local, int wantedPort, LinkOptions options) throws IOException {
        DatagramChannel channel = Sender.channel(local.family());
        try {
            channel.setOption(StandardSocketOptions.SO_RCVBUF, options.receiveBufferBytes());
            try {
                channel.bind(new InetSocketAddress(local.address(), wantedPort));
            } catch (BindException e) {
                throw BindErrors.explain(local.address(), wantedPort, e);
            }
            int port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
            boolean zeroChecksum = applyExtras(channel, local, port, options);
            return new NioReceiver(channel, local.high(), local.low(), port, zeroChecksum, null);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** Whether UDP checksum 0 over IPv6 is accepted. */
    private static boolean applyExtras(DatagramChannel channel, LocalEnd local, int port, LinkOptions options)
            throws IOException {
        int fd = options.nativeExtras() ? NativeExtras.descriptor(local.high(), local.low(), port) : -1;
        if (fd < 0) {
            return false;
        }
        if (channel.getOption(StandardSocketOptions.SO_RCVBUF) < options.receiveBufferBytes()) {
            NativeExtras.forceReceiveBuffer(fd, options.receiveBufferBytes());
        }
        return !local.ipv4() && NativeExtras.acceptZeroChecksum(fd);
    }

    /** For a multicast group, on the interface of the local address. */
    static NioReceiver openGroup(LocalEnd local, long high, long low, int port, LinkOptions options)
            throws IOException {
        InetAddress group = Addresses.of(high, low, local.network().getIndex());
        DatagramChannel channel = null;
        try {
            channel = Sender.channel(local.family());
            int bufferBytes = Math.min(options.receiveBufferBytes(), GROUP_BUFFER_BYTES_MAX);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, bufferBytes);
            // Each link of this host that joins the group gets a copy of what is sent to it.
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(new InetSocketAddress(group, port));
            MembershipKey membership = channel.join(group, local.network());
            return new NioReceiver(channel, high, low, port, false, membership);
        } catch (IOException e) {
            if (channel != null) {
                channel.close();
            }
            throw GroupErrors.explain(local, Addresses.of(high, low, 0), port, e);
        }
    }

    /** Whether the group of this socket has been left, and so nothing more comes of it. */
    boolean left() {
        return membership != null && !membership.isValid();
    }

    /** Takes the next datagram into the buffer, and sets the addresses of the frame; false if there is none. */
    boolean receive(ByteBuffer buffer, Frame frame) throws IOException {
        buffer.clear();
        SocketAddress from = channel.receive(buffer);
        if (from == null) {
            return false;
        }
        if (!isLastPeer(from)) {
            remember((InetSocketAddress) from);
        }
        frame.local(high, low, port);
        frame.remote(lastPeerHigh, lastPeerLow, lastPeerPort);
        return true;
    }

    @SuppressWarnings("ReferenceEquality") // Identity is the point: it spares comparing and copying bytes per frame.
    private boolean isLastPeer(SocketAddress peer) {
        return peer == lastPeer;
    }

    private void remember(InetSocketAddress peer) {
        lastPeer = peer;
        lastPeerHigh = Addresses.high(peer.getAddress());
        lastPeerLow = Addresses.low(peer.getAddress());
        lastPeerPort = peer.getPort();
    }

    /** A selector that knows the channel keeps its descriptor until it selects again, but the membership ends here. */
    @Override
    void close() {
        try {
            if (membership != null) {
                membership.drop();
            }
            channel.close();
        } catch (IOException e) {
            System.getLogger("io.verbena.link").log(System.Logger.Level.DEBUG, "close of a receiving socket", e);
        }
    }
}
