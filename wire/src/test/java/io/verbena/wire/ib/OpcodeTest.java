// SPDX-License-Identifier: Apache-2.0
package io.verbena.wire.ib;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.wire.ib.Opcode.Operation;
import io.verbena.wire.ib.Opcode.Service;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class OpcodeTest {
    /** The lengths of the specification's tables, written down again here rather than computed. */
    @ParameterizedTest
    @CsvSource({
        "RC_SEND_FIRST, 0x00, 12",
        "RC_SEND_LAST_IMM, 0x03, 16",
        "RC_SEND_ONLY, 0x04, 12",
        "RC_WRITE_FIRST, 0x06, 28",
        "RC_WRITE_MIDDLE, 0x07, 12",
        "RC_WRITE_ONLY_IMM, 0x0b, 32",
        "RC_READ_REQUEST, 0x0c, 28",
        "RC_READ_RESPONSE_FIRST, 0x0d, 16",
        "RC_READ_RESPONSE_MIDDLE, 0x0e, 12",
        "RC_READ_RESPONSE_ONLY, 0x10, 16",
        "RC_ACKNOWLEDGE, 0x11, 16",
        "RC_ATOMIC_ACKNOWLEDGE, 0x12, 24",
        "RC_COMPARE_SWAP, 0x13, 40",
        "RC_FETCH_ADD, 0x14, 40",
        "RC_SEND_LAST_INV, 0x16, 16",
        "RC_SEND_ONLY_INV, 0x17, 16",
        "RC_FLUSH, 0x1c, 32",
        "RC_ATOMIC_WRITE, 0x1d, 28",
        "UC_SEND_ONLY, 0x24, 12",
        "UC_WRITE_ONLY_IMM, 0x2b, 32",
        "UD_SEND_ONLY, 0x64, 20",
        "UD_SEND_ONLY_IMM, 0x65, 24",
        "CNP, 0x81, 28",
        "XRC_SEND_ONLY, 0xa4, 16",
        "XRC_WRITE_ONLY_IMM, 0xab, 36",
        "XRC_READ_REQUEST, 0xac, 32",
        "XRC_ACKNOWLEDGE, 0xb1, 16",
        "XRC_FETCH_ADD, 0xb4, 44"
    })
    void codeAndHeaderBytes(Opcode opcode, String code, int headerBytes) {
        assertThat(opcode.code()).isEqualTo(Integer.decode(code));
        assertThat(opcode.headerBytes()).isEqualTo(headerBytes);
        assertThat(Opcode.of(Integer.decode(code))).isSameAs(opcode);
    }

    @Test
    void offsetsFollowTheOrderOfTheWire() {
        assertThat(Opcode.RC_WRITE_ONLY_IMM.rethOffset()).isEqualTo(12);
        assertThat(Opcode.RC_WRITE_ONLY_IMM.immediateOffset()).isEqualTo(28);
        assertThat(Opcode.RC_ATOMIC_ACKNOWLEDGE.aethOffset()).isEqualTo(12);
        assertThat(Opcode.RC_ATOMIC_ACKNOWLEDGE.atomicAckEthOffset()).isEqualTo(16);
        assertThat(Opcode.UD_SEND_ONLY_IMM.dethOffset()).isEqualTo(12);
        assertThat(Opcode.UD_SEND_ONLY_IMM.immediateOffset()).isEqualTo(20);
        assertThat(Opcode.RC_FLUSH.flushEthOffset()).isEqualTo(12);
        assertThat(Opcode.RC_FLUSH.rethOffset()).isEqualTo(16);
        assertThat(Opcode.XRC_COMPARE_SWAP.xrcEthOffset()).isEqualTo(12);
        assertThat(Opcode.XRC_COMPARE_SWAP.atomicEthOffset()).isEqualTo(16);
        assertThat(Opcode.RC_SEND_ONLY_INV.iethOffset()).isEqualTo(12);
        assertThat(Opcode.RC_SEND_MIDDLE.rethOffset()).isEqualTo(-1);
    }

    @Test
    void everyByteHasAtMostOneOpcode() {
        int known = 0;
        for (int code = 0; code < 256; code++) {
            Opcode opcode = Opcode.of(code);
            if (opcode != null) {
                assertThat(opcode.code()).isEqualTo(code);
                known++;
            }
        }
        assertThat(known).isEqualTo(Opcode.values().length).isEqualTo(25 + 12 + 2 + 1 + 23);
        assertThat(Opcode.of(0x15)).isNull();
        assertThat(Opcode.of(0x100)).as("only the low byte counts").isSameAs(Opcode.RC_SEND_FIRST);
    }

    @ParameterizedTest
    @EnumSource(Opcode.class)
    void traitsAgreeWithEachOther(Opcode opcode) {
        int headers = Bth.BYTES
                + (opcode.hasXrcEth() ? 4 : 0)
                + (opcode.hasDeth() ? 8 : 0)
                + (opcode.hasFlushEth() ? 4 : 0)
                + (opcode.hasReth() ? 16 : 0)
                + (opcode.hasAtomicEth() ? 28 : 0)
                + (opcode.hasAeth() ? 4 : 0)
                + (opcode.hasAtomicAckEth() ? 8 : 0)
                + (opcode.hasImmediate() ? 4 : 0)
                + (opcode.hasIeth() ? 4 : 0)
                + (opcode == Opcode.CNP ? 16 : 0);
        assertThat(opcode.headerBytes()).isEqualTo(headers);
        assertThat(opcode.isRequest() && opcode.isResponse()).isFalse();
        assertThat(opcode.isRequest() || opcode.isResponse()).isEqualTo(opcode != Opcode.CNP);
        assertThat(opcode.hasXrcEth()).isEqualTo(opcode.service() == Service.XRC && opcode.isRequest());
        assertThat(opcode.hasDeth()).isEqualTo(opcode.service() == Service.UD);
        assertThat(opcode.hasAeth())
                .isEqualTo(opcode.isResponse()
                        && !(opcode.operation() == Operation.READ_RESPONSE
                                && opcode.position() == Opcode.Position.MIDDLE));
        assertThat(opcode.starts() && opcode.ends()).isEqualTo(opcode.position() == Opcode.Position.ONLY);
        if (opcode.hasImmediate() || opcode.hasIeth()) {
            assertThat(opcode.ends()).isTrue();
        }
        if (opcode.service() == Service.XRC) {
            Opcode rc = Opcode.of(opcode.code() & 0x1f);
            assertThat(opcode.operation()).isEqualTo(rc.operation());
            assertThat(opcode.position()).isEqualTo(rc.position());
            assertThat(opcode.name().substring(4)).isEqualTo(rc.name().substring(3));
        }
        if (opcode.service() == Service.UC) {
            assertThat(opcode.name().substring(3))
                    .isEqualTo(Opcode.of(opcode.code() & 0x1f).name().substring(3));
        }
    }
}
