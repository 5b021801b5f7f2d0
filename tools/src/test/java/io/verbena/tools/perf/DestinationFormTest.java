// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.Gid;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DestinationFormTest {
    private static final PerfDestination SEEN = new PerfDestination(
            0, 0x80, 0x12, 0x8f0323, 0x3e1, 0x55a545975000L, Gid.of(InetAddress.ofLiteral("10.77.0.2")));
    private static final String BEFORE_GID = "0000000000000080" + "00000012008f0323" + "000003e1";
    private static final String GID = "00000000000000000000ffff0a4d0002";

    /** As ib_read_bw -R of perftest 4.5 sent it; the padding is what lay in its memory. */
    @ParameterizedTest
    @ValueSource(strings = {"00000000", "a5550000"})
    void theStructOfTheRealProgramIsRead(String padding) {
        String message = BEFORE_GID + padding + "000055a545975000" + GID + "0000000000000001";
        assertThat(DestinationForm.STRUCT.decode(HexFormat.of().parseHex(message)))
                .isEqualTo(SEEN);
    }

    @Test
    void laterVersionsHaveAnotherAddressBeforeTheGid() {
        String message = BEFORE_GID + "00000000" + "000055a545975000" + "1122334455667788" + GID + "0000000000000001";
        assertThat(DestinationForm.STRUCT.decode(HexFormat.of().parseHex(message)))
                .isEqualTo(SEEN);
    }

    @Test
    void theStructIsWrittenLikeTheRealProgramsButForWhatNobodyReads() {
        assertThat(HexFormat.of().formatHex(DestinationForm.STRUCT.encode(SEEN)))
                .isEqualTo(BEFORE_GID + "00000000" + "000055a545975000" + GID + "0000000000000000");
    }

    @ParameterizedTest
    @EnumSource
    void whatIsWrittenIsReadAgain(DestinationForm form) {
        assertThat(form.decode(form.encode(SEEN))).isEqualTo(SEEN);
        assertThat(form.decode(form.encode(PerfDestination.NONE))).isEqualTo(PerfDestination.NONE);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 55, 57, 63, 65, 256})
    void otherLengthsAreNoStruct(int length) {
        assertThatThrownBy(() -> DestinationForm.STRUCT.decode(new byte[length]))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void fieldsOfAHostilePeerStayInTheirBounds() {
        byte[] message = "\377".repeat(DestinationForm.STRUCT_BYTES).getBytes(StandardCharsets.ISO_8859_1);
        PerfDestination read = DestinationForm.STRUCT.decode(message);
        assertThat(read.lid()).isEqualTo(0xffff);
        assertThat(read.outstandingReads()).isEqualTo(0xffff);
        assertThat(read.qpNumber()).isEqualTo(0xff_ffff);
        assertThat(read.psn()).isEqualTo(0xff_ffff);
    }
}
