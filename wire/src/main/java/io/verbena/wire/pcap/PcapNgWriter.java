// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.pcap;

import io.verbena.wire.Frame;
import io.verbena.wire.net.Ethernet;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.net.Ipv6;
import io.verbena.wire.net.Udp;
import java.io.Closeable;
import java.io.Flushable;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Writes a pcapng file (draft-ietf-opsawg-pcapng) of one section and one interface, with nanosecond time stamps.
 *
 * <p>Packets go through a buffer of 64 KiB; {@link #flush()} makes those written so far visible to a reader. The file
 * is little-endian on every machine. After an {@link IOException} it is of no use. Not thread-safe.
 */
public final class PcapNgWriter implements Closeable, Flushable {
    /** Which way a packet went, as the interface saw it. */
    public enum Direction {
        UNKNOWN(0),
        INBOUND(1),
        OUTBOUND(2);

        /** The low two bits of the option epb_flags. */
        private final int flags;

        Direction(int flags) {
            this.flags = flags;
        }
    }

    private static final int SECTION_HEADER = 0x0a0d0d0a;
    private static final int INTERFACE_DESCRIPTION = 1;
    private static final int ENHANCED_PACKET = 6;
    private static final int BYTE_ORDER_MAGIC = 0x1a2b3c4d;

    private static final int OPTION_COMMENT = 1;
    private static final int OPTION_PACKET_FLAGS = 2;
    private static final int OPTION_APPLICATION = 4;
    private static final int OPTION_TIME_RESOLUTION = 9;
    private static final int NANOSECONDS = 9;

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int COMMENT_BYTES_MAX = 4096;
    private static final int FRAME_HEADER_BYTES_MAX = Ethernet.BYTES + Ipv6.BYTES + Udp.BYTES;

    // Locally administered addresses, for frames whose link has no MAC addresses.
    private static final long LOCAL_MAC = 0x02_00_00_00_00_01L;
    private static final long REMOTE_MAC = 0x02_00_00_00_00_02L;
    private static final int HOP_LIMIT = 64;

    private final WritableByteChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final MemorySegment frameHeader = MemorySegment.ofArray(new byte[FRAME_HEADER_BYTES_MAX]);

    /** Starts a file of packets of one of {@link LinkTypes}; {@link #close()} closes {@code out} too. */
    public PcapNgWriter(OutputStream out, int linkType) throws IOException {
        this(Channels.newChannel(out), linkType);
    }

    /**
     * Starts a file of packets of one of {@link LinkTypes}; {@link #close()} closes {@code channel}, which must be
     * blocking.
     */
    public PcapNgWriter(WritableByteChannel channel, int linkType) throws IOException {
        this.channel = channel;
        byte[] application = "verbena".getBytes(StandardCharsets.UTF_8);
        int sectionBytes = 28 + optionBytes(application.length) + 4;
        buffer.putInt(SECTION_HEADER).putInt(sectionBytes).putInt(BYTE_ORDER_MAGIC);
        buffer.putShort((short) 1).putShort((short) 0).putLong(-1);
        option(OPTION_APPLICATION, application);
        buffer.putInt(0).putInt(sectionBytes);

        int interfaceBytes = 20 + optionBytes(1) + 4;
        buffer.putInt(INTERFACE_DESCRIPTION).putInt(interfaceBytes);
        buffer.putShort((short) linkType).putShort((short) 0).putInt(0);
        option(OPTION_TIME_RESOLUTION, new byte[] {NANOSECONDS});
        buffer.putInt(0).putInt(interfaceBytes);
        flush();
    }

    /** Writes one packet as it is. */
    public void write(long epochNs, MemorySegment s, long offset, int bytes) throws IOException {
        write(epochNs, s, offset, bytes, Direction.UNKNOWN, null);
    }

    /** Writes one packet as it is, with the way it went and a comment, which is cut to 4 KiB. */
    public void write(
            long epochNs, MemorySegment s, long offset, int bytes, Direction direction, @Nullable String comment)
            throws IOException {
        packet(epochNs, 0, s, offset, bytes, direction, comment);
    }

    /**
     * Writes a frame of a UDP link, with the Ethernet, IP and UDP headers that it has or would have had: only for a
     * file of {@link LinkTypes#ETHERNET}. An unknown IPv4 identification is written as 0, with which its ICRC is wrong;
     * set the one that was solved for.
     */
    public void writeFrame(long epochNs, Frame frame, Direction direction, @Nullable String comment)
            throws IOException {
        boolean sent = direction == Direction.OUTBOUND;
        int udpBytes = Udp.BYTES + frame.length();
        int at = Ethernet.BYTES;
        long sourceHigh = sent ? frame.localHigh() : frame.remoteHigh();
        long sourceLow = sent ? frame.localLow() : frame.remoteLow();
        long destinationHigh = sent ? frame.remoteHigh() : frame.localHigh();
        long destinationLow = sent ? frame.remoteLow() : frame.localLow();
        int type;
        if (frame.ipv4()) {
            type = Ethernet.TYPE_IPV4;
            int id = Math.max(frame.ipId(), 0);
            int total = Ipv4.BYTES + udpBytes;
            Ipv4.write(
                    frameHeader,
                    at,
                    frame.trafficClass(),
                    total,
                    id,
                    true,
                    HOP_LIMIT,
                    Ipv4.PROTOCOL_UDP,
                    (int) sourceLow,
                    (int) destinationLow);
            at += Ipv4.BYTES;
        } else {
            type = Ethernet.TYPE_IPV6;
            Ipv6.write(
                    frameHeader,
                    at,
                    frame.trafficClass(),
                    0,
                    udpBytes,
                    Ipv4.PROTOCOL_UDP,
                    HOP_LIMIT,
                    sourceHigh,
                    sourceLow,
                    destinationHigh,
                    destinationLow);
            at += Ipv6.BYTES;
        }
        Ethernet.write(frameHeader, 0, sent ? REMOTE_MAC : LOCAL_MAC, sent ? LOCAL_MAC : REMOTE_MAC, type);
        int sourcePort = sent ? frame.localPort() : frame.remotePort();
        int destinationPort = sent ? frame.remotePort() : frame.localPort();
        Udp.write(frameHeader, at, sourcePort, destinationPort, udpBytes, 0);
        packet(epochNs, at + Udp.BYTES, frame.buffer(), frame.offset(), frame.length(), direction, comment);
    }

    /** One enhanced packet block of the first {@code prefix} bytes of the frame header and of bytes of {@code s}. */
    private void packet(
            long epochNs,
            int prefix,
            MemorySegment s,
            long offset,
            int bytes,
            Direction direction,
            @Nullable String comment)
            throws IOException {
        byte[] text = comment == null ? null : cut(comment.getBytes(StandardCharsets.UTF_8));
        int captured = prefix + bytes;
        boolean flags = direction != Direction.UNKNOWN;
        int options = (text == null ? 0 : optionBytes(text.length)) + (flags ? optionBytes(4) : 0);
        int total = 32 + padded(captured) + (options == 0 ? 0 : options + 4);

        require(28);
        buffer.putInt(ENHANCED_PACKET).putInt(total).putInt(0);
        buffer.putInt((int) (epochNs >>> 32))
                .putInt((int) epochNs)
                .putInt(captured)
                .putInt(captured);
        copy(frameHeader, 0, prefix);
        copy(s, offset, bytes);
        require(4 + options + 4 + 4);
        pad(captured);
        if (text != null) {
            option(OPTION_COMMENT, text);
        }
        if (flags) {
            buffer.putShort((short) OPTION_PACKET_FLAGS).putShort((short) 4).putInt(direction.flags);
        }
        if (options != 0) {
            buffer.putInt(0);
        }
        buffer.putInt(total);
    }

    private static byte[] cut(byte[] text) {
        int bytes = Math.min(text.length, COMMENT_BYTES_MAX);
        // Not in the middle of a UTF-8 character: back over its continuation bytes.
        while (bytes < text.length && bytes > 0 && (text[bytes] & 0xc0) == 0x80) {
            bytes--;
        }
        return bytes == text.length ? text : Arrays.copyOf(text, bytes);
    }

    private void option(int code, byte[] value) {
        buffer.putShort((short) code).putShort((short) value.length).put(value);
        pad(value.length);
    }

    private void pad(int bytes) {
        for (int i = bytes; i < padded(bytes); i++) {
            buffer.put((byte) 0);
        }
    }

    private static int optionBytes(int valueBytes) {
        return 4 + padded(valueBytes);
    }

    private static int padded(int bytes) {
        return (bytes + 3) & ~3;
    }

    private void copy(MemorySegment s, long offset, int bytes) throws IOException {
        int done = 0;
        while (done < bytes) {
            require(1);
            int part = Math.min(bytes - done, buffer.remaining());
            MemorySegment.copy(s, ValueLayout.JAVA_BYTE, offset + done, buffer.array(), buffer.position(), part);
            buffer.position(buffer.position() + part);
            done += part;
        }
    }

    private void require(int bytes) throws IOException {
        if (buffer.remaining() < bytes) {
            flush();
        }
    }

    @Override
    public void flush() throws IOException {
        buffer.flip();
        try {
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        } finally {
            buffer.clear();
        }
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            flush();
        }
    }
}
