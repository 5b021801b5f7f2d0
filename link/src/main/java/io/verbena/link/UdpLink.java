// SPDX-License-Identifier: Apache-2.0
package io.verbena.link;

import io.verbena.ffi.LinuxSockets;
import java.io.IOException;
import java.net.InetAddress;

/** A link over UDP sockets of this host. */
public sealed interface UdpLink extends DatagramLink permits NioDatagramLink, LinuxDatagramLink {
    /**
     * Opens the fastest kind that works here.
     *
     * @param port the UDP port to receive on, for RoCE v2 4791; 0 for any that is free
     * @throws PortInUseException if another socket holds the port
     * @throws java.net.BindException if the address is not of this host, or the port is not permitted
     */
    static UdpLink open(InetAddress local, int port, LinkOptions options) throws IOException {
        return options.nativeExtras() && LinuxSockets.available()
                ? LinuxDatagramLink.open(local, port, options)
                : NioDatagramLink.open(local, port, options);
    }

    /** With the scope of its interface, if it is a link-local one. */
    InetAddress localAddress();

    int localPort();

    LinkCounters counters();

    /** What the kernel gave; Linux doubles what it was asked for, and charges its own overhead against it. */
    int receiveBufferBytes() throws IOException;
}
