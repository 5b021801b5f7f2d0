// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;

/**
 * Any bytes are values of each message, which can be told in words, and which give the same values when they were
 * written and read again.
 */
public final class MadFuzz {
    private MadFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        MemorySegment in = MemorySegment.ofArray(Arrays.copyOf(input, Mad.BYTES));
        again(in, Mad.HEADER_BYTES, Mad.Fields::read, (f, s) -> f.write(s, 0));
        again(in, Req.PRIVATE_DATA, Req.Fields::read, (f, s) -> f.write(s, 0));
        again(in, Rep.PRIVATE_DATA, Rep.Fields::read, (f, s) -> f.write(s, 0));
        again(in, Rtu.PRIVATE_DATA, Rtu.Fields::read, (f, s) -> f.write(s, 0));
        again(in, Rej.PRIVATE_DATA, Rej.Fields::read, (f, s) -> f.write(s, 0));
        again(in, Mra.PRIVATE_DATA, Mra.Fields::read, (f, s) -> f.write(s, 0));
        again(in, Dreq.PRIVATE_DATA, Dreq.Fields::read, (f, s) -> f.write(s, 0));
        again(in, Drep.PRIVATE_DATA, Drep.Fields::read, (f, s) -> f.write(s, 0));
        again(in, SidrReq.PRIVATE_DATA, SidrReq.Fields::read, (f, s) -> f.write(s, 0));
        again(in, SidrRep.PRIVATE_DATA, SidrRep.Fields::read, (f, s) -> f.write(s, 0));
        again(in, IpCm.BYTES, IpCm.Fields::read, (f, s) -> f.write(s, 0));
        assertThat(CmRejectReason.text(Rej.reason(in, 0))).isNotBlank();
    }

    /** Reads a message, writes it into as many bytes as come before its private data, and reads it again. */
    private static <F> void again(
            MemorySegment in, int bytes, BiFunction<MemorySegment, Long, F> read, BiConsumer<F, MemorySegment> write) {
        F fields = read.apply(in, 0L);
        assertThat(fields.toString()).isNotBlank().doesNotContain("\n");
        MemorySegment copy = MemorySegment.ofArray(new byte[bytes]);
        write.accept(fields, copy);
        assertThat(read.apply(copy, 0L)).isEqualTo(fields);
    }
}
