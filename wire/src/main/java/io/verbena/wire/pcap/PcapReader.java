// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.pcap;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the packets of a capture file: pcapng (draft-ietf-opsawg-pcapng), and classic pcap with micro- or nanoseconds,
 * each in either byte order.
 *
 * <p>What a file says is believed only within bounds. A file that is not a capture, is corrupt or ends in the middle of
 * a record gives an {@link IOException} that names the offset; memory is bounded by {@link #PACKET_BYTES_MAX}, whatever
 * the file says.
 */
public final class PcapReader implements Closeable {
    /** The longest packet accepted: the limit that Wireshark has too. */
    public static final int PACKET_BYTES_MAX = 256 * 1024;

    private static final int MAGIC_MICROSECONDS = 0xa1b2c3d4;
    private static final int MAGIC_NANOSECONDS = 0xa1b23c4d;
    private static final int SECTION_HEADER = 0x0a0d0d0a;
    private static final int BYTE_ORDER_MAGIC = 0x1a2b3c4d;
    private static final int INTERFACE_DESCRIPTION = 1;
    private static final int SIMPLE_PACKET = 3;
    private static final int ENHANCED_PACKET = 6;

    private static final int OPTION_END = 0;
    private static final int OPTION_COMMENT = 1;
    private static final int OPTION_TIME_RESOLUTION = 9;
    private static final int OPTION_TIME_OFFSET = 14;

    /** Of a block that is read rather than skipped: a packet, and options of 64 KiB. */
    private static final int BLOCK_BYTES_MAX = PACKET_BYTES_MAX + 64 * 1024;

    private static final int INTERFACES_MAX = 4096;
    private static final long NS_PER_SECOND = 1_000_000_000L;
    private static final long[] POWERS_OF_TEN = new long[19];

    static {
        POWERS_OF_TEN[0] = 1;
        for (int i = 1; i < POWERS_OF_TEN.length; i++) {
            POWERS_OF_TEN[i] = POWERS_OF_TEN[i - 1] * 10;
        }
    }

    /**
     * One captured packet.
     *
     * @param timestampNs nanoseconds since 1970, 0 if the record has no time
     * @param linkType one of {@link LinkTypes}, or another
     * @param originalBytes of the packet on the wire, of which {@code bytes} may be only the start
     */
    public record Packet(
            long timestampNs,
            int linkType,
            long originalBytes,
            MemorySegment bytes,
            @Nullable String comment) {}

    private record Interface(int linkType, long snapBytes, int resolution, long offsetSeconds) {}

    private final InputStream in;
    private final List<Interface> interfaces = new ArrayList<>();
    private final boolean next;
    private ByteOrder order = ByteOrder.LITTLE_ENDIAN;
    private boolean nanoseconds;
    private int linkType;
    private long position;

    /** Reads the file header; {@link #close()} closes {@code in}. */
    public PcapReader(InputStream in) throws IOException {
        this.in = new BufferedInputStream(in, 64 * 1024);
        ByteBuffer magic = read(4);
        int little = magic.getInt(0);
        next = little == SECTION_HEADER;
        if (next) {
            section();
        } else {
            classic(little);
        }
    }

    /** The next packet, or null at the end of the file. */
    public @Nullable Packet next() throws IOException {
        return next ? nextBlock() : nextRecord();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    private void classic(int little) throws IOException {
        int magic = little;
        if (isClassic(Integer.reverseBytes(little))) {
            order = ByteOrder.BIG_ENDIAN;
            magic = Integer.reverseBytes(little);
        } else if (!isClassic(little)) {
            throw corrupt(0, "neither pcap nor pcapng");
        }
        nanoseconds = magic == MAGIC_NANOSECONDS;
        // Version, time zone, accuracy and the longest packet are not needed. The upper bits of the link type tell of
        // an FCS.
        linkType = read(20).getInt(16) & 0xffff;
    }

    private static boolean isClassic(int magic) {
        return magic == MAGIC_MICROSECONDS || magic == MAGIC_NANOSECONDS;
    }

    private @Nullable Packet nextRecord() throws IOException {
        long start = position;
        ByteBuffer header = readOrEnd(16);
        if (header == null) {
            return null;
        }
        long seconds = header.getInt(0) & 0xffff_ffffL;
        long fraction = header.getInt(4) & 0xffff_ffffL;
        int captured = packetBytes(start, header.getInt(8));
        long original = header.getInt(12) & 0xffff_ffffL;
        MemorySegment bytes = MemorySegment.ofArray(read(captured).array());
        long ns = seconds * NS_PER_SECOND + (nanoseconds ? fraction : fraction * 1000);
        return new Packet(ns, linkType, original, bytes, null);
    }

    private @Nullable Packet nextBlock() throws IOException {
        while (true) {
            long start = position;
            ByteBuffer type = readOrEnd(4);
            if (type == null) {
                return null;
            }
            if (type.getInt(0) == SECTION_HEADER) {
                section();
                continue;
            }
            long total = read(4).getInt(0) & 0xffff_ffffL;
            if (total < 12 || (total & 3) != 0) {
                throw corrupt(start, "block of " + total + " bytes");
            }
            switch (type.getInt(0)) {
                case INTERFACE_DESCRIPTION -> description(start, body(start, total));
                case ENHANCED_PACKET -> {
                    return enhanced(start, body(start, total));
                }
                case SIMPLE_PACKET -> {
                    return simple(start, body(start, total));
                }
                default -> {
                    skip(total - 12);
                    trailer(start, total);
                }
            }
        }
    }

    /** The rest of a section header block, whose type has been read. It says which byte order the section has. */
    private void section() throws IOException {
        long start = position - 4;
        order = ByteOrder.LITTLE_ENDIAN;
        ByteBuffer head = read(8);
        if (head.getInt(4) != BYTE_ORDER_MAGIC) {
            order = ByteOrder.BIG_ENDIAN;
            head.order(order);
        }
        if (head.getInt(4) != BYTE_ORDER_MAGIC) {
            throw corrupt(start, "section without a byte order");
        }
        long total = head.getInt(0) & 0xffff_ffffL;
        if (total < 28 || (total & 3) != 0) {
            throw corrupt(start, "section header of " + total + " bytes");
        }
        int major = read(4).getShort(0) & 0xffff;
        if (major != 1) {
            throw corrupt(start, "pcapng version " + major);
        }
        interfaces.clear();
        skip(total - 20);
        trailer(start, total);
    }

    /** The bytes of a block between its first and its second length. */
    private ByteBuffer body(long start, long total) throws IOException {
        if (total > BLOCK_BYTES_MAX) {
            throw corrupt(start, "block of " + total + " bytes");
        }
        ByteBuffer body = read((int) total - 12);
        trailer(start, total);
        return body;
    }

    private void trailer(long start, long total) throws IOException {
        long again = read(4).getInt(0) & 0xffff_ffffL;
        if (again != total) {
            throw corrupt(start, "block whose lengths differ: " + total + " and " + again);
        }
    }

    private void description(long start, ByteBuffer body) throws IOException {
        if (body.limit() < 8) {
            throw corrupt(start, "interface description too short");
        }
        if (interfaces.size() == INTERFACES_MAX) {
            throw corrupt(start, "more than " + INTERFACES_MAX + " interfaces");
        }
        int resolution = 6;
        long offset = 0;
        int at = option(start, body, 8, OPTION_TIME_RESOLUTION, 1);
        if (at >= 0) {
            resolution = body.get(at) & 0xff;
        }
        at = option(start, body, 8, OPTION_TIME_OFFSET, 8);
        if (at >= 0) {
            offset = body.getLong(at);
        }
        // 63 and 18: what fits a long. Finer than nanoseconds is rounded, finer than that is no clock.
        if ((resolution & 0x80) != 0 ? (resolution & 0x7f) > 63 : resolution > 18) {
            throw corrupt(start, "time resolution " + resolution);
        }
        interfaces.add(new Interface(body.getShort(0) & 0xffff, body.getInt(4) & 0xffff_ffffL, resolution, offset));
    }

    private Packet enhanced(long start, ByteBuffer body) throws IOException {
        if (body.limit() < 20) {
            throw corrupt(start, "enhanced packet too short");
        }
        Interface from = interfaceAt(start, body.getInt(0));
        long time = (long) body.getInt(4) << 32 | (body.getInt(8) & 0xffff_ffffL);
        int captured = packetBytes(start, body.getInt(12));
        long original = body.getInt(16) & 0xffff_ffffL;
        if (captured > body.limit() - 20) {
            throw corrupt(start, "packet of " + captured + " bytes exceeds its block");
        }
        String comment = comment(start, body, 20 + ((captured + 3) & ~3));
        return new Packet(toNs(from, time), from.linkType, original, slice(body, 20, captured), comment);
    }

    private Packet simple(long start, ByteBuffer body) throws IOException {
        if (body.limit() < 4) {
            throw corrupt(start, "simple packet too short");
        }
        Interface from = interfaceAt(start, 0);
        long original = body.getInt(0) & 0xffff_ffffL;
        long captured = Math.min(original, body.limit() - 4L);
        if (from.snapBytes != 0) {
            captured = Math.min(captured, from.snapBytes);
        }
        return new Packet(0, from.linkType, original, slice(body, 4, packetBytes(start, (int) captured)), null);
    }

    private static MemorySegment slice(ByteBuffer body, int at, int bytes) {
        byte[] copy = new byte[bytes];
        body.get(at, copy);
        return MemorySegment.ofArray(copy);
    }

    private @Nullable String comment(long start, ByteBuffer body, int options) throws IOException {
        int at = option(start, body, options, OPTION_COMMENT, 0);
        if (at < 0) {
            return null;
        }
        int bytes = body.getShort(at - 2) & 0xffff;
        byte[] text = new byte[bytes];
        body.get(at, text);
        return new String(text, StandardCharsets.UTF_8);
    }

    /** Where the value of the first option {@code code} of at least {@code bytesMin} bytes lies, or -1. */
    private int option(long start, ByteBuffer body, int from, int code, int bytesMin) throws IOException {
        int at = from;
        while (at + 4 <= body.limit()) {
            int found = body.getShort(at) & 0xffff;
            int bytes = body.getShort(at + 2) & 0xffff;
            if (found == OPTION_END) {
                return -1;
            }
            if (bytes > body.limit() - at - 4) {
                throw corrupt(start, "option of " + bytes + " bytes exceeds its block");
            }
            if (found == code && bytes >= bytesMin) {
                return at + 4;
            }
            at += 4 + ((bytes + 3) & ~3);
        }
        return -1;
    }

    private Interface interfaceAt(long start, int index) throws IOException {
        if (index < 0 || index >= interfaces.size()) {
            throw corrupt(start, "packet of interface " + (index & 0xffff_ffffL) + " of " + interfaces.size());
        }
        return interfaces.get(index);
    }

    private static long toNs(Interface from, long time) {
        long base = from.offsetSeconds * NS_PER_SECOND;
        int exponent = from.resolution & 0x7f;
        if ((from.resolution & 0x80) == 0) {
            return base
                    + (exponent <= 9
                            ? time * POWERS_OF_TEN[9 - exponent]
                            : Long.divideUnsigned(time, POWERS_OF_TEN[exponent - 9]));
        }
        long seconds = time >>> exponent;
        long fraction = time - (seconds << exponent);
        // Thirty bits of fraction are finer than a nanosecond, and their product fits a long.
        int excess = Math.max(exponent - 30, 0);
        return base + seconds * NS_PER_SECOND + (((fraction >>> excess) * NS_PER_SECOND) >>> (exponent - excess));
    }

    private int packetBytes(long start, int bytes) throws IOException {
        if (bytes < 0 || bytes > PACKET_BYTES_MAX) {
            throw corrupt(start, "packet of " + (bytes & 0xffff_ffffL) + " bytes");
        }
        return bytes;
    }

    private ByteBuffer read(int bytes) throws IOException {
        long start = position;
        ByteBuffer read = readOrEnd(bytes);
        if (read == null) {
            throw corrupt(start, "the file ends here");
        }
        return read;
    }

    /** Null if the file ends before the first byte; an exception if it ends later. */
    private @Nullable ByteBuffer readOrEnd(int bytes) throws IOException {
        byte[] into = new byte[bytes];
        int count = in.readNBytes(into, 0, bytes);
        position += count;
        if (count == 0 && bytes > 0) {
            return null;
        }
        if (count < bytes) {
            throw corrupt(position, "the file ends here");
        }
        return ByteBuffer.wrap(into).order(order);
    }

    private void skip(long bytes) throws IOException {
        try {
            in.skipNBytes(bytes);
        } catch (EOFException e) {
            throw corrupt(position, "the file ends inside a block of " + bytes + " bytes more");
        }
        position += bytes;
    }

    private static IOException corrupt(long offset, String what) {
        return new IOException("capture file is corrupt at offset " + offset + ": " + what);
    }
}
