// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.wire.net.Ethernet;
import io.verbena.wire.net.Ipv4;
import io.verbena.wire.net.Ipv6;
import io.verbena.wire.net.Udp;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;

/**
 * Any bytes are values of each header, which can be told in words, and which give the same values when they were
 * written and read again. The bytes from a BTH on lie where the row of its opcode says, with no gap and no overlap.
 */
public final class HeaderFuzz {
    private static final int LONGEST_HEADER = 64;

    private HeaderFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        MemorySegment in = MemorySegment.ofArray(Arrays.copyOf(input, Math.max(input.length, LONGEST_HEADER)));
        links(in);
        again(in, 0, Bth.BYTES, Bth.Fields::read, (f, s) -> f.write(s, 0));
        Opcode opcode = Opcode.of(Bth.opcode(in, 0));
        if (opcode != null) {
            assertThat(opcode.code()).isEqualTo(Bth.opcode(in, 0));
            assertThat(opcode.isRequest() && opcode.isResponse()).isFalse();
            int bytes = extended(in, opcode);
            // The reserved bytes of a CNP are of no header.
            assertThat(Bth.BYTES + bytes).isEqualTo(opcode.headerBytes() - (opcode == Opcode.CNP ? 16 : 0));
        }
    }

    private static void links(MemorySegment in) {
        again(in, 0, Ethernet.BYTES, Ethernet.Fields::read, (f, s) -> f.write(s, 0));
        again(in, 0, Ipv4.BYTES, Ipv4.Fields::read, (f, s) -> f.write(s, 0));
        again(in, 0, Ipv6.BYTES, Ipv6.Fields::read, (f, s) -> f.write(s, 0));
        again(in, 0, Udp.BYTES, Udp.Fields::read, (f, s) -> f.write(s, 0));
        again(in, 0, Lrh.BYTES, Lrh.Fields::read, (f, s) -> f.write(s, 0));
        again(in, 0, Grh.BYTES, Grh.Fields::read, (f, s) -> f.write(s, 0));
        assertThat(Ipv4.headerBytes(in, 0)).isBetween(0, 60);
        assertThat(Ipv4.checksum(in, 0)).isBetween(0, 0xffff);
    }

    /** Reads all headers behind the BTH; returns how many bytes they have. */
    private static int extended(MemorySegment in, Opcode row) {
        int bytes = 0;
        bytes += again(in, row.xrcEthOffset(), XrcEth.BYTES, XrcEth.Fields::read, (f, s) -> f.write(s, 0));
        bytes += again(in, row.dethOffset(), Deth.BYTES, Deth.Fields::read, (f, s) -> f.write(s, 0));
        bytes += again(in, row.flushEthOffset(), FlushEth.BYTES, FlushEth.Fields::read, (f, s) -> f.write(s, 0));
        bytes += again(in, row.rethOffset(), Reth.BYTES, Reth.Fields::read, (f, s) -> f.write(s, 0));
        bytes += again(in, row.atomicEthOffset(), AtomicEth.BYTES, AtomicEth.Fields::read, (f, s) -> f.write(s, 0));
        bytes += again(in, row.aethOffset(), Aeth.BYTES, Aeth.Fields::read, (f, s) -> f.write(s, 0));
        bytes += again(
                in, row.atomicAckEthOffset(), AtomicAckEth.BYTES, AtomicAckEth.Fields::read, (f, s) -> f.write(s, 0));
        bytes += again(in, row.immediateOffset(), ImmDt.BYTES, ImmDt.Fields::read, (f, s) -> f.write(s, 0));
        bytes += again(in, row.iethOffset(), Ieth.BYTES, Ieth.Fields::read, (f, s) -> f.write(s, 0));
        return bytes;
    }

    /** Reads a header, writes it into as many bytes as it has, and reads it again; returns that number. */
    private static <F> int again(
            MemorySegment in,
            int offset,
            int bytes,
            BiFunction<MemorySegment, Long, F> read,
            BiConsumer<F, MemorySegment> write) {
        if (offset < 0) {
            return 0;
        }
        F fields = read.apply(in, (long) offset);
        assertThat(fields.toString()).isNotBlank().doesNotContain("\n");
        MemorySegment copy = MemorySegment.ofArray(new byte[bytes]);
        write.accept(fields, copy);
        assertThat(read.apply(copy, 0L)).isEqualTo(fields);
        return bytes;
    }
}
