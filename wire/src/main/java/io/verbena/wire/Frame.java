// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire;

import java.lang.foreign.MemorySegment;

/**
 * One frame as it crosses the sans-I/O line: where its bytes lie, and the addressing that a socket keeps apart from
 * them.
 *
 * <p>A frame is a reusable carrier: its owner fills it, the callee reads it during the call and keeps no reference to
 * it. On a UDP link the bytes are the UDP payload (BTH to ICRC) and the IP and UDP fields below are set; on an Ethernet
 * link the bytes start at the destination MAC and those fields are unused. Addresses are 128 bits in two longs, IPv4 as
 * {@code ::ffff:a.b.c.d} (the form of a RoCE GID). Not thread-safe.
 */
public final class Frame {
    /** {@link #ipId} of a received datagram whose IP header the link could not see. */
    public static final int IP_ID_UNKNOWN = -1;

    private MemorySegment buffer = MemorySegment.NULL;
    private long offset;
    private int length;

    private long localHigh;
    private long localLow;
    private long remoteHigh;
    private long remoteLow;
    private int localPort;
    private int remotePort;
    private int ipId;
    private int trafficClass;

    public Frame() {}

    /** Points this frame at {@code length} bytes of {@code buffer} from {@code offset}. */
    public void wrap(MemorySegment buffer, long offset, int length) {
        this.buffer = buffer;
        this.offset = offset;
        this.length = length;
    }

    public MemorySegment buffer() {
        return buffer;
    }

    public long offset() {
        return offset;
    }

    /** Bytes in use on receive; bytes available before a frame is written, bytes written after. */
    public int length() {
        return length;
    }

    public void length(int length) {
        this.length = length;
    }

    /** The address of this host's end: destination of a received frame, source of a sent one. */
    public void local(long high, long low, int port) {
        localHigh = high;
        localLow = low;
        localPort = port;
    }

    /** The address of the other end: source of a received frame, destination of a sent one. */
    public void remote(long high, long low, int port) {
        remoteHigh = high;
        remoteLow = low;
        remotePort = port;
    }

    public long localHigh() {
        return localHigh;
    }

    public long localLow() {
        return localLow;
    }

    public int localPort() {
        return localPort;
    }

    public long remoteHigh() {
        return remoteHigh;
    }

    public long remoteLow() {
        return remoteLow;
    }

    public int remotePort() {
        return remotePort;
    }

    /**
     * The IPv4 identification, which the RoCE v2 ICRC covers: what the link will send (0 from an unconnected socket
     * with don't-fragment), or {@link #IP_ID_UNKNOWN} for a received datagram.
     */
    public int ipId() {
        return ipId;
    }

    public void ipId(int ipId) {
        this.ipId = ipId;
    }

    /** IPv4 type of service or IPv6 traffic class: DSCP in the upper six bits, ECN in the lower two. */
    public int trafficClass() {
        return trafficClass;
    }

    public void trafficClass(int trafficClass) {
        this.trafficClass = trafficClass;
    }

    /** Whether both addresses are IPv4-mapped, so that the frame travels over IPv4. */
    public boolean ipv4() {
        return isIpv4Mapped(localHigh, localLow);
    }

    /** Whether 128 bits are {@code ::ffff:a.b.c.d}. */
    public static boolean isIpv4Mapped(long high, long low) {
        return high == 0 && (low >>> 32) == 0xffffL;
    }
}
